//! A store in memory that keeps each commit, to be made again elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::clock::Clock;
use crate::store::{Commit, Lease, MemoryStore, RunData, RunLists, RunStore, StoreError, Wrapper};

/// A store in memory that keeps each commit: runs of any agent, driven as ever, whose commits are then given to another
/// store. Only drivers make commits; for runs of a script, [`Played`](super::Played) is a driver already.
///
/// ```
/// use std::time::Duration;
/// use runstate::store::{Claim, NewRun, RunData, RunQueue, StoreError};
/// use runstate::testing::store::{Played, Taped};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let taped = Taped::default();
/// taped.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = taped.claim(&Claim::of("r1", "me", Duration::from_secs(1))).await?.unwrap();
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
    /// An empty store, by that clock.
    pub fn with_clock(clock: impl Clock + 'static) -> Self {
        Taped { store: MemoryStore::with_clock(clock), kept: Mutex::default() }
    }

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
impl Wrapper for Taped {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.store.commit(lease, commit).await?;
        self.kept().entry(lease.run.clone()).or_default().insert(commit.version, commit.clone());
        Ok(())
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        let was_there = self.store.remove(run).await?;
        self.kept().remove(run);
        Ok(was_there)
    }
}
