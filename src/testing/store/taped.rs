//! A store in memory that keeps each commit, to be made again elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::decision::Decision;
use crate::store::{
    Approval, ApprovalQuery, Claim, Commit, Lease, Loaded, Mail, MemoryStore, NewRun, Posted, Release,
    RunInfo, RunQuery, RunStore, StoreError, Timer, TraceRow,
};

/// A store in memory that keeps each commit: runs of any agent, driven as ever, whose commits are then given to another
/// store. Only drivers make commits; for runs of a script, [`Played`](super::Played) is a driver already.
///
/// ```
/// use runstate::store::{Claim, NewRun, RunStore, StoreError};
/// use runstate::testing::store::{Played, Taped};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let taped = Taped::default();
/// taped.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = taped.claim(&Claim::of("r1", "me", 0, 1_000)).await?.unwrap();
/// let played = Played::new("r1", &[]).await;
/// for commit in played.commits() {
///     taped.commit(&lease, commit).await?;
/// }
/// assert!(taped.commits("r1").iter().eq(played.commits()));
///
/// // One that is refused is not kept.
/// let refused = taped.commit(&lease, &taped.commits("r1")[0]).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Version { got: 1, .. }));
/// assert_eq!(taped.commits("r1").len(), played.commits().len());
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Taped {
    store: MemoryStore,
    /// By run and version. Held for the time of one look, never over an await.
    kept: Mutex<BTreeMap<String, BTreeMap<u64, Commit>>>,
}

impl Taped {
    /// The commits of a run, in order: those that were made, each once. One that was given
    /// [again](Commit::again) is in the place of the first. None of a run that is not there, or was removed.
    pub fn commits(&self, run: &str) -> Vec<Commit> {
        self.kept().get(run).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<u64, Commit>>> {
        // Nothing panics while it is held but a bug; what is there is whole all the same.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunStore for Taped {
    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.store.commit(lease, commit).await?;
        self.kept().entry(lease.run.clone()).or_default().insert(commit.version, commit.clone());
        Ok(())
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        let was_there = self.store.remove(run, now_ms).await?;
        self.kept().remove(run);
        Ok(was_there)
    }

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

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.store.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.store.cancel(run, reason).await
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        self.store.mail(run).await
    }

    async fn news(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        self.store.news(seen, patience).await
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
}
