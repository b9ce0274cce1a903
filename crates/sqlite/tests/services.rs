//! Service runs in the file: their contract, other processes, and rows of other programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::{self, Running};
use runstate::service_run::{AnyServiceRun, Block, ServiceRun, ServiceRunRecord, Start};
use runstate::snapshot::Snapshot;
use runstate_agent::async_trait;
use runstate_runtime::clock::SetClock;
use runstate_service::testing::ServiceBench;
use runstate_service::{
    Change, KeyedAnswer, ListQuery, RequestKey, RunStep, ServiceCursor, ServiceLease, ServiceStore,
    ServiceStoreError, Step, StepPhase, TimelineEntry, TimelineStatus,
};
use runstate_sqlite::{Options, SqliteStore};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::child::{go, patient, start, told};
use crate::files::force;

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
}

mod conformance {
    runstate_service::service_store_conformance!(async {
        super::Folder(tempfile::tempdir().unwrap(), super::SetClock::default())
    });
}

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

fn change(run: &str, status: ServiceRunStatus, intent: &str) -> Change {
    let new = ServiceRun::new(ServiceRunRecord::new(run, intent));
    let machine: AnyServiceRun = match status {
        ServiceRunStatus::Created => new.into(),
        Running => new.start(Start).into(),
        ServiceRunStatus::Blocked => new.start(Start).block(Block::new("a rule")).into(),
        other => unreachable!("no test needs a run in {other}"),
    };
    Change {
        at_ms: 1_000,
        status,
        final_status: machine.final_status(),
        current_step: Some(RunStep::RunCreated.into()),
        intent: intent.to_owned(),
        machine: Snapshot::of(&machine).unwrap(),
        pass: None,
        artifacts: BTreeMap::from([("plan".to_owned(), Some(json!({ "intent": intent })))]),
        steps: vec![Step {
            at_ms: 1_000,
            pass: 0,
            attempt: 0,
            step: RunStep::RunCreated.into(),
            phase: StepPhase::Done,
            actor: Some("ada".to_owned()),
            summary: intent.to_owned(),
            data: json!({ "of": [run, 1.5, null] }),
        }],
        timeline: vec![TimelineEntry {
            step: runstate::service_pass::ServicePassStatus::PlanTx,
            status: TimelineStatus::Ok,
            title: "planned".to_owned(),
            summary: intent.to_owned(),
            attempt: 1,
            pass: 1,
            at_ms: 1_000,
        }],
        trace: vec!["{}".to_owned()],
        requested_by: Some("ada".to_owned()),
        answer: None,
    }
}

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
        let query = ListQuery { text: Some(text.to_owned()), ..ListQuery::first(9) };
        let page = store.list(&query).await.unwrap();
        let found: Vec<&str> = page.runs.iter().map(|run| &*run.id).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(page.counts.get(&Running).copied().unwrap_or(0), expected.len(), "{text:?}");
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

/// The errors of all operations on the run, as one text.
async fn errors(store: &dyn ServiceStore, run: &str) -> String {
    let next = change(run, Running, "next");
    let version = store.load(run).await.map_or(1, |run| run.version);
    let errors = [
        store.load(run).await.map(drop),
        store.list(&ListQuery::first(9)).await.map(drop),
        store.steps(run, 0, 9).await.map(drop),
        store.timeline(run, 0, 9).await.map(drop),
        store.events(run, 0, 9).await.map(drop),
        store.trace(run, 0, 9).await.map(drop),
        store.compare_and_set(run, version, &next).await.map(drop),
        store.claim(Some(run), "me", MINUTE).await.map(drop),
    ];
    let told = errors.into_iter().filter_map(Result::err).map(|error| {
        use ServiceStoreError::{Failed, NoRun, Version};
        assert!(matches!(error, Failed(_) | NoRun { .. } | Version { .. }), "{error:?}");
        format!("{error}\n")
    });
    told.collect()
}

