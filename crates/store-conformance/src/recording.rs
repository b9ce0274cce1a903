//! A store in memory that keeps each commit, so that it can be made in another store.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use runstate_runtime::clock::Clock;
use runstate_store::{Commit, Lease, LeaseAfter, MemoryStore, RunLists, RunStore, StoreError, Wrapper};

/// A store in memory that keeps each commit. It records the runs of any agent under any driver, and its commits can
/// be made in another store. Only drivers make commits; for scripted runs, [`Played`](super::Played) is a driver
/// already.
///
/// ```
/// use std::time::Duration;
/// use runstate_store::{Claim, NewRun, RunData, RunQueue, StoreError};
/// use runstate_store_conformance::{Played, RecordingStore};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let taped = RecordingStore::default();
/// taped.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = taped.claim(&Claim::of("r1", "me", Duration::from_secs(1))).await?.unwrap();
/// let played = Played::new("r1", &[]).await;
/// for commit in played.commits() {
///     taped.commit(&lease, commit).await?;
/// }
/// assert!(taped.commits("r1").iter().eq(played.commits()));
///
/// // A refused commit is not kept.
/// let refused = taped.commit(&lease, &taped.commits("r1")[0]).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Version { got: 1, .. }));
/// assert_eq!(taped.commits("r1").len(), played.commits().len());
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RecordingStore {
    store: MemoryStore,
    /// By run and version. Locked briefly, never across an await.
    kept: Mutex<BTreeMap<String, BTreeMap<u64, Commit>>>,
}

impl RecordingStore {
    /// Creates an empty store with that clock.
    pub fn with_clock(clock: impl Clock + 'static) -> Self {
        RecordingStore { store: MemoryStore::with_clock(clock), kept: Mutex::default() }
    }

    /// Returns the commits of a run, in order and each once. A [repeated](Commit::again) commit replaces the first
    /// try. Empty for a run that does not exist or was removed.
    pub fn commits(&self, run: &str) -> Vec<Commit> {
        self.kept().get(run).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<u64, Commit>>> {
        // Only a bug panics under the lock. The data is consistent even then.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Wrapper for RecordingStore {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        after.commit(&self.store, lease, commit).await?;
        self.kept().entry(lease.run.clone()).or_default().insert(commit.version, commit.clone());
        Ok(())
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        let was_there = self.store.remove(run).await?;
        self.kept().remove(run);
        Ok(was_there)
    }
}
