//! Creations, changes and removals.

use std::time::Duration;

use futures_util::future::join_all;
use runstate::service_run::ServiceRunStatus;
use serde_json::json;

use super::ServiceBench;
use super::world::{all_rows, bare, change, create};
use crate::store::{ServiceLease, ServiceStoreError, StoredRun};

const CREATED: ServiceRunStatus = ServiceRunStatus::Created;
const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;
const BLOCKED: ServiceRunStatus = ServiceRunStatus::Blocked;

pub(super) async fn run_is_created_once(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    let other = bench.store().await;
    let error = other.create("run_1", &change("run_1", RUNNING)).await.unwrap_err();
    assert!(matches!(&error, ServiceStoreError::Taken { run } if run == "run_1"), "{error}");
    assert_eq!(store.load("run_1").await.unwrap().status, CREATED);
}

pub(super) async fn concurrent_creations_create_one_run(bench: &dyn ServiceBench) {
    let mut handles = Vec::new();
    for _ in 0..8 {
        handles.push(bench.store().await);
    }
    let new = change("run_1", CREATED);
    let created = join_all(handles.iter().map(|store| store.create("run_1", &new))).await;
    assert_eq!(created.iter().filter(|result| result.is_ok()).count(), 1);
}

pub(super) async fn created_run_is_loaded_unchanged(bench: &dyn ServiceBench) {
    let mut new = change("run_1", RUNNING);
    new.requested_by = Some("ada".into());
    bench.store().await.create("run_1", &new).await.unwrap();
    let loaded = bench.store().await.load("run_1").await.unwrap();
    let expected = StoredRun {
        id: "run_1".into(),
        version: 1,
        created_at_ms: new.at_ms,
        updated_at_ms: new.at_ms,
        status: new.status,
        final_status: None,
        current_step: new.current_step,
        intent: new.intent,
        machine: new.machine,
        pass: new.pass,
        artifacts: [("normalized_intent".to_owned(), json!("RUNNING"))].into(),
        requested_by: ["ada".to_owned()].into(),
        trace_lines: 1,
        lost: 0,
    };
    assert_eq!(loaded, expected);
}

pub(super) async fn change_needs_the_current_version(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    let next = change("run_1", RUNNING);
    assert_eq!(store.compare_and_set("run_1", 1, &next).await.unwrap(), 2);
    for version in [0, 1, 3] {
        let error = store.compare_and_set("run_1", version, &next).await.unwrap_err();
        let ServiceStoreError::Version { got, current, .. } = error else { panic!("{error}") };
        assert_eq!((got, current), (version, 2));
    }
}

pub(super) async fn refused_change_stores_nothing(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    let (run, rows) = (store.load("run_1").await.unwrap(), all_rows(&*store, "run_1").await);
    store.compare_and_set("run_1", 7, &change("run_1", RUNNING)).await.unwrap_err();
    assert_eq!(store.load("run_1").await.unwrap(), run);
    assert_eq!(all_rows(&*store, "run_1").await, rows);
}

pub(super) async fn one_of_concurrent_changes_wins(bench: &dyn ServiceBench) {
    create(&*bench.store().await, "run_1", ServiceRunStatus::AwaitingApproval).await;
    let mut handles = Vec::new();
    for _ in 0..8 {
        handles.push(bench.store().await);
    }
    let decisions =
        [change("run_1", ServiceRunStatus::ApprovedReady), change("run_1", ServiceRunStatus::Rejected)];
    let decided = handles
        .iter()
        .enumerate()
        .map(async |(place, store)| store.compare_and_set("run_1", 1, &decisions[place % 2]).await.is_ok());
    let won = join_all(decided).await;
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    let winner = won.iter().position(|won| *won).unwrap();
    let run = bench.store().await.load("run_1").await.unwrap();
    assert_eq!((run.status, run.version), (decisions[winner % 2].status, 2));
}

