//! Service runs in the schema: their contract, the order of changes, and any texts.

use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::{self, Running};
use runstate_agent::async_trait;
use runstate_postgres::PostgresStore;
use runstate_runtime::clock::SetClock;
use runstate_service::testing::{ServiceBench, example_change};
use runstate_service::{
    Change, KeyedAnswer, ListQuery, RequestKey, ServiceCursor, ServiceStore, ServiceStoreError,
};
use serde_json::json;

use crate::cluster::{self, Place, soon};

#[async_trait]
impl ServiceBench for Place {
    async fn store(&self) -> Arc<dyn ServiceStore> {
        let options = self.options().connections(4).clock(self.clock.clone());
        Arc::new(PostgresStore::connect(options).await.unwrap())
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }

    async fn spoil_status(&self, run: &str, status: &str) -> bool {
        let spoil = format!("UPDATE \"{}\".service_runs SET status = $2 WHERE id = $1", self.schema);
        self.client().await.execute(&spoil, &[&run, &status]).await.unwrap() == 1
    }
}

mod crashes;
mod rows;

mod conformance {
    use crate::cluster::{self, Place};

    runstate_service::service_store_conformance!({
        let Some(server) = cluster::shared() else { return };
        async { Place::on(server) }
    });
}

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

fn change(run: &str, status: ServiceRunStatus, intent: &str) -> Change {
    // Characters that no text of PostgreSQL has.
    Change { trace: vec!["{}\0\u{1}".to_owned()], ..example_change(run, status, intent) }
}

pub async fn create(store: &dyn ServiceStore, run: &str) {
    store.create(run, &change(run, Running, "send 5")).await.unwrap();
}

/// The notification alone wakes this waiter: it does not poll before the end of the test.
#[tokio::test]
async fn change_by_another_connection_wakes_waiters_at_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = PostgresStore::connect(place.options().poll_every(LONG)).await.unwrap();
    let other = place.store().await;
    create(&other, "r0").await;
    let mut cursor = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap().cursor;
    // The listening connection and the notification of the first change may come late, and wake a waiter once each.
    let waits = tokio::spawn(async move {
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let changes = store.changes(cursor, 9, LONG).await.unwrap();
            seen.extend(changes.runs);
            cursor = changes.cursor;
        }
        seen
    });
    for run in ["r1", "r2", "r3"] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        create(&other, run).await;
    }
    assert_eq!(soon(waits).await.unwrap(), ["r1", "r2", "r3"]);
}

/// A change with a lower number is never visible after one with a higher number.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cursor_misses_no_change_of_concurrent_transactions() {
    const CHANGES: usize = 40;
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    let tasks = (0..8).map(|task| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for number in 0..CHANGES {
                create(&*store, &format!("r{task}-{number}")).await;
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let watcher = place.store().await;
    let (mut cursor, mut seen) = (ServiceCursor::default(), Vec::new());
    soon(async {
        while seen.len() < 8 * CHANGES {
            let changes = watcher.changes(cursor, 7, MINUTE).await.unwrap();
            assert!(changes.cursor > cursor && changes.runs.len() <= 7);
            seen.extend(changes.runs);
            cursor = changes.cursor;
        }
    })
    .await;
    for task in tasks {
        task.await.unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 8 * CHANGES);
    assert_eq!(cursor, ServiceCursor::new(8 * CHANGES as u64));
}

/// A number that is not committed holds back all later ones.
#[tokio::test]
async fn change_that_commits_late_is_not_missed() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    create(&*store, "r1").await;
    let cursor = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap().cursor;
    let client = place.client().await;
    let late = "BEGIN; UPDATE {schema}.service_news SET changes = changes + 1;
        UPDATE {schema}.service_runs SET change = (SELECT changes FROM {schema}.service_news) WHERE id = 'r1'";
    client.batch_execute(&late.replace("{schema}", &format!("\"{}\"", place.schema))).await.unwrap();
    let (writer, behind) = (Arc::clone(&store), Duration::from_millis(300));
    let second = tokio::spawn(async move { create(&*writer, "r2").await });
    tokio::time::sleep(behind).await;
    assert!(!second.is_finished());
    let none = store.changes(cursor, 9, Duration::ZERO).await.unwrap();
    assert_eq!((none.runs.len(), none.cursor), (0, cursor));
    client.batch_execute("COMMIT").await.unwrap();
    soon(second).await.unwrap();
    let both = store.changes(cursor, 9, LONG).await.unwrap();
    assert_eq!(
        (both.runs, both.cursor.number()),
        (vec!["r1".to_owned(), "r2".to_owned()], cursor.number() + 2)
    );
}

/// Of two changes under one key, one alone is stored, also if they are of two runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_concurrent_changes_under_a_key_wins() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    for run in 0..8 {
        create(&*store, &format!("r{run}")).await;
    }
    for round in 0..5 {
        let tasks = (0..8).map(|run| {
            let store = Arc::clone(&store);
            let run = format!("r{run}");
            let key = RequestKey { principal: "ada".to_owned(), key: format!("k{round}") };
            let answer = Some(KeyedAnswer { key, digest: "d".to_owned(), answer: json!(run) });
            let next = Change { answer, ..change(&run, Running, "next") };
            tokio::spawn(async move {
                let version = store.load(&run).await.unwrap().version;
                (run.clone(), store.compare_and_set(&run, version, &next).await)
            })
        });
        let mut won = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            match task.await.unwrap() {
                (run, Ok(_)) => won.push(run),
                (_, Err(ServiceStoreError::KeyTaken { .. })) => {}
                (_, Err(error)) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1);
        let key = RequestKey { principal: "ada".to_owned(), key: format!("k{round}") };
        assert_eq!(store.answer(&key, 1_000).await.unwrap().unwrap().answer, json!(won[0]));
    }
}