#[tokio::test]
async fn unreadable_row_is_named_in_the_error() {
    for (table, value, place) in [
        ("service_runs", "status = 'EXECUTING'", "service_runs.status of the run \"r1\""),
        ("service_runs", "final_status = 'MAYBE'", "service_runs.final_status of the run \"r1\""),
        ("service_runs", "current_step = 'NOWHERE'", "service_runs.current_step of the run \"r1\""),
        ("service_runs", "version = -1", "service_runs.version of the run \"r1\""),
        ("service_runs", "version = 9223372036854775807", "service_runs.version of the run \"r1\""),
        ("service_runs", "trace_lines = 9223372036854775807", "service_runs.trace_lines of the run \"r1\""),
        ("service_runs", "requested_by = '{}'", "service_runs.requested_by of the run \"r1\""),
        ("service_runs", "machine = '{'", "service_runs.machine of the run \"r1\""),
        ("service_runs", "pass = 'null'", "service_runs.pass of the run \"r1\""),
        ("service_runs", "intent = x'00'", "service_runs.intent of the run \"r1\""),
        ("service_runs", "machine = x'00'", "service_runs.machine of the run \"r1\""),
        ("service_runs", "status = NULL", "service_runs.status of the run \"r1\""),
        ("service_artifacts", "json = '['", "service_artifacts.json of the row \"plan\" of the run \"r1\""),
        ("service_steps", "json = '{}'", "service_steps.json of the row 1 of the run \"r1\""),
        ("service_steps", "json = x'00'", "service_steps.json of the row \"1\" of the run \"r1\""),
        ("service_timeline", "json = '1'", "service_timeline.json of the row 1 of the run \"r1\""),
        ("service_events", "json = ''", "service_events.json of the row 1 of the run \"r1\""),
        ("service_trace", "json = x'ff'", "service_trace.json of the row \"1\" of the run \"r1\""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store = open(&path);
        create(&*store, "r1").await;
        create(&*store, "r2").await;
        drop(store);
        let of_r1 = if table == "service_runs" { "id = 'r1'" } else { "run = 'r1' AND rowid_or_first" };
        let of_r1 =
            of_r1.replace("rowid_or_first", if table == "service_artifacts" { "1" } else { "seq = 1" });
        force(&path, table, &format!("UPDATE {table} SET {value} WHERE {of_r1}"));
        let store = open(&path);
        let told = errors(&*store, "r1").await;
        assert!(told.contains(place), "{table} {value}: {told}");
        // The other run is not affected.
        store.load("r2").await.unwrap();
        store.compare_and_set("r2", 1, &change("r2", Running, "next")).await.unwrap();
        let lease = store.claim(Some("r2"), "me", MINUTE).await.unwrap().unwrap();
        store.commit(&lease, 2, &change("r2", Running, "next"), None).await.unwrap();
    }
}

#[tokio::test]
async fn row_that_takes_no_change_holds_up_no_other() {
    for value in
        ["intent = x'fffe'", "change = x'00'", "lost = 1.5", "fence = 'x'", "id = CAST(x'ff' AS TEXT)"]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store = open(&path);
        for run in ["r1", "r2"] {
            let mut new = change(run, Running, "send 5");
            (new.artifacts, new.steps, new.timeline, new.trace) = Default::default();
            store.create(run, &new).await.unwrap();
        }
        drop(store);
        let theirs = Connection::open(&path).unwrap();
        theirs.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM service_events").unwrap();
        drop(theirs);
        force(&path, "service_runs", &format!("UPDATE service_runs SET {value} WHERE id = 'r1'"));
        let store = open(&path);
        let lease = store.claim(None, "me", MINUTE).await.unwrap();
        let lease = match lease {
            Some(lease) if lease.run == "r1" => store.claim(None, "me", MINUTE).await.unwrap(),
            lease => lease,
        };
        assert_eq!(lease.map(|lease| lease.run).as_deref(), Some("r2"), "{value}");
    }
}

#[tokio::test]
async fn counts_of_another_program_hide_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    create(&*store, "r1").await;
    create(&*store, "r2").await;
    let next = async |cursor: ServiceCursor| {
        let changes = store.changes(cursor, 9, Duration::ZERO).await.unwrap();
        (changes.runs, changes.cursor)
    };
    let execute = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let (runs, cursor) = next(ServiceCursor::default()).await;
    assert_eq!(runs, ["r1", "r2"]);
    // A number without a change moves no cursor.
    execute("UPDATE service_runs SET change = 9223372036854775807 WHERE id = 'r2'");
    assert_eq!(next(cursor).await, (vec![], cursor));
    store.compare_and_set("r1", 1, &change("r1", Running, "more")).await.unwrap();
    let (runs, cursor) = next(cursor).await;
    assert_eq!(runs, ["r1"]);
    // A cursor from before the restoration of a backup lists all runs again.
    execute("UPDATE service_news SET changes = 1; UPDATE service_runs SET change = 1 WHERE id = 'r1'");
    let (runs, cursor) = next(cursor).await;
    assert_eq!((runs, cursor), (vec!["r1".to_owned()], ServiceCursor::new(1)));
    for spoil in ["DELETE FROM service_news", "UPDATE service_news SET changes = 9223372036854775807"] {
        execute(spoil);
        let version = store.load("r1").await.unwrap().version;
        store.compare_and_set("r1", version, &change("r1", Running, "more")).await.unwrap();
        assert_eq!(
            next(ServiceCursor::new(9)).await,
            (vec!["r1".to_owned()], ServiceCursor::new(1)),
            "{spoil}"
        );
    }
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

