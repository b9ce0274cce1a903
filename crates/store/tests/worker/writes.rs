//! The transactions of a worker's run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate_agent::async_trait;
use runstate_store::{
    Claim, Commit, Ended, Lease, LeaseAfter, MemoryStore, Release, RunQueue as _, RunStore, StoreError,
    Wrapper,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{Sleeper, World, call};

/// A store that counts its transactions.
#[derive(Debug)]
struct Counting {
    store: MemoryStore,
    commits: AtomicUsize,
    releases: AtomicUsize,
    /// Fails the first last commit after it was made.
    is_answer_lost: Mutex<bool>,
}

impl Counting {
    fn made(&self) -> (usize, usize) {
        (self.commits.load(Ordering::Relaxed), self.releases.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Wrapper for Counting {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        after.commit(&self.store, lease, commit).await?;
        if after == LeaseAfter::Released && std::mem::take(&mut *self.is_answer_lost.lock().unwrap()) {
            return Err(StoreError::unavailable("the connection was reset"));
        }
        Ok(())
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.releases.fetch_add(1, Ordering::Relaxed);
        self.store.release(lease, release).await
    }
}

fn world(is_answer_lost: bool) -> (World, Arc<Counting>) {
    let machine = Sleeper::new();
    let counting = Arc::new(Counting {
        store: MemoryStore::with_clock(machine.clone()),
        commits: AtomicUsize::default(),
        releases: AtomicUsize::default(),
        is_answer_lost: Mutex::new(is_answer_lost),
    });
    (World::by(machine, Arc::clone(&counting) as Arc<dyn RunStore>), counting)
}

async fn driven(world: &World) -> Ended {
    world.worker("w").run_one(&*world.host, "r", CancellationToken::new()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn run_at_rest_costs_no_transaction_beside_its_commits() {
    let (world, counting) = world(false);
    world.create("r", json!([[call("a", "once", json!({ "ask": true }))]])).await;
    assert!(matches!(driven(&world).await, Ended::Waits(_)));
    let commits = world.loaded("r").await.info.version as usize;
    assert_eq!(counting.made(), (commits, 0), "commits and releases until it waits");
    assert_eq!(world.loaded("r").await.info.holder, None, "the holder of a run that waits");
    world.store.cancel("r", "enough").await.unwrap();
    assert!(matches!(driven(&world).await, Ended::Over(_)));
    let commits = world.loaded("r").await.info.version as usize;
    assert_eq!(counting.made(), (commits, 0), "commits and releases until it is over");
    assert_eq!(world.loaded("r").await.info.holder, None, "the holder of a run that is over");

    // Without a commit there is one release.
    assert!(matches!(driven(&world).await, Ended::Over(_)));
    assert_eq!(counting.made(), (commits, 1), "for a run that was over before");
}

#[tokio::test(start_paused = true)]
async fn last_commit_is_repeated_when_its_answer_is_lost() {
    let (world, counting) = world(true);
    world.create("r", json!([])).await;
    assert!(matches!(driven(&world).await, Ended::Over(_)));
    let info = world.loaded("r").await.info;
    assert_eq!(counting.made(), (info.version as usize + 1, 0), "one commit was made twice");
    assert_eq!((info.holder, info.lost), (None, 0));
}

/// Another process has the run before the commit is repeated.
#[tokio::test(start_paused = true)]
async fn repeated_last_commit_leaves_the_next_lease_alone() {
    let (world, _) = world(true);
    world.create("r", json!([[call("a", "once", json!({ "ask": true }))]])).await;
    let (store, host) = (Arc::clone(&world.store), Arc::clone(&world.host));
    let worker = world.worker("w");
    let working = tokio::spawn(async move { worker.run_one(&*host, "r", CancellationToken::new()).await });
    let lease = loop {
        tokio::time::sleep(Duration::from_millis(1)).await;
        // The commit was made, and its answer is lost.
        if store.load("r").await.unwrap().info.waiting > 0 {
            break store.claim(&Claim::of("r", "another", Duration::from_secs(600))).await.unwrap().unwrap();
        }
    };
    let ended = working.await.unwrap().unwrap();
    assert!(
        matches!(&ended, Ended::Lost(error) if matches!(**error, StoreError::Fenced { .. })),
        "{ended:?}"
    );
    assert_eq!(store.load("r").await.unwrap().info.holder.unwrap().fence, lease.fence);
}
