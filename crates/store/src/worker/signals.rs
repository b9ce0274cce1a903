//! Delivery of pending signals to a driven run.

use std::collections::HashSet;
use std::convert::Infallible;

use runstate::decision::Decision;
use runstate_agent::{CancellationToken, DecisionHandle, Incoming};

use super::super::error::StoreError;
use super::super::{PendingSignals, RunData, UserMessage};
use super::Worker;

/// Delivers decisions and a requested cancellation to a run, each once.
#[derive(Debug)]
pub(super) struct SignalPump {
    handle: DecisionHandle,
    cancel: CancellationToken,
    delivered: HashSet<String>,
    /// The cursor of notifications before the last read of pending signals.
    seen: u64,
    /// The message with which the run continues.
    message: Option<UserMessage>,
}

impl SignalPump {
    /// Creates a pump. `seen` is the cursor of notifications at the claim.
    pub(super) fn new(handle: DecisionHandle, cancel: CancellationToken, seen: u64) -> Self {
        SignalPump { handle, cancel, delivered: HashSet::new(), seen, message: None }
    }

    /// Reads and delivers new signals. Returns whether decisions or a message are pending. The function waits only
    /// for the store. Decisions that exceed the inbox of the run stay in the store until the next read. So a
    /// cancellation arrives, regardless of the number of decisions.
    pub(super) async fn fetch(&mut self, store: &dyn RunData, run: &str) -> Result<bool, StoreError> {
        Ok(self.deliver(store.pending_signals(run).await?))
    }

    /// Delivers the new signals. Returns whether decisions or a message are pending.
    pub(super) fn deliver(&mut self, mail: PendingSignals) -> bool {
        let PendingSignals { decisions, cancel, message } = mail;
        if cancel.is_some() {
            self.cancel.cancel();
        }
        let is_waiting = !decisions.is_empty() || message.is_some();
        if let Some(message) = message.filter(|message| !self.delivered.contains(&message.id)) {
            self.message = Some(message);
        }
        let is_new = |decision: &Decision| !self.delivered.contains(&decision.decision_id);
        let new: Vec<Incoming> = decisions.into_iter().filter(is_new).map(Incoming::from).collect();
        if !new.is_empty() {
            let ids: Vec<String> = new.iter().map(|decision| decision.decision_id.clone()).collect();
            if self.handle.try_post(new) {
                self.delivered.extend(ids);
            }
        }
        is_waiting
    }

    /// Takes the message with which the run continues. The pump returns it once: the next commit of the run contains
    /// it.
    pub(super) fn message(&mut self) -> Option<UserMessage> {
        let message = self.message.take()?;
        self.delivered.insert(message.id.clone());
        Some(message)
    }

    /// Returns the number of delivered signals.
    pub(super) fn delivered(&self) -> usize {
        self.delivered.len() + usize::from(self.message.is_some()) + usize::from(self.cancel.is_cancelled())
    }
}

impl Worker {
    /// Delivers new signals while the run is driven.
    pub(super) async fn fetch_changes(&self, pump: &mut SignalPump, run: &str) -> Infallible {
        loop {
            self.changed_since(&mut pump.seen, true).await;
            // A failed read is repeated after the next wait. The lease limits the time of failures.
            pump.fetch(&*self.store, run).await.ok();
        }
    }
}
