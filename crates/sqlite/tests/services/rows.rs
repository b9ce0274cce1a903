//! Rows that another program wrote.

use std::collections::BTreeSet;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::{self, Running};
use runstate_service::{
    Change, KeyedAnswer, ListQuery, ListSort, RequestKey, ServiceCursor, ServiceLease, ServiceStore,
    ServiceStoreError,
};
use rusqlite::Connection;
use serde_json::json;

use super::{MINUTE, change, create, open};
use crate::files::force;

/// The errors of all operations on the run, as one text.
async fn errors(store: &dyn ServiceStore, run: &str) -> String {
    let next = change(run, Running, "next");
    let version = store.load(run).await.map_or(1, |run| run.version);
    let errors = [
        store.load(run).await.map(drop),
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
    let page = store.list(&ListQuery { counts: true, ..ListQuery::first(9) }).await.unwrap();
    let unreadable = page.unreadable.iter().map(|run| format!("{}: {}\n", run.id, run.reason));
    told.chain(unreadable).collect()
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

/// A list goes on behind a row whose place cannot be read.
#[tokio::test]
async fn unreadable_row_fails_no_page() {
    for (value, reason) in [
        ("id = CAST(x'ff' AS TEXT)", "service_runs.id of the run"),
        ("created_at_ms = x'00'", "service_runs.created_at_ms of the run"),
        ("created_at_ms = -5", "service_runs.created_at_ms of the run \"r1\": it is no time"),
        (
            "intent = printf('%.*c', 67108865, 'x')",
            "service_runs.intent of the run \"r1\": it has more bytes",
        ),
        (
            "status = printf('%.*c', 67108865, 'x')",
            "service_runs.status of the run \"r1\": it has more bytes",
        ),
        ("status = NULL", "service_runs.status of the run \"r1\": it is NULL"),
        ("current_step = printf('%.*c', 9000, 'x')", "service_runs.current_step of the run \"r1\": "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store = open(&path);
        for run in ["r0", "r1", "r2"] {
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
        for (sort, expected) in [(ListSort::Newest, ["r2", "r0"]), (ListSort::Oldest, ["r0", "r2"])] {
            let mut query = ListQuery { sort, counts: true, ..ListQuery::first(1) };
            let (mut runs, mut unreadable) = (Vec::new(), BTreeSet::new());
            for _ in 0..9 {
                let page = store.list(&query).await.unwrap_or_else(|error| panic!("{value}: {error}"));
                runs.extend(page.runs.into_iter().map(|run| run.id));
                unreadable.extend(page.unreadable.into_iter().map(|run| run.reason));
                assert!(page.counts.unwrap()["RUNNING"] >= 2, "{value}");
                query.after = page.next;
                if query.after.is_none() {
                    break;
                }
            }
            assert_eq!(runs, expected, "{value}");
            let unreadable: Vec<_> = unreadable.into_iter().collect();
            assert!(unreadable.len() == 1 && unreadable[0].starts_with(reason), "{value}: {unreadable:?}");
            assert!(unreadable[0].chars().count() <= 301, "{value}");
        }
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

/// All operations on all runs, and the operations that each sound run must still allow.
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
             WHERE t.schema = 'main' AND t.name LIKE 'service_%' AND t.name NOT IN ('service_hashes', 'service_news', 'service_removed') \
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
