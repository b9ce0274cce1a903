//! Answers to requests with a key.

use runstate::service_run::ServiceRunStatus;
use serde_json::json;

use super::ServiceBench;
use super::world::{NOW, all_rows, change, create};
use crate::store::{Change, KeyedAnswer, RequestKey, ServiceStoreError};

const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;

fn key(principal: &str, key: &str) -> RequestKey {
    RequestKey { principal: principal.into(), key: key.into() }
}

fn answered(run: &str, key: RequestKey, answer: &str) -> Change {
    let answer = KeyedAnswer { key, digest: format!("sha256:{answer}"), answer: json!({ "is": answer }) };
    Change { answer: Some(answer), ..change(run, RUNNING) }
}

pub(super) async fn answer_is_stored_with_its_change(bench: &dyn ServiceBench) {
    let (store, other) = (bench.store().await, bench.store().await);
    let (first, second) = (key("ada", "k1"), key("ada", "k2"));
    assert_eq!(store.answer(&first, NOW).await.unwrap(), None);
    let new = answered("run_1", first.clone(), "created");
    store.create("run_1", &new).await.unwrap();
    assert_eq!(other.answer(&first, NOW).await.unwrap(), new.answer);
    let next = answered("run_1", second.clone(), "changed");
    // A refused change stores no answer.
    store.compare_and_set("run_1", 9, &next).await.unwrap_err();
    assert_eq!(store.answer(&second, NOW).await.unwrap(), None);
    store.compare_and_set("run_1", 1, &next).await.unwrap();
    assert_eq!(other.answer(&second, NOW).await.unwrap(), next.answer);
    // Another principal has keys of its own.
    assert_eq!(store.answer(&key("bob", "k1"), NOW).await.unwrap(), None);
    store.compare_and_set("run_1", 2, &answered("run_1", key("bob", "k1"), "bobs")).await.unwrap();
}

pub(super) async fn second_change_under_a_key_is_refused(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    let taken = key("ada", "k1");
    store.create("run_1", &answered("run_1", taken.clone(), "first")).await.unwrap();
    let (run, rows) = (store.load("run_1").await.unwrap(), all_rows(&*store, "run_1").await);
    let refused = |error: ServiceStoreError| match error {
        ServiceStoreError::KeyTaken { principal, key } => assert_eq!((&*principal, &*key), ("ada", "k1")),
        other => panic!("{other}"),
    };
    let next = answered("run_1", taken.clone(), "second");
    refused(store.compare_and_set("run_1", 1, &next).await.unwrap_err());
    refused(store.create("run_2", &answered("run_2", taken.clone(), "second")).await.unwrap_err());
    assert_eq!(store.load("run_1").await.unwrap(), run);
    assert_eq!(all_rows(&*store, "run_1").await, rows);
    assert!(store.load("run_2").await.is_err());
    assert_eq!(store.answer(&taken, NOW).await.unwrap().unwrap().answer, json!({ "is": "first" }));
}

pub(super) async fn answer_ends_with_its_term(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    let used = key("ada", "k1");
    store.create("run_1", &answered("run_1", used.clone(), "first")).await.unwrap();
    let end = NOW + RequestKey::TERM_MS;
    assert!(store.answer(&used, end - 1).await.unwrap().is_some());
    assert_eq!(store.answer(&used, end).await.unwrap(), None);
    let mut next = answered("run_1", used.clone(), "second");
    next.at_ms = end - 1;
    store.compare_and_set("run_1", 1, &next).await.unwrap_err();
    next.at_ms = end;
    store.compare_and_set("run_1", 1, &next).await.unwrap();
    assert_eq!(store.answer(&used, end).await.unwrap(), next.answer);
}

pub(super) async fn answer_survives_its_run(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let kept = key("ada", "k1");
    let mut over = answered("run_1", kept.clone(), "rejected");
    over.status = ServiceRunStatus::Rejected;
    store.compare_and_set("run_1", 1, &over).await.unwrap();
    store.delete("run_1").await.unwrap();
    assert_eq!(store.answer(&kept, NOW).await.unwrap(), over.answer);
}