pub(super) async fn artifacts_are_replaced_and_removed(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", CREATED).await;
    let mut next = bare("run_1", RUNNING);
    next.artifacts = [
        ("normalized_intent".to_owned(), Some(json!(null))),
        ("tx_plan".to_owned(), Some(json!({ "actions": [] }))),
        ("decision".to_owned(), None),
    ]
    .into();
    store.compare_and_set("run_1", 1, &next).await.unwrap();
    let artifacts = store.load("run_1").await.unwrap().artifacts;
    assert_eq!(json!(artifacts), json!({ "normalized_intent": null, "tx_plan": { "actions": [] } }));
    next.artifacts = [("normalized_intent".to_owned(), None)].into();
    store.compare_and_set("run_1", 2, &next).await.unwrap();
    let artifacts = store.load("run_1").await.unwrap().artifacts;
    assert_eq!(json!(artifacts), json!({ "tx_plan": { "actions": [] } }));
}

pub(super) async fn transaction_belongs_to_one_run(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in ["run_1", "run_2"] {
        create(&*store, run, RUNNING).await;
    }
    let mut takes = change("run_1", RUNNING);
    takes.hashes = vec!["1:0xa".into(), "1:0xb".into()];
    store.compare_and_set("run_1", 1, &takes).await.unwrap();
    // The run itself may have it again.
    store.compare_and_set("run_1", 2, &takes).await.unwrap();
    let (row, rows) = (store.load("run_2").await.unwrap(), all_rows(&*store, "run_2").await);
    let mut other = change("run_2", RUNNING);
    other.hashes = vec!["1:0xc".into(), "1:0xb".into()];
    let error = bench.store().await.compare_and_set("run_2", 1, &other).await.unwrap_err();
    assert!(matches!(&error, ServiceStoreError::HashTaken { hash } if hash == "1:0xb"), "{error}");
    assert_eq!(store.load("run_2").await.unwrap(), row);
    assert_eq!(all_rows(&*store, "run_2").await, rows);
    // A removed run keeps its transactions.
    let over = change("run_1", BLOCKED);
    store.compare_and_set("run_1", 3, &over).await.unwrap();
    store.delete("run_1").await.unwrap();
    store.compare_and_set("run_2", 1, &other).await.unwrap_err();
    other.hashes = vec!["1:0xc".into(), "2:0xb".into()];
    store.compare_and_set("run_2", 1, &other).await.unwrap();
}

pub(super) async fn unknown_run_is_an_error(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    let lease = ServiceLease { run: "run_1".into(), fence: 1 };
    let term = Duration::from_secs(1);
    let next = change("run_1", RUNNING);
    let errors = [
        store.load("run_1").await.map(drop),
        store.claim(Some("run_1"), "me", term).await.map(drop),
        store.renew(&lease, term).await,
        store.release(&lease).await,
        store.commit(&lease, 1, &next, None).await.map(drop),
        store.compare_and_set("run_1", 1, &next).await.map(drop),
        store.steps("run_1", 0, 1).await.map(drop),
        store.timeline("run_1", 0, 1).await.map(drop),
        store.events("run_1", 0, 1).await.map(drop),
        store.trace("run_1", 0, 1).await.map(drop),
        store.delete("run_1").await,
    ];
    for (place, error) in errors.into_iter().enumerate() {
        let error = error.unwrap_err();
        assert!(matches!(&error, ServiceStoreError::NoRun { run } if run == "run_1"), "{place}: {error}");
    }
}

pub(super) async fn removed_run_is_gone_and_its_id_taken(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", BLOCKED).await;
    store.delete("run_1").await.unwrap();
    let other = bench.store().await;
    assert!(matches!(other.load("run_1").await, Err(ServiceStoreError::NoRun { .. })));
    assert!(matches!(other.steps("run_1", 0, 9).await, Err(ServiceStoreError::NoRun { .. })));
    let again = other.create("run_1", &change("run_1", CREATED)).await.unwrap_err();
    assert!(matches!(again, ServiceStoreError::Taken { .. }), "{again}");
}

pub(super) async fn unfinished_run_is_not_removed(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for status in [CREATED, RUNNING, ServiceRunStatus::AwaitingApproval, ServiceRunStatus::ApprovedReady] {
        let run = status.name();
        create(&*store, run, status).await;
        let error = store.delete(run).await.unwrap_err();
        assert!(matches!(error, ServiceStoreError::NotOver { status: got, .. } if got == status), "{status}");
        assert!(store.load(run).await.is_ok());
    }
}