#[tokio::test]
async fn texts_may_have_any_characters_and_are_found_in_any_case() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    let long = format!("é{}", "x".repeat(5_000));
    for (run, intent) in [
        ("a\0b", "nul \0 here"),
        ("'; DROP", "ÄRGER für Ωmega"),
        ("ÉCOLE", "\u{1}\u{2}"),
        (&*long, "\0\u{2}"),
    ] {
        let mut new = change(run, Running, intent);
        new.artifacts.insert(run.to_owned(), Some(json!(run)));
        store.create(run, &new).await.unwrap();
        let loaded = store.load(run).await.unwrap();
        assert_eq!(loaded, new.first_row(run));
        let step = store.steps(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(step, new.steps[0]);
        let event = store.events(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(event, new.events(None)[0]);
        assert_eq!(store.trace(run, 0, 9).await.unwrap(), new.trace);
        let lease = store.claim(Some(run), "\0me", MINUTE).await.unwrap().unwrap();
        let held = store.claim(Some(run), "you", MINUTE).await.unwrap_err();
        assert!(matches!(&held, ServiceStoreError::Held { holder, .. } if holder == "\0me"), "{held:?}");
        new.artifacts.insert(run.to_owned(), None);
        store.commit(&lease, 1, &new, None).await.unwrap();
        assert_eq!(store.load(run).await.unwrap().artifacts.len(), 1);
    }
    for (text, expected) in [
        ("ärger FÜR ωMEGA", vec!["'; DROP"]),
        ("école", vec!["ÉCOLE"]),
        ("\0", vec!["é", "a\0b"]),
        ("\u{1}", vec!["ÉCOLE"]),
        ("\u{2}", vec!["é", "ÉCOLE"]),
        ("", vec!["é", "ÉCOLE", "a\0b", "'; DROP"]),
        ("herea", vec![]),
    ] {
        let query = ListQuery { text: Some(text.to_owned()), counts: true, ..ListQuery::first(9) };
        let page = store.list(&query).await.unwrap();
        let found: Vec<&str> =
            page.runs.iter().map(|run| if run.id == long { "é" } else { &*run.id }).collect();
        assert_eq!(found, expected, "{text:?}");
        let counts = page.counts.unwrap();
        assert_eq!(counts.get("RUNNING").copied().unwrap_or(0), expected.len(), "{text:?}");
    }
    // Each page follows the run before it, whatever its id is.
    let (mut query, mut seen) = (ListQuery::first(1), Vec::new());
    loop {
        let page = store.list(&query).await.unwrap();
        seen.extend(page.runs.into_iter().map(|run| run.id));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [&*long, "ÉCOLE", "a\0b", "'; DROP"]);
}

#[tokio::test]
async fn value_that_could_not_be_read_again_is_refused() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    create(&*store, "r1").await;
    let before = store.load("r1").await.unwrap();
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    for (value, why) in [
        (json!("x".repeat((64 << 20) - 1)), "service_artifacts.json would have 67108865 bytes"),
        (deep, "the artifact \"large\" nests deeper than 100 levels"),
        (
            json!({ "a": 1, "$serde_json::private::RawValue": "1" }),
            "the artifact \"large\" could not be read again",
        ),
    ] {
        let mut next = change("r1", Running, "more");
        next.artifacts.insert("large".to_owned(), Some(value));
        let refused = store.compare_and_set("r1", 1, &next).await.unwrap_err();
        assert!(matches!(refused, ServiceStoreError::Failed(_)), "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(refused.to_string().contains("nothing was stored"), "{refused}");
        assert_eq!(store.load("r1").await.unwrap(), before);
    }
    let mut next = change("r1", Running, "more");
    next.artifacts.insert("large".to_owned(), Some(json!("x".repeat((64 << 20) - 2))));
    store.compare_and_set("r1", 1, &next).await.unwrap();
    let artifacts = store.load("r1").await.unwrap().artifacts;
    assert_eq!(artifacts.get("large"), next.artifacts["large"].as_ref());
}

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let proxy = crate::proxy::Proxy::before(server.port()).await;
    let options = runstate_postgres::PostgresOptions::new(&proxy.url()).unwrap();
    let options = options.schema(&place.schema).unwrap().patience(Duration::from_secs(5));
    let store: Arc<dyn ServiceStore> = Arc::new(PostgresStore::connect(options).await.unwrap());
    create(&*store, "r1").await;
    proxy.does(crate::proxy::Does::Cuts);
    let refused = store.compare_and_set("r1", 1, &change("r1", Running, "more")).await.unwrap_err();
    assert!(matches!(refused, ServiceStoreError::Unavailable(_)), "{refused:?}");
}
