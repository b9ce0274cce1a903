//! Creation of runs.

use runstate::run::RunStatus;
use runstate_store::{NewRun, RunInfo, StoreError};
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::puts::{Must, create, everything, load, mail, refused, runs, trace};
use super::world::NOW;

pub(super) async fn a_run_is_created_once(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let before = everything(&*store, "r1").await;
    let other = NewRun::new("r1", json!("another"), NOW + 1).titled("another");
    let again = store.create(&other).await;
    refused!("create r1 again", again, StoreError::Taken { run } if run == "r1");
    assert_eq!(everything(&*store, "r1").await, before, "the run that was there is as it was");
}

pub(super) async fn a_new_run_has_nothing_but_what_it_was_created_with(bench: &dyn Bench) {
    let store = bench.store().await;
    let new = NewRun::new("r1", json!({ "model": "m" }), NOW).titled("tidy up");
    store.create(&new).await.must("create r1");
    let loaded = load(&*store, "r1").await;
    assert_eq!(loaded.info, RunInfo::created(&new), "the listed info of a new run");
    assert_eq!(loaded.info.status, RunStatus::Running, "a run that was not begun");
    assert_eq!(loaded.spec, json!({ "model": "m" }), "the spec");
    assert_eq!((&loaded.stored, loaded.messages, loaded.traced), (&None, 0, 0), "a run that was not begun");
    assert_eq!(runs(&*store).await, [loaded.info], "the list of runs");
    assert_eq!(trace(&*store, "r1").await, [], "the trace of a run that was not begun");
    assert_eq!(
        mail(&*store, "r1").await,
        runstate_store::PendingSignals::default(),
        "the pending signals of a new run"
    );
}

pub(super) async fn a_spec_comes_back_as_it_was(bench: &dyn Bench) {
    let store = bench.store().await;
    let specs = [
        json!(null),
        json!(""),
        json!(0.1),
        json!(-0.0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!([[], {}, [{ "": "" }]]),
        json!({ "b": 1, "a": 2, "": null, "null": "null" }),
        json!("\"quoted\" 'too' \\ and \u{0}, \u{1f}, \u{7f}, \u{2028}, 🦀, e\u{301}"),
    ];
    for (number, spec) in specs.iter().enumerate() {
        let run = format!("r{number}");
        store.create(&NewRun::new(&*run, spec.clone(), NOW)).await.must(format_args!("create with {spec}"));
        assert_eq!(load(&*store, &run).await.spec, *spec, "the spec of {run}");
    }
}

pub(super) async fn concurrent_creations_of_a_run_create_it_once(bench: &dyn Bench) {
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let store = bench.store().await;
        tasks.spawn(async move {
            match store.create(&NewRun::new("r1", json!(number), NOW)).await {
                Ok(()) => Some(number),
                Err(StoreError::Taken { .. }) => None,
                Err(other) => panic!("create r1 at once with others: expected Ok or Taken, got {other:?}"),
            }
        });
    }
    let created: Vec<i32> = super::crowds::all(tasks).await.into_iter().flatten().collect();
    assert_eq!(created.len(), 1, "16 create r1 at once; these were acknowledged: {created:?}");
    let store = bench.store().await;
    assert_eq!(
        load(&*store, "r1").await.spec,
        json!(created[0]),
        "the run is that of the acknowledged creator"
    );
}
