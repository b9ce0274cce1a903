//! Claims of runs.

use runstate_store::{Holder, Lease, NewRun, Release, StoreError};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, claim, claim_any, create, load, of, of_any, put, put_done, put_waiting, refused, release,
    span, yes,
};
use super::world::{NOW, one};

pub(super) async fn a_run_is_claimed_by_name_whatever_its_status(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "new").await;
    put_waiting(&*store, "waits", 1).await;
    put_done(&*store, "over").await;
    for (run, fence) in [("new", 1), ("waits", 2), ("over", 2)] {
        assert_eq!(claim(&*store, run).await, Lease::new(run, fence), "the lease on {run:?}");
        let holder = load(&*store, run).await.info.holder;
        let expected = Holder { name: "the suite".to_owned(), left: span(bench, LONG), fence };
        assert_eq!(holder, Some(expected), "the holder of {run:?}");
    }
}

pub(super) async fn fencing_tokens_grow_with_each_lease(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    for fence in 1..=5 {
        let now = NOW + fence * 10;
        let any = fence % 2 == 0;
        let wish = if any { of_any(bench, "w", now, now + 10) } else { of(bench, "r1", "w", now, now + 10) };
        let lease = store.claim(&wish).await.must("claim r1").must("claim r1 after the end of its lease");
        assert_eq!(lease, Lease::new("r1", fence), "lease {fence}");
    }
}

pub(super) async fn held_run_is_not_claimed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim r1");
    let refused = store.claim(&of(bench, "r1", "bob", NOW + 5, NOW + 99)).await;
    match refused {
        Err(StoreError::Held { run, holder, left }) => {
            let told = (&*run, &*holder, left.as_millis());
            assert_eq!(told, ("r1", "ann", 5), "the holder of r1, and how long");
        }
        other => panic!("claim r1 by name while ann has it: expected Held, got {other:?}"),
    }
    let none = store.claim(&of_any(bench, "bob", NOW + 5, NOW + 99)).await.must("claim any");
    assert_eq!(none, None, "claim any while ann has the only run");
    let lease = lease.must("the lease of ann");
    store
        .renew(&lease, span(bench, NOW + 20))
        .await
        .must("the refused claims leave the lease of ann unchanged");
}

pub(super) async fn a_lease_is_over_at_its_very_end(bench: &dyn Bench) {
    let store = bench.store().await;
    for (run, any) in [("named", false), ("any", true)] {
        create(&*store, run).await;
        store.claim(&of(bench, run, "ann", NOW, NOW + 10)).await.must("claim").must("claim");
        let wish = |now| if any { of_any(bench, "bob", now, LONG) } else { of(bench, run, "bob", now, LONG) };
        match store.claim(&wish(NOW + 9)).await {
            Err(StoreError::Held { .. }) if !any => {}
            Ok(None) if any => {}
            other => panic!("claim {run:?} a millisecond before the end of its lease: got {other:?}"),
        }
        let taken = store.claim(&wish(NOW + 10)).await.must("claim at the end of the lease");
        assert_eq!(taken, Some(Lease::new(run, 2)), "claim {run:?} at the very end of its lease");
    }
}

pub(super) async fn longest_waiting_run_is_claimed_first(bench: &dyn Bench) {
    let store = bench.store().await;
    for (run, at) in [("c", 30), ("a", 20), ("d", 10), ("b", 40)] {
        store.create(&NewRun::new(run, json!(0), NOW + at)).await.must(format_args!("create {run:?}"));
    }
    // The run was created first, but has changed since.
    let played = Played::at(NOW + 1_000, "d", &[one("a", "say", json!(1))]).await;
    let lease = claim(&*store, "d").await;
    store.commit(&lease, &played.commit(1)).await.must("commit 1 of d");
    release(&*store, &lease).await;
    let mut order = Vec::new();
    while let Some(lease) = claim_any(bench, &*store, NOW + 2_000).await {
        order.push(lease.run);
        assert!(order.len() <= 4, "each run is claimed once: {order:?}");
    }
    assert_eq!(order, ["a", "c", "b", "d"], "by the time of their last change, the oldest first");
}

