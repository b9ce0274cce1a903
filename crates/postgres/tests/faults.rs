//! Servers that stop, and settings that would lose commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use runstate_agent::Input;
use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_store::{Claim, NewRun, Posted, RunData, RunLists, RunQuery, RunQueue, RunStore, StoreError};
use tokio::time::timeout;
use tokio_postgres::NoTls;

use crate::cluster::{self, soon};
use crate::runs::{self, More, commits, decision, waiting};

const ENOUGH: Duration = Duration::from_secs(60);
const WRITERS: usize = 4;

/// A run that is committed again and again, and what was acknowledged of it.
async fn write(
    store: Arc<PostgresStore>,
    run: String,
    acknowledged: Arc<AtomicU64>,
    enough: Arc<AtomicBool>,
) {
    let lease = store.claim(&Claim::of(&*run, "writer", ENOUGH)).await.unwrap().unwrap();
    let mut more = More::of(&run, 1).await;
    while !enough.load(Ordering::SeqCst) {
        let mut commit = more.next().clone();
        loop {
            match store.commit(&lease, &commit).await {
                Ok(()) => break,
                Err(StoreError::Unavailable(_)) => {
                    commit.again = true;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(other) => panic!("{run}: {other}"),
            }
        }
        acknowledged.store(commit.version, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_commit_survives_a_crash_of_the_server() {
    let Some(server) = cluster::own(&[]) else { return };
    let server = Arc::new(server);
    let store = Arc::new(PostgresStore::connect(server.url("postgres").parse().unwrap()).await.unwrap());
    let mut approvals = waiting(&*store, "decided", 40).await.1.into_iter();
    let enough = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let run = format!("r{number}");
        let base = waiting(&*store, &run, 1).await;
        drop(base);
        let acknowledged = Arc::new(AtomicU64::new(0));
        let (store, enough) = (Arc::clone(&store), Arc::clone(&enough));
        let task = tokio::spawn(write(store, run.clone(), Arc::clone(&acknowledged), enough));
        writers.push((run, acknowledged, task));
    }
    let mut accepted = Vec::new();
    for crash in 0..4 {
        // All writers go on by themselves, after each crash.
        let before: Vec<_> =
            writers.iter().map(|(_, acknowledged, _)| acknowledged.load(Ordering::SeqCst)).collect();
        let all_went_on = async {
            while writers
                .iter()
                .zip(&before)
                .any(|((_, at, _), before)| at.load(Ordering::SeqCst) < before + 20)
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(ENOUGH, all_went_on).await.unwrap_or_else(|_| panic!("crash {crash}: {}", server.log()));
        for approval in approvals.by_ref().take(5) {
            let decision = decision(&format!("on {}", approval.call), &approval);
            if store.post(&decision).await.unwrap() == Posted::Accepted {
                accepted.push(decision.decision_id);
            }
        }
        let server = Arc::clone(&server);
        tokio::task::spawn_blocking(move || {
            server.stop("QUIT").unwrap();
            server.again().unwrap();
        })
        .await
        .unwrap();
    }
    enough.store(true, Ordering::SeqCst);
    for (run, acknowledged, task) in writers {
        timeout(ENOUGH, task).await.unwrap().unwrap();
        let loaded = store.load(&run).await.unwrap();
        assert_eq!(loaded.info.version, acknowledged.load(Ordering::SeqCst), "{run}");
        let stored = loaded.stored.expect("it was committed");
        assert_eq!(stored.version(), loaded.info.version);
        // One message with each commit beyond those that the run had, and none twice.
        let first = commits(&run, 1).await;
        let had: usize = first.iter().map(|commit| commit.messages.len()).sum();
        assert_eq!(loaded.messages, had as u64 + loaded.info.version - first.len() as u64, "{run}");
    }
    let kept = store.pending_signals("decided").await.unwrap().decisions;
    assert_eq!(kept.into_iter().map(|kept| kept.decision_id).collect::<Vec<_>>(), accepted);
    assert_eq!(accepted.len(), 20);
    assert!(server.log().contains("automatic recovery in progress"), "it crashed indeed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_driven_waits_for_a_server_that_comes_back() {
    let Some(server) = cluster::own(&[]) else { return };
    let options = PostgresOptions::new(&server.url("postgres")).unwrap();
    let store = Arc::new(PostgresStore::connect(options).await.unwrap());
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let lease = store.claim(&Claim::any("me", ENOUGH)).await.unwrap().unwrap();
    let loaded = store.load("r1").await.unwrap();
    server.stop("QUIT").unwrap();
    let down = store.runs(&RunQuery::all(1)).await.unwrap_err();
    assert!(matches!(down, StoreError::Unavailable(_)), "{down:?}");
    let down = PostgresStore::connect(server.url("postgres").parse().unwrap()).await.unwrap_err();
    assert!(matches!(down, StoreError::Unavailable(_)), "{down:?}");

    let driven = tokio::spawn({
        let store = Arc::clone(&store) as Arc<dyn RunStore>;
        async move { runs::go_on(store, lease, &loaded, 2, Input::message("begin")).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!driven.is_finished());
    assert_eq!(server.log().matches("database system is ready to accept connections").count(), 1);
    server.again().unwrap();
    timeout(ENOUGH, driven).await.unwrap().unwrap();
    let info = store.load("r1").await.unwrap().info;
    assert_eq!((info.status.name(), info.waiting), ("Waiting", 2));
}

#[tokio::test]
async fn each_commit_is_synced_once_whatever_the_server_is_set_to() {
    // Left to this setting, commits are acknowledged before they are durable, and one sync holds many.
    let Some(server) = cluster::own(&["synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off"])
    else {
        return;
    };
    let url = server.url("postgres");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    let (lease, _) = waiting(&store, "r1", 1).await;
    let mut more = More::of("r1", 1).await;
    drop(store);
    let before = syncs(&url).await;
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    for _ in 0..200 {
        store.commit(&lease, more.next()).await.unwrap();
    }
    drop(store);
    let counted = syncs_behind(&url, before, 200).await;
    assert!((200..=210).contains(&counted), "{counted} syncs of the log for 200 commits");
}

/// What comes in for runs is durable as well before it is acknowledged.
#[tokio::test]
async fn incoming_changes_sync_once_each_despite_server_settings() {
    let settings = ["synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off"];
    let Some(server) = cluster::own(&settings) else { return };
    let url = server.url("postgres");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    let (_, approvals) = waiting(&store, "r1", 50).await;
    drop(store);
    let before = syncs(&url).await;
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    for (number, approval) in approvals.iter().enumerate() {
        let posted = store.post(&decision(&format!("d{number}"), approval)).await.unwrap();
        assert_eq!(posted, Posted::Accepted);
        let run = format!("new {number}");
        store.create(&NewRun::new(&run, serde_json::Value::Null, 0)).await.unwrap();
        assert!(store.cancel(&run, "not needed").await.unwrap());
    }
    drop(store);
    let counted = syncs_behind(&url, before, 150).await;
    assert!(
        (150..=160).contains(&counted),
        "{counted} syncs of the log for 50 decisions, 50 runs and 50 wishes"
    );
}

/// How often the server synced its log since then: so often at least, or what it tells in the end. Up to PostgreSQL 14 it tells
/// that a little after a connection ended.
pub async fn syncs_behind(url: &str, before: i64, least: i64) -> i64 {
    for _ in 0..200 {
        let counted = syncs(url).await - before;
        if counted >= least {
            return counted;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    syncs(url).await - before
}

/// How often the server synced its log, once all of the store's connections have ended: they tell it then.
pub async fn syncs(url: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let connected = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'runstate'";
    soon(async {
        while client.query_one(connected, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let row = client.query_one("SELECT wal_sync FROM pg_stat_wal", &[]).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    row.get(0)
}

#[tokio::test]
async fn a_server_that_does_not_sync_is_refused() {
    let Some(server) = cluster::own(&["fsync=off"]) else { return };
    let refused = PostgresStore::connect(server.url("postgres").parse().unwrap()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unusable { .. }), "{refused:?}");
    assert_eq!(
        refused.to_string(),
        "the server has fsync = off, so a commit is lost with its power; set fsync = on in its configuration",
    );
}

#[tokio::test]
async fn a_page_that_is_damaged_is_told() {
    let Some(server) = cluster::own(&["autovacuum=off"]) else { return };
    let url = server.url("postgres");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    waiting(&store, "r1", 1).await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let row = client.query_one("SELECT pg_relation_filepath('runstate.messages')", &[]).await.unwrap();
    server.stop("INT").unwrap();
    let file = server.folder().join("data").join(row.get::<_, &str>(0));
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0xff;
    std::fs::write(&file, bytes).unwrap();
    server.again().unwrap();
    let told = soon(async {
        loop {
            match store.load("r1").await {
                // The connections from before are gone; the next ones are not.
                Err(StoreError::Unavailable(_)) => {}
                told => break told.unwrap_err(),
            }
        }
    })
    .await;
    assert!(matches!(told, StoreError::Unusable { .. }), "{told:?}");
    assert!(told.to_string().contains("invalid page in block 0"), "{told}");
    assert!(told.to_string().ends_with("restore the database from a backup"), "{told}");
    assert_eq!(store.runs(&RunQuery::all(2)).await.unwrap().len(), 1, "what is whole is read");
}
