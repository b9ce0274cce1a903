//! What goes on beside a run that is driven: its lease is kept, and what comes in for it is brought to it.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use super::super::error::StoreError;
use super::super::lease::Lease;
use super::super::{Mail, RunStore};
use super::Worker;
use crate::agent::{CancellationToken, DecisionHandle, Incoming};

/// Brings decisions to a run, each once, and the wish to cancel it.
#[derive(Debug)]
pub(super) struct Postman {
    handle: DecisionHandle,
    cancel: CancellationToken,
    brought: HashSet<String>,
}

impl Postman {
    pub(super) fn new(handle: DecisionHandle, cancel: CancellationToken) -> Self {
        Postman { handle, cancel, brought: HashSet::new() }
    }

    /// Brings what is new. Says whether decisions are there that were not taken yet.
    pub(super) async fn bring(&mut self, store: &dyn RunStore, run: &str) -> Result<bool, StoreError> {
        let Mail { decisions, cancel, .. } = store.mail(run).await?;
        if cancel.is_some() {
            self.cancel.cancel();
        }
        let is_waiting = !decisions.is_empty();
        let new = decisions.into_iter().filter(|decision| self.brought.insert(decision.decision_id.clone()));
        let new: Vec<Incoming> = new.map(Incoming::from).collect();
        if !new.is_empty() {
            // A run that is gone reads them from the store when it goes on.
            self.handle.post(new).await.ok();
        }
        Ok(is_waiting)
    }
}

impl Worker {
    /// Renews a lease at a third of its time, for as long as it can be kept.
    pub(super) async fn keep(&self, lease: &Lease) -> Arc<StoreError> {
        let mut kept_until_ms = self.until_ms();
        loop {
            tokio::time::sleep(self.lease / 3).await;
            let until_ms = self.until_ms();
            match self.store.renew(lease, until_ms).await {
                Ok(()) => kept_until_ms = until_ms,
                // It is still this worker's, and may be renewed in time.
                Err(StoreError::Unavailable(_)) if self.clock.now_ms() < kept_until_ms => {}
                Err(error) => return Arc::new(error),
            }
        }
    }

    /// Brings what comes in, for as long as the run is driven.
    pub(super) async fn bring_news(&self, postman: &mut Postman, run: &str) -> Infallible {
        loop {
            self.news(true).await;
            // What could not be read now is read the next time; the lease says when it has lasted too long.
            postman.bring(&*self.store, run).await.ok();
        }
    }
}
