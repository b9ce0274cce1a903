//! A store that records acknowledgements.

use std::sync::Arc;

use runstate_agent::async_trait;
use runstate_store::{Commit, Lease, LeaseAfter, RunStore, StoreError, Wrapper};

use crate::ledger::{Entry, Ledger, Made, digest};

/// Writes the acknowledged and the refused commits of a store into the ledger.
#[derive(Debug)]
pub struct Witness {
    inner: Arc<dyn RunStore>,
    ledger: Ledger,
    by: String,
}

impl Witness {
    /// A witness of that name.
    pub fn new(inner: Arc<dyn RunStore>, ledger: Ledger, by: &str) -> Self {
        Witness { inner, ledger, by: by.to_owned() }
    }

    fn entry(&self, lease: &Lease, commit: &Commit, made: &Result<(), StoreError>) -> Entry {
        let (run, version, fence, by) = (lease.run.clone(), commit.version, lease.fence, self.by.clone());
        let why = match made {
            Ok(()) => {
                let messages = commit.messages.iter().map(|row| (row.seq, digest(&row.json)));
                let trace = commit.trace.iter().map(|row| (row.seq, digest(&row.json)));
                let events = commit.events.iter().map(|row| (row.seq, digest(&row.json)));
                let calls = commit.calls.iter().map(|row| (row.name.clone(), digest(&row.snapshot)));
                let values = commit
                    .values
                    .iter()
                    .map(|row| (row.scope.to_string(), row.key.clone(), row.json.as_deref().map(digest)));
                let decisions = commit.decisions.iter().map(|decision| decision.decision_id.clone());
                return Entry::Committed(Made {
                    run,
                    version,
                    fence,
                    messages: messages.collect(),
                    trace: trace.collect(),
                    events: events.collect(),
                    calls: calls.collect(),
                    values: values.collect(),
                    decisions: decisions.collect(),
                    by,
                });
            }
            Err(StoreError::Fenced { .. }) => "fenced".to_owned(),
            Err(error) => error.to_string(),
        };
        Entry::Refused { run, version, fence, why, by }
    }
}

#[async_trait]
impl Wrapper for Witness {
    fn inner(&self) -> &dyn RunStore {
        &*self.inner
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        let made = after.commit(&*self.inner, lease, commit).await;
        self.ledger.note(&self.entry(lease, commit, &made)).map_err(StoreError::failed)?;
        made
    }
}
