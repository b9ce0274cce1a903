//! Removal of runs.

use runstate_store::{ApprovalFilter, NewRun, StoreError};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    ALL, LONG, Must, approvals, claim, claim_any, create, everything, of, put, put_waiting, refused, release,
    runs, span, yes,
};
use super::world::{NOW, one};

pub(super) async fn a_run_is_removed_with_all_that_belongs_to_it(bench: &dyn Bench) {
    let store = bench.store().await;
    let other = put_waiting(&*store, "r2", 1).await;
    let script = [
        one("a", "note", json!({ "run": 1, "thread": 2 })),
        super::world::turn([("c0".to_owned(), "ask", json!({ "expires": NOW + 1 }))]),
    ];
    let lease = put(&*store, &Played::new("r1", &script).await).await;
    release(&*store, &lease).await;
    let before = everything(&*store, "r2").await;
    store.post(&yes(&*store, "r1", "c0", "d0").await).await.must("post d0");
    assert!(store.remove("r1").await.must("remove r1"), "it was there");
    assert!(!store.remove("r1").await.must("remove r1"), "it is not there any more");
    refused!("load r1", store.load("r1").await, StoreError::NoRun { .. });
    refused!("the trace of r1", store.trace("r1", 0, 1).await, StoreError::NoRun { .. });
    refused!("the events of r1", store.events("r1", 0, 1).await, StoreError::NoRun { .. });
    refused!("the pending signals of r1", store.pending_signals("r1").await, StoreError::NoRun { .. });
    refused!("renew r1", store.renew(&lease, span(bench, LONG)).await, StoreError::NoRun { .. });
    assert_eq!(approvals(&*store, ApprovalFilter::Run("r1".to_owned())).await, [], "calls of r1 that wait");
    bench.clock().set(LONG);
    assert_eq!(store.due(ALL).await.must("due"), [], "suspensions that expire");
    assert_eq!(runs(&*store).await.len(), 1, "runs");
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "nothing can go on");
    assert_eq!(everything(&*store, "r2").await, before, "the other run");
    drop(other);
}

pub(super) async fn held_run_is_not_removed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let claim = of(bench, "r1", "ann", NOW, NOW + 10);
    store.claim(&claim).await.must("claim");
    bench.clock().set(NOW + 9);
    match store.remove("r1").await {
        Err(StoreError::Held { run, holder, left }) => {
            assert_eq!(
                (&*run, &*holder, left.as_millis()),
                ("r1", "ann", 1),
                "the holder of r1, and how long"
            );
        }
        other => panic!("remove r1 while ann has it: expected Held, got {other:?}"),
    }
    assert_eq!(runs(&*store).await.len(), 1, "the run is there");
    bench.clock().set(NOW + 10);
    assert!(store.remove("r1").await.must("remove"), "at the very end of the lease");
    assert_eq!(runs(&*store).await, [], "the run is gone");
}

pub(super) async fn the_id_of_a_removed_run_is_not_given_again(bench: &dyn Bench) {
    let (ann, bob) = (bench.store().await, bench.store().await);
    let is_given = async |run| {
        let both = (ann.is_given(run).await.must("is_given"), bob.is_given(run).await.must("is_given"));
        assert_eq!(both.0, both.1, "is {run} given: both handles");
        both.0
    };
    assert!(!is_given("r1").await, "before it is created");
    let played = put_waiting(&*ann, "r1", 1).await;
    assert!(is_given("r1").await, "while it is there");
    let decision = yes(&*ann, "r1", "c0", "d0").await;
    let lease = claim(&*ann, "r1").await;
    bench.clock().set(LONG);
    assert!(ann.remove("r1").await.must("remove r1"), "it was there");

    assert!(is_given("r1").await, "when it was removed");
    for store in [&ann, &bob] {
        let again = store.create(&NewRun::new("r1", json!({ "another": 1 }), NOW)).await;
        refused!("create r1 again", again, StoreError::Taken { run } if run == "r1");
        refused!("load r1", store.load("r1").await, StoreError::NoRun { .. });
    }
    // Late operations for the removed run reach no other run.
    let late = ann.post(&decision).await;
    assert!(!matches!(late, Ok(runstate_store::Posted::Accepted)), "a late decision: {late:?}");
    refused!(
        "a commit under its lease",
        ann.commit(&lease, &played.commit(1)).await,
        StoreError::NoRun { .. }
    );
    assert!(!is_given("r2").await, "another id");
    create(&*bob, "r2").await;
    assert_eq!(runs(&*ann).await.len(), 1, "runs");
}

pub(super) async fn a_run_that_was_never_driven_keeps_its_id_too(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    store.remove("r1").await.must("remove r1");
    let again = store.create(&NewRun::new("r1", json!(null), NOW)).await;
    refused!("create r1 again", again, StoreError::Taken { run } if run == "r1");
}