pub(super) async fn deferred_run_is_claimed_after_its_delay_or_by_name(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    store
        .release(&lease, &Release::retry_after(span(bench, NOW + 100), "the model is away"))
        .await
        .must("put r1 off");
    let info = load(&*store, "r1").await.info;
    assert_eq!(info.not_before, Some(span(bench, NOW + 100)), "the delay of the deferred run");
    assert_eq!(info.problem.as_deref(), Some("the model is away"), "why");
    assert_eq!(info.holder, None, "the run has no holder");
    // The cancellation of a run needs no resource that caused its delay.
    create(&*store, "r2").await;
    let lease = claim(&*store, "r2").await;
    store
        .release(&lease, &Release::retry_after(span(bench, NOW + 100), "the model is away"))
        .await
        .must("put r2 off");
    store.cancel("r2", "enough").await.must("cancel r2");
    assert_eq!(
        claim_any(bench, &*store, NOW).await,
        Some(Lease::new("r2", 2)),
        "claim a run that is to be cancelled"
    );
    store
        .release(&Lease::new("r2", 2), &Release::retry_after(span(bench, NOW + 100), "away"))
        .await
        .must("put r2 off again");

    assert_eq!(claim_any(bench, &*store, NOW + 99).await, None, "claim any before its time");
    assert_eq!(claim(&*store, "r1").await.fence, 2, "claim by name before its time");
    let lease = Lease::new("r1", 2);
    store
        .release(&lease, &Release::retry_after(span(bench, NOW + 100), "still away"))
        .await
        .must("put r1 off again");
    let lease = claim_any(bench, &*store, NOW + 100).await;
    assert_eq!(lease, Some(Lease::new("r1", 3)), "claim any at its very time");
    release(&*store, &Lease::new("r1", 3)).await;
    let info = load(&*store, "r1").await.info;
    assert_eq!((info.not_before, info.problem), (None, None), "given back for any worker");
    assert_eq!(claim_any(bench, &*store, NOW).await, Some(Lease::new("r1", 4)), "claim any at once");
}

pub(super) async fn a_waiting_run_is_claimed_once_a_decision_is_there(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 2).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a run that waits, without a decision");
    let decision = yes(&*store, "r1", "c0", "d0").await;
    store.post(&decision).await.must("post d0");
    let lease =
        claim_any(bench, &*store, NOW).await.must("a run that waits, with a decision that was not taken");
    let new = played.resume(&[decision]).await;
    for version in new {
        store.commit(&lease, &played.commit(version + 1)).await.must("take d0");
    }
    release(&*store, &lease).await;
    assert_eq!(load(&*store, "r1").await.info.waiting, 1, "calls of r1 that wait");
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a waiting run with a taken decision");
}

pub(super) async fn a_waiting_run_is_claimed_once_it_is_to_be_cancelled(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 1).await;
    assert!(store.cancel("r1", "not needed").await.must("cancel r1"), "the wish is noted");
    assert_eq!(
        claim_any(bench, &*store, NOW).await,
        Some(Lease::new("r1", 2)),
        "a run that is to be cancelled"
    );
}

pub(super) async fn a_run_that_is_over_is_claimed_by_name_alone(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = put_waiting(&*store, "decided", 1).await;
    put_done(&*store, "over").await;
    // A run can end with decisions that it did not take.
    let decision = yes(&*store, "decided", "c0", "d0").await;
    store.post(&decision).await.must("post d0");
    let lease = claim(&*store, "decided").await;
    let mut over = played.last();
    over.version += 1;
    (over.messages, over.calls, over.trace) = (Vec::new(), Vec::new(), Vec::new());
    over.run.status = runstate::run::RunStatus::Done;
    store.commit(&lease, &over).await.must("end the run without taking d0");
    release(&*store, &lease).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "runs that are over");
    assert_eq!(claim(&*store, "over").await, Lease::new("over", 2), "a run that is over, by name");
}

pub(super) async fn nothing_to_claim_is_no_error(bench: &dyn Bench) {
    let store = bench.store().await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "claim any in an empty store");
    let unknown = store.claim(&of(bench, "r1", "w", NOW, LONG)).await;
    refused!("claim r1 by name", unknown, StoreError::NoRun { run } if run == "r1");
    put(&*store, &Played::new("r2", &[]).await).await;
    assert_eq!(claim_any(bench, &*store, LONG).await, None, "claim any where all is over");
}
