//! Who may commit, and what is given again.

use std::sync::Arc;
use std::time::Duration;

use runstate_postgres::PostgresOptions;
use runstate_store::{Claim, NewRun, RunData, RunQueue, RunStore, StoreError};

use crate::cluster::{self, Place};
use crate::proxy::{Does, Proxy};
use crate::runs::{More, commits, drive, waiting};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn holder_paused_beyond_its_lease_is_fenced() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let (paused, other) = (place.store().await, place.store().await);
    let commits = commits("r1", 1).await;
    paused.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let old = paused.claim(&Claim::any("paused", Duration::ZERO)).await.unwrap().unwrap();
    paused.commit(&old, &commits[0]).await.unwrap();

    let new = other.claim(&Claim::any("other", MINUTE)).await.unwrap().unwrap();
    let refused = paused.commit(&old, &commits[1]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }), "{refused}");
    assert!(matches!(paused.renew(&old, MINUTE).await, Err(StoreError::Fenced { .. })));
    assert_eq!(other.load("r1").await.unwrap().info.version, 1, "nothing was written");

    other.commit(&new, &commits[1]).await.unwrap();
    assert_eq!(paused.load("r1").await.unwrap().info.version, 2);
}

/// A run that somebody changes this very moment is left to them.
#[tokio::test]
async fn a_run_that_is_locked_holds_up_no_claim_of_another() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    for (run, at) in [("r1", 1), ("r2", 2)] {
        store.create(&NewRun::new(run, serde_json::Value::Null, at)).await.unwrap();
    }
    let client = place.client().await;
    let lock = format!("BEGIN; SELECT FROM \"{}\".runs WHERE id = 'r1' FOR UPDATE", place.schema);
    client.batch_execute(&lock).await.unwrap();
    let any = Claim::any("me", MINUTE);
    assert_eq!(store.claim(&any).await.unwrap().unwrap().run, "r2");
    assert_eq!(store.claim(&any).await.unwrap(), None);
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.claim(&any).await.unwrap().unwrap().run, "r1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_commits_accept_only_the_latest_lease() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let stores = [Arc::new(place.store().await), Arc::new(place.store().await)];
    for round in 0..20 {
        let run = format!("r{round}");
        let commits = commits(&run, 1).await;
        stores[0].create(&NewRun::new(&run, serde_json::Value::Null, 0)).await.unwrap();
        let old = stores[0].claim(&Claim::of(&run, "old", Duration::ZERO)).await.unwrap().unwrap();
        let new = stores[1].claim(&Claim::of(&run, "new", MINUTE)).await.unwrap().unwrap();
        let tries = [(&stores[0], old), (&stores[1], new)].map(|(store, lease)| {
            let (store, commit) = (Arc::clone(store), commits[0].clone());
            tokio::spawn(async move { store.commit(&lease, &commit).await })
        });
        let [old, new] = tries;
        assert!(matches!(old.await.unwrap(), Err(StoreError::Fenced { .. })));
        new.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn commit_retried_after_a_lost_answer_is_stored_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let direct = place.store().await;
    let (lease, _) = waiting(&direct, "r1", 2).await;
    let before = direct.load("r1").await.unwrap();
    let mut more = More::of("r1", 2).await;
    let last = more.commit.clone();

    let proxy = Proxy::before(server.port()).await;
    let options = PostgresOptions::new(&proxy.url()).unwrap().schema(&place.schema).unwrap();
    let store = runstate_postgres::PostgresStore::connect(options).await.unwrap();
    let mut commit = more.next().clone();
    // The statement is prepared on this connection already: what is lost is the answer to the commit itself.
    assert!(matches!(store.commit(&lease, &last).await, Err(StoreError::Version { .. })));
    proxy.does(Does::LosesAnswers);
    let lost = store.commit(&lease, &commit).await.unwrap_err();
    assert!(matches!(lost, StoreError::Unavailable(_)), "{lost}");
    proxy.does(Does::Forwards);
    let made = direct.load("r1").await.unwrap();
    assert_eq!(made.info.version, before.info.version + 1, "it was made, and nobody was told");

    commit.again = true;
    store.commit(&lease, &commit).await.unwrap();
    assert_eq!(direct.load("r1").await.unwrap(), made);
    store.commit(&lease, more.next()).await.unwrap();
    let refused = store.commit(&lease, &commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Version { .. }), "an older one: {refused}");
}

#[tokio::test]
async fn a_commit_is_one_round_trip() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let direct = place.store().await;
    let (lease, _) = waiting(&direct, "r1", 3).await;
    let mut more = More::of("r1", 3).await;
    let proxy = Proxy::before(server.port()).await;
    let options = PostgresOptions::new(&proxy.url()).unwrap().schema(&place.schema).unwrap().connections(1);
    let store = runstate_postgres::PostgresStore::connect(options).await.unwrap();
    // The first one on a connection prepares the statement.
    let before = proxy.rounds();
    store.commit(&lease, more.next()).await.unwrap();
    assert_eq!(proxy.rounds() - before, 2);
    for _ in 0..40 {
        let before = proxy.rounds();
        store.commit(&lease, more.next()).await.unwrap();
        assert_eq!(proxy.rounds() - before, 1);
    }
}

#[tokio::test]
async fn a_driven_run_comes_back_as_it_was_driven() {
    let Some(server) = cluster::shared() else { return };
    let store = Arc::new(Place::on(server).store().await);
    drive(Arc::clone(&store) as Arc<dyn RunStore>, "r1", 2).await;
    let memory = Arc::new(runstate_store::MemoryStore::default());
    drive(Arc::clone(&memory) as Arc<dyn RunStore>, "r1", 2).await;
    let (got, expected) = (store.load("r1").await.unwrap(), memory.load("r1").await.unwrap());
    assert_eq!((got.stored, got.messages, got.traced), (expected.stored, expected.messages, expected.traced));
    assert_eq!(store.trace("r1", 0, 1_000).await.unwrap(), memory.trace("r1", 0, 1_000).await.unwrap());
}
