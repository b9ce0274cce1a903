//! News: told at once where a connection listens, found by looking where none does.

use std::sync::Arc;
use std::time::Duration;

use runstate::store::{NewRun, Release, RunStore};
use runstate_postgres::{PostgresOptions, PostgresStore};
use tokio::time::Instant;

use crate::cluster::{self, Place};
use crate::proxy::{Does, Proxy};
use crate::runs::{decision, waiting};

/// Far beyond what a test takes.
const LONG: Duration = Duration::from_secs(300);

/// Waits until as many connections listen for this place.
async fn listening(place: &Place, count: i64) {
    let client = place.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE query IN ($1, '') AND state = 'idle' AND application_name = $2";
    let listen = format!("LISTEN \"runstate:{}\"", place.schema);
    for _ in 0..600 {
        let row = client.query_one(sql, &[&listen, &place.schema]).await.unwrap();
        if row.get::<_, i64>(0) == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{count} connections should listen");
}

/// A store that listens, and has nothing more to say of its beginning.
async fn listener(place: &Place, options: PostgresOptions) -> Arc<PostgresStore> {
    let store = Arc::new(PostgresStore::connect(options).await.unwrap());
    store.news(0, Duration::from_millis(1)).await.unwrap();
    listening(place, 1).await;
    store
}

/// The mark of the news, once no more come for so long.
async fn quiet(store: &PostgresStore, long: Duration) -> u64 {
    let mut seen = 0;
    loop {
        let began = Instant::now();
        seen = store.news(seen, long).await.unwrap();
        // Where nobody listens it returns sooner.
        if began.elapsed() >= long {
            return seen;
        }
    }
}

async fn waits(store: &PostgresStore, seen: u64, patience: Duration) -> Duration {
    let began = Instant::now();
    store.news(seen, patience).await.unwrap();
    began.elapsed()
}

fn named(place: &Place, url: &str) -> PostgresOptions {
    let url = format!("{url}&application_name={}", place.schema.replace(' ', "%20"));
    PostgresOptions::new(&url).unwrap().schema(&place.schema).unwrap()
}

#[tokio::test]
async fn what_another_process_does_is_told_at_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    let other = place.store().await;
    let (lease, approvals) = waiting(&other, "r1", 1).await;

    for news in ["a decision", "a wish to cancel", "a run", "a run given back"] {
        let seen = quiet(&store, Duration::from_millis(200)).await;
        let waiting = tokio::spawn({
            let store = Arc::clone(&store);
            async move { waits(&store, seen, LONG).await }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!waiting.is_finished(), "{news}: nothing came yet");
        match news {
            "a decision" => drop(other.post(&decision("d1", &approvals[0])).await.unwrap()),
            "a wish to cancel" => assert!(other.cancel("r1", "enough").await.unwrap()),
            "a run" => other.create(&NewRun::new("r2", serde_json::Value::Null, 0)).await.unwrap(),
            _ => other.release(&lease, &Release::clean()).await.unwrap(),
        }
        let waited = tokio::time::timeout(LONG / 10, waiting).await.expect(news).unwrap();
        assert!(waited < LONG / 10, "{news}: {waited:?}");
    }
}

#[tokio::test]
async fn news_between_two_waits_are_not_missed() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    let other = place.store().await;
    let seen = quiet(&store, Duration::from_millis(200)).await;
    other.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    // Each who has not heard of it is told, also when somebody else was.
    for _ in 0..3 {
        assert!(waits(&store, seen, LONG).await < LONG / 10);
    }
}

#[tokio::test]
async fn where_no_connection_listens_news_are_looked_for() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let proxy = Proxy::before(server.port()).await;
    let options = named(&place, &proxy.url()).poll_every(Duration::from_millis(100));
    let store = listener(&place, options).await;

    // Whoever waits is woken when the connection is lost, and from then on looks often.
    let seen = quiet(&store, Duration::from_millis(200)).await;
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.news(seen, LONG).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    proxy.does(Does::Cuts);
    let seen = tokio::time::timeout(LONG / 10, waiting).await.unwrap().unwrap();
    for _ in 0..5 {
        assert!(waits(&store, seen, LONG).await < LONG / 10);
    }

    // The connection is made anew by itself, and news are told again.
    proxy.does(Does::Forwards);
    listening(&place, 1).await;
    let seen = quiet(&store, Duration::from_millis(500)).await;
    let other = place.store().await;
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { waits(&store, seen, LONG).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished(), "it waits for long again");
    other.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    assert!(tokio::time::timeout(LONG / 10, waiting).await.unwrap().unwrap() < LONG / 10);
}

#[tokio::test]
async fn who_listens_ends_with_its_store() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    drop(store);
    listening(&place, 0).await;
}
