//! The suite sees what is wrong with a store: here one that counts the leases of a run from 1 again when another one of its
//! id was removed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use runstate::agent::async_trait;
use runstate::decision::Decision;
use runstate::store::{
    Approval, ApprovalQuery, Claim, Commit, Lease, Loaded, Mail, MemoryStore, NewRun, Posted, Release,
    RunInfo, RunQuery, RunStore, StoreError, Timer, TraceRow,
};
use runstate::testing::store::{OneHandle, check_all};

/// A store that forgets which leases there were on runs that are gone.
#[derive(Debug, Default)]
struct Forgets {
    inner: MemoryStore,
    /// The fence of each run before its first lease.
    first: Mutex<BTreeMap<String, u64>>,
}

impl Forgets {
    /// The lease as the store inside knows it.
    fn inside(&self, lease: &Lease) -> Lease {
        let first = self.first.lock().unwrap().get(&lease.run).copied().unwrap_or(0);
        Lease::new(lease.run.clone(), lease.fence + first)
    }

    fn outside(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Fenced { run, fence, current } => {
                let first = self.first.lock().unwrap().get(&run).copied().unwrap_or(0);
                StoreError::Fenced { run, fence: fence - first, current: current.saturating_sub(first) }
            }
            error => error,
        }
    }
}

#[async_trait]
impl RunStore for Forgets {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.inner.create(run).await
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.inner.load(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claimed = self.inner.claim(claim).await?;
        Ok(claimed.map(|Lease { run, fence, .. }| {
            let first = *self.first.lock().unwrap().entry(run.clone()).or_insert(fence - 1);
            Lease::new(run, fence - first)
        }))
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        self.inner.renew(&self.inside(lease), until_ms).await.map_err(|error| self.outside(error))
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.inner.release(&self.inside(lease), release).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.inner.commit(&self.inside(lease), commit).await.map_err(|error| self.outside(error))
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

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        let removed = self.inner.remove(run, now_ms).await?;
        self.first.lock().unwrap().remove(run);
        Ok(removed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fences_that_begin_anew_are_seen() {
    let failed = check_all(|| async { OneHandle::new(Forgets::default()) }).await;
    let names: Vec<_> = failed.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["fences_do_not_begin_anew_when_a_run_is_removed"], "{failed:?}");
    assert!(failed[0].1.contains("which another lease on r1 had"), "{failed:?}");
}
