//! Who waits for news has them soon, and from other processes a little later.

use std::sync::Arc;
use std::time::Duration;

use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{Claim, Release, RunStore};

use crate::drive::{Plot, approve_all, create, drive};

const NEVER: Duration = Duration::from_secs(600);

fn open(path: &std::path::Path, poll: Duration) -> Arc<dyn RunStore> {
    Arc::new(SqliteStore::open_with(path, Options::default().polling(poll)).unwrap())
}

/// Waits for news in two places, does something that brings some, and waits until they came to both.
async fn wakes(waits: &Arc<dyn RunStore>, brings: impl Future<Output = ()>) {
    let seen = waits.changed_since(0, Duration::from_millis(1)).await.unwrap();
    let waiting = [(); 2].map(|()| {
        let store = Arc::clone(waits);
        tokio::spawn(async move { store.changed_since(seen, NEVER).await })
    });
    // They wait by now, or find later that something came.
    tokio::task::yield_now().await;
    brings.await;
    for waiting in waiting {
        let told = tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap().unwrap().unwrap();
        assert_ne!(told, seen);
    }
}

#[tokio::test]
async fn change_by_the_same_handle_wakes_waiters() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody looks at the file: the thread that writes says it.
    let store = open(&folder.path().join("runs.db"), NEVER);
    wakes(&store, create(&store, "r1")).await;
    wakes(&store, async { drop(drive(&store, "r1", Plot::asking(1, 1)).await) }).await;
    wakes(&store, async { assert_eq!(approve_all(&store).await, 1) }).await;
    wakes(&store, async { assert!(store.cancel("r1", "enough").await.unwrap()) }).await;
}

#[tokio::test]
async fn change_by_another_handle_wakes_waiters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let here = open(&path, Duration::from_millis(5));
    let elsewhere = open(&path, NEVER);
    wakes(&here, create(&elsewhere, "r1")).await;
    wakes(&here, async { drop(drive(&elsewhere, "r1", Plot::asking(1, 1)).await) }).await;
    wakes(&here, async { assert_eq!(approve_all(&elsewhere).await, 1) }).await;
}

#[tokio::test]
async fn change_before_the_wait_ends_the_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("runs.db"), NEVER);
    create(&store, "r1").await;
    tokio::time::timeout(Duration::from_secs(60), store.changed_since(0, NEVER)).await.unwrap().unwrap();
}

#[tokio::test]
async fn commits_and_claims_wake_no_waiter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let (here, elsewhere) = (open(&path, Duration::from_millis(5)), open(&path, NEVER));
    create(&here, "r1").await;
    let lease = here.claim(&Claim::of("r1", "me", NEVER)).await.unwrap().unwrap();
    let seen = here.changed_since(0, Duration::from_millis(20)).await.unwrap();
    let began = tokio::time::Instant::now();
    let waiting = here.changed_since(seen, Duration::from_millis(300));
    let busy = async {
        elsewhere.renew(&lease, NEVER).await.unwrap();
        here.renew(&lease, NEVER).await.unwrap();
        crate::drive::drive_under(&elsewhere, &lease, Plot::of(2, 1)).await;
    };
    let (waited, ()) = tokio::join!(waiting, busy);
    assert_eq!(waited.unwrap(), seen);
    assert!(began.elapsed() >= Duration::from_millis(300), "nothing came, and it returned at once");
    here.release(&lease, &Release::clean()).await.unwrap();
}
