//! A store that writes down what was acknowledged.

use std::sync::Arc;
use std::time::Duration;

use runstate::agent::async_trait;
use runstate::decision::Decision;
use runstate::store::{
    Approval, ApprovalQuery, Claim, Commit, Damage, Lease, Loaded, Mail, NewRun, Posted, Release, RunInfo,
    RunQuery, RunStore, StoreError, Timer, TraceRow,
};

use crate::ledger::{Entry, Ledger, Made, digest};

/// Writes into the ledger which commits a store acknowledged, and which it refused.
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
impl RunStore for Witness {
    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let made = self.inner.commit(lease, commit).await;
        self.ledger.note(&self.entry(lease, commit, &made)).map_err(StoreError::failed)?;
        made
    }

    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.inner.create(run).await
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.inner.load(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        self.inner.claim(claim).await
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        self.inner.renew(lease, until_ms).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.inner.release(lease, release).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.inner.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.inner.cancel(run, reason).await
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        self.inner.mail(run).await
    }

    async fn news(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        self.inner.news(seen, patience).await
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        self.inner.runs(query).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        self.inner.approvals(query).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.inner.due(now_ms, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.inner.trace(run, after, limit).await
    }

    async fn damaged(&self) -> Result<Vec<Damage>, StoreError> {
        self.inner.damaged().await
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.inner.remove(run, now_ms).await
    }
}
