//! Steps, timeline entries, events and trace lines.

use runstate::service_run::ServiceRunStatus;

use super::ServiceBench;
use super::world::{all_rows, bare, change, create};
use crate::rows::{Numbered, ServiceEvent};
use crate::store::Change;

const CREATED: ServiceRunStatus = ServiceRunStatus::Created;
const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;

fn numbers<T>(rows: &[Numbered<T>]) -> Vec<u64> {
    rows.iter().map(|row| row.seq).collect()
}

pub(super) async fn rows_are_numbered_without_a_gap(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    create(&*store, "other", CREATED).await;
    for version in 1..4 {
        store.compare_and_set("run_1", version, &change("run_1", RUNNING)).await.unwrap();
    }
    let steps = store.steps("run_1", 0, 99).await.unwrap();
    assert_eq!(numbers(&steps), [1, 2, 3, 4]);
    assert_eq!((steps[0].row.summary.as_str(), steps[1].row.summary.as_str()), ("CREATED", "RUNNING"));
    assert_eq!(steps[1].row, change("run_1", RUNNING).steps[0]);
    let timeline = store.timeline("run_1", 0, 99).await.unwrap();
    assert_eq!(numbers(&timeline), [1, 2, 3, 4]);
    assert_eq!(timeline[1].row, change("run_1", RUNNING).timeline[0]);
    let events = store.events("run_1", 0, 99).await.unwrap();
    assert_eq!(numbers(&events), (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(store.trace("run_1", 0, 99).await.unwrap().len(), 4);
    assert_eq!(store.load("run_1").await.unwrap().trace_lines, 4);
    assert_eq!(store.steps("other", 0, 99).await.unwrap().len(), 1, "each run has numbers of its own");
}

pub(super) async fn rows_are_paged(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    for version in 1..6 {
        store.compare_and_set("run_1", version, &change("run_1", RUNNING)).await.unwrap();
    }
    assert_eq!(numbers(&store.steps("run_1", 2, 3).await.unwrap()), [3, 4, 5]);
    assert_eq!(numbers(&store.timeline("run_1", 5, 3).await.unwrap()), [6]);
    assert_eq!(numbers(&store.events("run_1", 1, 2).await.unwrap()), [2, 3]);
    assert_eq!(store.events("run_1", 999, 2).await.unwrap(), []);
    let trace = store.trace("run_1", 0, 99).await.unwrap();
    assert_eq!(store.trace("run_1", 1, 2).await.unwrap(), trace[1..3]);
    assert_eq!(store.steps("run_1", 0, 0).await.unwrap(), []);
}

pub(super) async fn events_follow_from_the_change(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    let (next, empty) = (change("run_1", RUNNING), bare("run_1", RUNNING));
    store.compare_and_set("run_1", 1, &next).await.unwrap();
    store.compare_and_set("run_1", 2, &empty).await.unwrap();
    store.compare_and_set("run_1", 3, &next).await.unwrap();
    let expected = |change: &Change, before| change.events(before);
    let events = [
        expected(&change("run_1", CREATED), None),
        expected(&next, Some(CREATED)),
        expected(&empty, Some(RUNNING)),
        expected(&next, Some(RUNNING)),
    ];
    let stored = store.events("run_1", 0, 99).await.unwrap();
    assert_eq!(stored.into_iter().map(|event| event.row).collect::<Vec<_>>(), events.concat());
    let rows = all_rows(&*bench.store().await, "run_1").await;
    assert_eq!(rows, all_rows(&*store, "run_1").await, "each handle reads them");
}

pub(super) async fn end_is_the_last_event(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    store.compare_and_set("run_1", 1, &change("run_1", ServiceRunStatus::Blocked)).await.unwrap();
    let events = store.events("run_1", 0, 99).await.unwrap();
    let is_end = |event: &ServiceEvent| matches!(event, ServiceEvent::End { .. });
    let ends: Vec<usize> =
        events.iter().enumerate().filter(|(_, event)| is_end(&event.row.event)).map(|(i, _)| i).collect();
    assert_eq!(ends, [events.len() - 1]);
}
