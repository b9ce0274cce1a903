//! Commits as they are made, to be made again elsewhere: only drivers make them.

use std::sync::{Mutex, PoisonError};

use runstate::agent::async_trait;
use runstate::decision::Decision;
use runstate::store::{
    Approval, ApprovalQuery, Claim, Commit, Lease, Loaded, Mail, MemoryStore, NewRun, Posted, Release,
    RunInfo, RunQuery, RunStore, StoreError, Timer, TraceRow,
};

/// Keeps each commit.
#[derive(Debug, Default)]
pub(crate) struct Taped {
    store: MemoryStore,
    commits: Mutex<Vec<Commit>>,
}

impl Taped {
    /// All commits so far.
    pub(crate) fn take(&self) -> Vec<Commit> {
        std::mem::take(&mut *self.commits.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl RunStore for Taped {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.store.create(run).await
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.store.load(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        self.store.claim(claim).await
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        self.store.renew(lease, until_ms).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.store.release(lease, release).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner).push(commit.clone());
        self.store.commit(lease, commit).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.store.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.store.cancel(run, reason).await
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        self.store.mail(run).await
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        self.store.runs(query).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        self.store.approvals(query).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.store.due(now_ms, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.store.trace(run, after, limit).await
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.store.remove(run, now_ms).await
    }
}
