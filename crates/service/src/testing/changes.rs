//! Notifications of changes.

use std::collections::BTreeSet;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;
use tokio::time::Instant;

use super::ServiceBench;
use super::world::{change, create};
use crate::store::{ListQuery, ServiceCursor};

const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;
const SOON: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(60);

pub(super) async fn changes_list_runs_after_the_cursor(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    create(&*store, "run_2", RUNNING).await;
    let first = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap();
    assert_eq!(first.runs, ["run_1", "run_2"]);
    store.compare_and_set("run_2", 1, &change("run_2", RUNNING)).await.unwrap();
    store.compare_and_set("run_2", 2, &change("run_2", RUNNING)).await.unwrap();
    let second = store.changes(first.cursor, 9, LONG).await.unwrap();
    assert_eq!(second.runs, ["run_2"], "once");
    assert!(second.cursor > first.cursor);
    // Another watcher has a cursor of its own.
    assert_eq!(bench.store().await.changes(first.cursor, 9, LONG).await.unwrap().runs, ["run_2"]);
}

pub(super) async fn changes_are_paged(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in ["b", "a", "c"] {
        create(&*store, run, RUNNING).await;
    }
    store.compare_and_set("b", 1, &change("b", RUNNING)).await.unwrap();
    let (mut cursor, mut seen) = (ServiceCursor::default(), Vec::new());
    for _ in 0..2 {
        let page = store.changes(cursor, 2, LONG).await.unwrap();
        seen.push(page.runs);
        cursor = page.cursor;
    }
    assert_eq!(seen, [vec!["a", "c"], vec!["b"]], "in the order of the last changes");
    assert_eq!(store.changes(cursor, 2, SOON).await.unwrap().runs.len(), 0);
}

pub(super) async fn waiting_for_changes_ends_with_the_timeout(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let cursor = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap().cursor;
    let began = Instant::now();
    let none = store.changes(cursor, 9, SOON).await.unwrap();
    assert_eq!((none.runs.len(), none.cursor), (0, cursor));
    assert!(began.elapsed() >= SOON);
    // A refused change is no change.
    store.compare_and_set("run_1", 9, &change("run_1", RUNNING)).await.unwrap_err();
    assert_eq!(store.changes(cursor, 9, SOON).await.unwrap().runs.len(), 0);
}

pub(super) async fn waiting_for_changes_ends_with_a_change(bench: &dyn ServiceBench) {
    let (store, other) = (bench.store().await, bench.store().await);
    create(&*store, "run_1", RUNNING).await;
    let cursor = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap().cursor;
    let began = Instant::now();
    let waits = store.changes(cursor, 9, LONG);
    let changes = async {
        tokio::time::sleep(SOON).await;
        let next = change("run_1", RUNNING);
        other.compare_and_set("run_1", 1, &next).await.unwrap();
    };
    let (seen, ()) = futures_util::future::join(waits, changes).await;
    assert_eq!(seen.unwrap().runs, ["run_1"]);
    assert!(began.elapsed() < LONG);
}

pub(super) async fn current_cursor_is_after_all_changes(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    assert_eq!(store.current_cursor().await.unwrap(), ServiceCursor::default(), "an empty store");
    for run in ["run_1", "run_2"] {
        create(&*store, run, RUNNING).await;
    }
    store.compare_and_set("run_1", 1, &change("run_1", RUNNING)).await.unwrap();
    let cursor = bench.store().await.current_cursor().await.unwrap();
    assert_eq!(store.changes(cursor, 9, SOON).await.unwrap().runs.len(), 0, "no history");
    store.compare_and_set("run_2", 1, &change("run_2", RUNNING)).await.unwrap();
    assert_eq!(store.changes(cursor, 9, LONG).await.unwrap().runs, ["run_2"]);
}

pub(super) async fn stamp_differs_after_each_change(bench: &dyn ServiceBench) {
    let (store, other) = (bench.store().await, bench.store().await);
    let Some(first) = store.stamp() else { return };
    let mut seen = BTreeSet::from([first]);
    let mut is_new = |what: &str| {
        let stamp = store.stamp().unwrap();
        assert!(seen.insert(stamp), "{what}: {stamp} of {seen:?}");
        assert_eq!(store.stamp(), Some(stamp), "{what}");
        stamp
    };
    create(&*store, "run_1", RUNNING).await;
    is_new("a new run");
    let blocked = change("run_1", ServiceRunStatus::Blocked);
    other.compare_and_set("run_1", 1, &blocked).await.unwrap();
    let stamp = is_new("a change by another process");
    store.load("run_1").await.unwrap();
    other.list(&ListQuery::first(9)).await.unwrap();
    store.compare_and_set("run_1", 1, &blocked).await.unwrap_err();
    assert_eq!(store.stamp(), Some(stamp), "reads, and a refused change");
    other.delete("run_1").await.unwrap();
    is_new("a removal");
}
