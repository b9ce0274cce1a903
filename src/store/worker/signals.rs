//! What comes in for a run that is driven is delivered to it.

use std::collections::HashSet;
use std::convert::Infallible;

use super::super::error::StoreError;
use super::super::{PendingSignals, RunData, UserMessage};
use super::Worker;
use crate::agent::{CancellationToken, DecisionHandle, Incoming};
use crate::decision::Decision;

/// Brings decisions to a run, each once, and the wish to cancel it.
#[derive(Debug)]
pub(super) struct SignalPump {
    handle: DecisionHandle,
    cancel: CancellationToken,
    delivered: HashSet<String>,
    /// The mark of the news that were heard before the last look at the mail.
    seen: u64,
    /// The message that the run goes on with.
    message: Option<UserMessage>,
}

impl SignalPump {
    /// For a run that was claimed when those news had been heard.
    pub(super) fn new(handle: DecisionHandle, cancel: CancellationToken, seen: u64) -> Self {
        SignalPump { handle, cancel, delivered: HashSet::new(), seen, message: None }
    }

    /// Brings what is new. Says whether decisions are there that were not taken yet. It waits for the store alone: what a run
    /// that takes none now has no room for stays in the store, and is delivered when it is next looked at. So a wish to cancel is
    /// heard, however many decisions are there.
    pub(super) async fn fetch(&mut self, store: &dyn RunData, run: &str) -> Result<bool, StoreError> {
        Ok(self.deliver(store.pending_signals(run).await?))
    }

    /// Brings what is new in this mail. Returns whether decisions or a message are there that were not taken yet.
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

    /// Takes the message that the run goes on with. It is not given again: the next commit of the run holds it.
    pub(super) fn message(&mut self) -> Option<UserMessage> {
        let message = self.message.take()?;
        self.delivered.insert(message.id.clone());
        Some(message)
    }

    /// How many things were delivered.
    pub(super) fn delivered(&self) -> usize {
        self.delivered.len() + usize::from(self.message.is_some()) + usize::from(self.cancel.is_cancelled())
    }
}

impl Worker {
    /// Brings what comes in, for as long as the run is driven.
    pub(super) async fn fetch_changes(&self, pump: &mut SignalPump, run: &str) -> Infallible {
        loop {
            self.changed_since(&mut pump.seen, true).await;
            // What could not be read now is read the next time; the lease says when it has lasted too long.
            pump.fetch(&*self.store, run).await.ok();
        }
    }
}
