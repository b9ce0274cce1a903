//! News: told at once where a connection listens, found by looking where none does.

use std::sync::Arc;
use std::time::Duration;

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_store::{NewRun, Release, RunData, RunQueue};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::cluster::{self, Place, soon};
use crate::proxy::{Does, Proxy};
use crate::runs::{decision, waiting};

/// Far beyond what a test takes.
const LONG: Duration = Duration::from_secs(300);

/// Waits until as many connections listen for this place. One that has been there for long was asked since whether it is.
async fn listening(place: &Place, count: i64) {
    let client = place.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $2 AND state = 'idle' AND
        (query = $1 OR query = '' AND now() - backend_start > interval '5 s')";
    let listen = format!("LISTEN \"runstate:{0}\"; LISTEN \"runstate+{0}\"", place.schema);
    soon(async {
        while client.query_one(sql, &[&listen, &place.schema]).await.unwrap().get::<_, i64>(0) != count {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

/// A store that listens, and has nothing more to say of its beginning.
async fn listener(place: &Place, options: PostgresOptions) -> Arc<PostgresStore> {
    let store = Arc::new(PostgresStore::connect(options).await.unwrap());
    store.changed_since(0, Duration::from_millis(1)).await.unwrap();
    listening(place, 1).await;
    store
}

/// The mark of the news, once no more come for so long.
async fn quiet(store: &PostgresStore, long: Duration) -> u64 {
    let mut seen = 0;
    loop {
        let began = Instant::now();
        seen = store.changed_since(seen, long).await.unwrap();
        // Where nobody listens it returns sooner.
        if began.elapsed() >= long {
            return seen;
        }
    }
}

/// One that waits for long, and that nothing has woken for a while: what an earlier operation told may come late.
async fn waiter(store: &Arc<PostgresStore>) -> JoinHandle<()> {
    for _ in 0..20 {
        let seen = quiet(store, Duration::from_millis(200)).await;
        let store = Arc::clone(store);
        let waiting = tokio::spawn(async move {
            assert_ne!(store.changed_since(seen, LONG).await.unwrap(), seen, "it was told of something");
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        if !waiting.is_finished() {
            return waiting;
        }
    }
    panic!("news come without an end");
}

fn named(place: &Place, url: &str) -> PostgresOptions {
    let url = format!("{url}&application_name={}", place.schema.replace(' ', "%20"));
    PostgresOptions::new(&url).unwrap().schema(&place.schema).unwrap()
}

#[tokio::test]
async fn change_by_another_connection_wakes_waiters_at_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    let other = place.store().await;
    let (lease, approvals) = waiting(&other, "r1", 1).await;

    for news in ["a decision", "a wish to cancel", "a run", "a run given back"] {
        let waiting = waiter(&store).await;
        match news {
            "a decision" => drop(other.post(&decision("d1", &approvals[0])).await.unwrap()),
            "a wish to cancel" => assert!(other.cancel("r1", "enough").await.unwrap()),
            "a run" => other.create(&NewRun::new("r2", serde_json::Value::Null, 0)).await.unwrap(),
            _ => other.release(&lease, &Release::clean()).await.unwrap(),
        }
        tokio::time::timeout(LONG / 10, waiting).await.expect(news).unwrap();
    }
}

#[tokio::test]
async fn change_between_two_waits_is_not_missed() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    let other = place.store().await;
    let seen = quiet(&store, Duration::from_millis(200)).await;
    other.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    // Each who has not heard of it is told, also when somebody else was.
    for _ in 0..3 {
        assert_ne!(soon(store.changed_since(seen, LONG)).await.unwrap(), seen);
    }
}

#[tokio::test]
async fn store_polls_for_changes_while_no_connection_listens() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let proxy = Proxy::before(server.port()).await;
    let options = named(&place, &proxy.url()).poll_every(Duration::from_millis(100));
    let store = listener(&place, options).await;

    // Whoever waits is woken when the connection is lost, and from then on looks often.
    let waiting = waiter(&store).await;
    proxy.does(Does::Cuts);
    tokio::time::timeout(LONG / 10, waiting).await.unwrap().unwrap();
    // That it tries to listen again is told as well; between that it looks though nothing is told.
    soon(async {
        let mut seen = 0;
        loop {
            let told = store.changed_since(seen, LONG).await.unwrap();
            if told == std::mem::replace(&mut seen, told) {
                break;
            }
        }
    })
    .await;

    // The connection is made anew by itself, and news are told again.
    proxy.does(Does::Forwards);
    listening(&place, 1).await;
    let other = place.store().await;
    let waiting = waiter(&store).await;
    other.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    tokio::time::timeout(LONG / 10, waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn listening_connection_closes_with_its_store() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = listener(&place, named(&place, &place.url)).await;
    drop(store);
    listening(&place, 0).await;
}
