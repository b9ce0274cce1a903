//! The suite sees what is wrong with a store: here one that counts the leases of a run from 1 again when another one of its
//! id was removed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use runstate::agent::async_trait;
use runstate::store::{Claim, Commit, Lease, MemoryStore, Release, RunStore, StoreError, Wrapper};
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
impl Wrapper for Forgets {
    fn inner(&self) -> &dyn RunStore {
        &self.inner
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
