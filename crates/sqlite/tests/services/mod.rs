//! Service runs in the file: their contract, other processes, and any texts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::Running;
use runstate_agent::async_trait;
use runstate_runtime::clock::SetClock;
use runstate_service::testing::{ServiceBench, example_change as change};
use runstate_service::{ListQuery, ServiceCursor, ServiceStore, ServiceStoreError};
use runstate_sqlite::{Options, SqliteStore};
use serde_json::json;
use tempfile::TempDir;

use crate::child::{go, patient, start, told};

struct Folder(TempDir, SetClock);

#[async_trait]
impl ServiceBench for Folder {
    async fn store(&self) -> Arc<dyn ServiceStore> {
        let path = self.0.path().join("runs.db");
        Arc::new(SqliteStore::open_by(path, patient(), self.1.clone()).unwrap())
    }

    fn clock(&self) -> &SetClock {
        &self.1
    }

    async fn spoil_status(&self, run: &str, status: &str) -> bool {
        let theirs = rusqlite::Connection::open(self.0.path().join("runs.db")).unwrap();
        theirs.execute("UPDATE service_runs SET status = ?2 WHERE id = ?1", [run, status]).unwrap() == 1
    }
}

pub(crate) mod kills;
mod rows;

mod conformance {
    runstate_service::service_store_conformance!(async {
        super::Folder(tempfile::tempdir().unwrap(), super::SetClock::default())
    });
}

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

fn open_with(path: &Path, options: Options) -> Arc<dyn ServiceStore> {
    Arc::new(SqliteStore::open_with(path, options).unwrap())
}

fn open(path: &Path) -> Arc<dyn ServiceStore> {
    open_with(path, patient())
}

async fn create(store: &dyn ServiceStore, run: &str) {
    store.create(run, &change(run, Running, "send 5")).await.unwrap();
}

/// The work of another process.
pub(crate) async fn create_as_child(path: &Path) {
    create(&*open(path), "of a child").await;
}

#[tokio::test]
async fn change_by_another_process_wakes_waiters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    let waits = tokio::spawn(async move { store.changes(ServiceCursor::default(), 9, LONG).await });
    let mut children = vec![start("service", &path)];
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waits.is_finished(), "nothing has changed");
    go(&mut children);
    let seen = tokio::time::timeout(MINUTE, waits).await.unwrap().unwrap().unwrap();
    assert_eq!(seen.runs, ["of a child"]);
    told(children);
}

#[tokio::test]
async fn change_by_the_same_handle_wakes_waiters_without_a_poll() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_with(&folder.path().join("runs.db"), Options::default().polling(LONG));
    let waiting = Arc::clone(&store);
    let waits = tokio::spawn(async move { waiting.changes(ServiceCursor::default(), 9, LONG).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    create(&*store, "r1").await;
    let seen = tokio::time::timeout(MINUTE, waits).await.unwrap().unwrap().unwrap();
    assert_eq!(seen.runs, ["r1"]);
}

#[tokio::test]
async fn leases_end_with_a_boot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let booted = |boot: &str, ticks: u64| -> Arc<dyn ServiceStore> {
        let clock = SetClock::at(1_000_000).booted(boot, ticks);
        Arc::new(SqliteStore::open_by(&path, Options::default(), clock).unwrap())
    };
    let store = booted("b1", 900_000);
    create(&*store, "r1").await;
    let old = store.claim(None, "me", MINUTE).await.unwrap().unwrap();
    assert!(matches!(store.claim(Some("r1"), "you", MINUTE).await, Err(ServiceStoreError::Held { .. })));
    drop(store);
    let store = booted("b2", 5);
    let new = store.claim(None, "you", MINUTE).await.unwrap().unwrap();
    assert_eq!((&*new.run, new.fence), ("r1", 2));
    let refused = store.commit(&old, 1, &change("r1", Running, "late"), None).await.unwrap_err();
    assert!(matches!(refused, ServiceStoreError::Fenced { fence: 1, current: 2, .. }), "{refused}");
}

#[tokio::test]
async fn texts_may_have_any_characters_and_are_found_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("runs.db"));
    for (run, intent) in [("a\0b", "nul \0 here"), ("'; DROP", "ÄRGER für Ωmega"), ("ÉCOLE", "\u{1}\u{2}")]
    {
        store.create(run, &change(run, Running, intent)).await.unwrap();
        let loaded = store.load(run).await.unwrap();
        assert_eq!((&*loaded.id, &*loaded.intent), (run, intent));
        assert_eq!(loaded.artifacts["plan"], json!({ "intent": intent }));
        let step = store.steps(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(step, change(run, Running, intent).steps[0]);
        let event = store.events(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(event, change(run, Running, intent).events(None)[0]);
    }
    for (text, expected) in [
        ("ärger FÜR ωMEGA", vec!["'; DROP"]),
        ("école", vec!["ÉCOLE"]),
        ("\0", vec!["a\0b"]),
        ("\u{2}", vec!["ÉCOLE"]),
        ("", vec!["ÉCOLE", "a\0b", "'; DROP"]),
        ("herea", vec![]),
    ] {
        let query = ListQuery { text: Some(text.to_owned()), counts: true, ..ListQuery::first(9) };
        let page = store.list(&query).await.unwrap();
        let found: Vec<&str> = page.runs.iter().map(|run| &*run.id).collect();
        assert_eq!(found, expected, "{text:?}");
        let counts = page.counts.unwrap();
        assert_eq!(counts.get("RUNNING").copied().unwrap_or(0), expected.len(), "{text:?}");
    }
}

#[tokio::test]
async fn value_that_could_not_be_read_again_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("runs.db"));
    create(&*store, "r1").await;
    let before = store.load("r1").await.unwrap();
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    for (value, why) in [
        (json!("x".repeat(64 << 20)), "67108864 bytes of a row"),
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
    next.artifacts.insert("large".to_owned(), Some(json!("x".repeat((64 << 20) - 1_000))));
    store.compare_and_set("r1", 1, &next).await.unwrap();
    assert_eq!(
        store.load("r1").await.unwrap().artifacts,
        [
            ("plan".to_owned(), json!({ "intent": "more" })),
            ("large".to_owned(), next.artifacts["large"].clone().unwrap()),
        ]
        .into()
    );
}

#[tokio::test]
async fn runs_of_agents_and_service_runs_have_ids_of_their_own() {
    use runstate_store::{Claim, NewRun, RunData, RunQueue};
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("runs.db")).unwrap();
    RunData::create(&store, &NewRun::new("r1", json!(1), 0)).await.unwrap();
    ServiceStore::create(&store, "r1", &change("r1", Running, "send 5")).await.unwrap();
    let of_agents = RunQueue::claim(&store, &Claim::any("me", MINUTE)).await.unwrap().unwrap();
    let of_service = ServiceStore::claim(&store, None, "me", MINUTE).await.unwrap().unwrap();
    assert_eq!((&*of_agents.run, &*of_service.run), ("r1", "r1"));
    assert!(RunQueue::claim(&store, &Claim::any("me", MINUTE)).await.unwrap().is_none());
}