/// All operations on all runs, and what each run that is sound must still allow.
async fn asked(store: &dyn ServiceStore, spoilt: &str) {
    drop(errors(store, "r1").await);
    let changes = store.changes(ServiceCursor::default(), 9, Duration::ZERO).await;
    let answer = store.answer(&key(), 1_000).await;
    let release = store.release(&ServiceLease { run: "r1".to_owned(), fence: 1 }).await;
    let removed = store.delete("r1").await;
    for error in [changes.err(), answer.err(), release.err(), removed.err()].into_iter().flatten() {
        assert!(!error.to_string().contains("panic"), "{spoilt}: {error}");
    }
    let mut claimed = None;
    for _ in 0..2 {
        claimed = store.claim(None, "me", MINUTE).await.unwrap().filter(|lease| lease.run == "r2");
        if claimed.is_some() {
            break;
        }
    }
    let lease = claimed.unwrap_or_else(|| panic!("{spoilt}: no claim of the other run"));
    assert_eq!(store.commit(&lease, 2, &change("r2", Running, "next"), None).await.unwrap(), 3, "{spoilt}");
    assert_eq!(store.load("r2").await.unwrap().intent, "next", "{spoilt}");
    for rows in
        [store.steps("r2", 0, 9).await.unwrap().len(), store.timeline("r2", 0, 9).await.unwrap().len()]
    {
        assert_eq!(rows, 3, "{spoilt}");
    }
}

fn key() -> RequestKey {
    RequestKey { principal: "ada".to_owned(), key: "k".to_owned() }
}

/// Each column has values of each type in turn.
#[tokio::test]
async fn hostile_column_value_breaks_no_reader_and_holds_up_no_other_run() {
    const VALUES: [&str; 6] =
        ["NULL", "-9223372036854775808", "9223372036854775807", "1.5", "x'00ff'", "CAST(x'fffe' AS TEXT)"];
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound.db");
    let store = open(&sound);
    for run in ["r1", "r2"] {
        create(&*store, run).await;
        store.compare_and_set(run, 1, &change(run, Running, "more")).await.unwrap();
    }
    let kept = KeyedAnswer { key: key(), digest: "d".to_owned(), answer: json!(1) };
    let answered = Change { answer: Some(kept), ..change("r3", ServiceRunStatus::Blocked, "more") };
    store.create("r3", &answered).await.unwrap();
    drop(store);
    let conn = Connection::open(&sound).unwrap();
    let mut columns = conn
        .prepare(
            "SELECT t.name, c.name, c.pk > 0 FROM pragma_table_list t, pragma_table_info(t.name) c \
             WHERE t.schema = 'main' AND t.name LIKE 'service_%' AND t.name NOT IN ('service_news', 'service_removed') \
                 AND c.name NOT IN ('id', 'run')",
        )
        .unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let columns: Vec<(String, String, bool)> = columns.collect::<Result<_, _>>().unwrap();
    assert!(columns.len() > 30, "{columns:?}");
    let path = folder.path().join("spoilt.db");
    for (table, column, is_key) in columns {
        for value in VALUES.into_iter().filter(|value| !(is_key && *value == "NULL")) {
            let which = match &*table {
                "service_runs" => "id = 'r1'",
                "service_answers" => "principal = 'ada'",
                "service_artifacts" => "run = 'r1'",
                _ => "run = 'r1' AND seq = 1",
            };
            let spoil = format!("UPDATE {table} SET {column} = {value} WHERE {which}");
            std::fs::copy(&sound, &path).unwrap();
            force(&path, &table, &spoil);
            asked(&*open(&path), &spoil).await;
        }
    }
}
