//! Decisions: the first one counts.

use runstate::decision::Decision;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::tool_call::ToolCallStatus;
use runstate_store::{ApprovalFilter, Posted, RunStore};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    Must, approval, approvals, claim, commit, create, decision, load, mail, put, put_done, put_waiting,
    release, yes,
};
use super::world::{NOW, questions};

async fn post(store: &dyn RunStore, decision: &Decision) -> Posted {
    store.post(decision).await.must(format_args!("post {:?}", decision.decision_id))
}

pub(super) async fn the_first_decision_is_accepted(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 2).await;
    let before = load(&*store, "r1").await;
    let first = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(post(&*store, &first).await, Posted::Accepted, "the first decision on c0");
    assert_eq!(mail(&*store, "r1").await.decisions, [first], "the pending signals");
    assert_eq!(load(&*store, "r1").await, before, "the run is as it was until the decision is taken");
    let second = yes(&*store, "r1", "c1", "d1").await;
    assert_eq!(post(&*store, &second).await, Posted::Accepted, "the first decision on c1");
}

pub(super) async fn the_same_decision_again_is_a_duplicate(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 1).await;
    let first = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(post(&*store, &first).await, Posted::Accepted, "d0");
    assert_eq!(post(&*store, &first).await, Posted::Duplicate, "d0 again");
    // The id alone identifies a decision.
    let mut changed = first.clone();
    (changed.action, changed.reason) = (Cancel, Some("changed my mind".to_owned()));
    assert_eq!(post(&*store, &changed).await, Posted::Duplicate, "d0 again, saying something else");
    let kept = mail(&*store, "r1").await.decisions;
    assert_eq!(kept, std::slice::from_ref(&first), "the first decision counts");
    let lease = claim(&*store, "r1").await;
    for new in played.resume(std::slice::from_ref(&first)).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    assert_eq!(post(&*store, &first).await, Posted::Duplicate, "d0 again, once it was taken");
    assert_eq!(mail(&*store, "r1").await.decisions, [], "it is not taken twice");
}

pub(super) async fn another_decision_is_a_conflict(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 1).await;
    let waits = approval(&*store, "r1", "c0").await;
    let first = decision(&waits, "d0", Cancel);
    assert_eq!(post(&*store, &first).await, Posted::Accepted, "d0");
    for (id, action) in [("d1", Cancel), ("d2", Resume)] {
        let other = decision(&waits, id, action);
        assert_eq!(post(&*store, &other).await, Posted::Conflict, "{id} on the call decided by d0");
    }
    let lease = claim(&*store, "r1").await;
    for new in played.resume(&[first]).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    let late = decision(&waits, "d3", Resume);
    assert_eq!(
        post(&*store, &late).await,
        Posted::Conflict,
        "d3 on the call decided by d0, once that was taken"
    );
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
}

pub(super) async fn a_decision_id_is_for_one_suspension(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 2).await;
    put_waiting(&*store, "r2", 1).await;
    let first = yes(&*store, "r1", "c0", "d0").await;
    let other = yes(&*store, "r1", "c1", "d0").await;
    let elsewhere = yes(&*store, "r2", "c0", "d0").await;
    assert_eq!(post(&*store, &first).await, Posted::Accepted, "d0 on c0 of r1");
    assert_eq!(
        post(&*store, &other).await,
        Posted::Duplicate,
        "d0 on c1 of r1: a decision of that id is there"
    );
    assert_eq!(mail(&*store, "r1").await.decisions, [first], "the accepted decisions");
    assert_eq!(post(&*store, &elsewhere).await, Posted::Accepted, "d0 on c0 of r2: ids are those of a run");
}

pub(super) async fn a_decision_on_what_does_not_wait_is_not_accepted(bench: &dyn Bench) {
    let store = bench.store().await;
    put_done(&*store, "over").await;
    create(&*store, "new").await;
    let played = put_waiting(&*store, "waits", 1).await;
    for run in ["over", "new", "waits"] {
        let mut on_nothing = Decision::new("d0", "no such suspension", Resume);
        (on_nothing.run_id, on_nothing.call) = (run.to_owned(), "c0".to_owned());
        assert_eq!(post(&*store, &on_nothing).await, Posted::NotWaiting, "a suspension that {run:?} has not");
        assert_eq!(mail(&*store, run).await.decisions, [], "the pending signals of {run:?}");
    }
    // The suspension existed, and its call was given up with the run.
    let lease = claim(&*store, "waits").await;
    let waits = approval(&*store, "waits", "c0").await;
    let mut gone = played.last();
    gone.version += 1;
    (gone.messages, gone.trace) = (Vec::new(), Vec::new());
    gone.calls = played.commits().flat_map(|commit| commit.calls.clone()).collect();
    for call in &mut gone.calls {
        (call.waits, call.status) = (None, ToolCallStatus::Cancelled);
    }
    commit(&*store, &lease, &gone).await;
    let late = decision(&waits, "d1", Resume);
    assert_eq!(post(&*store, &late).await, Posted::NotWaiting, "a call that waits no more");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "calls that wait");
}

pub(super) async fn a_decision_on_a_suspension_of_another_call_is_not_accepted(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 2).await;
    put_waiting(&*store, "r2", 1).await;
    let mut crossed = yes(&*store, "r1", "c0", "d0").await;
    crossed.call = "c1".to_owned();
    assert_eq!(post(&*store, &crossed).await, Posted::NotWaiting, "the suspension of c0, for c1");
    let mut crossed = yes(&*store, "r1", "c0", "d0").await;
    crossed.run_id = "r2".to_owned();
    assert_eq!(post(&*store, &crossed).await, Posted::NotWaiting, "the suspension of r1, for r2");
    for run in ["r1", "r2"] {
        assert_eq!(mail(&*store, run).await.decisions, [], "the pending signals of {run:?}");
    }
}

pub(super) async fn pending_decisions_keep_their_order(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 12).await;
    let mut posted = Vec::new();
    for number in [7, 2, 11, 0, 10, 1] {
        // The order of arrival differs from that of ids, times and calls.
        let mut one = yes(&*store, "r1", &format!("c{number}"), &format!("d{}", 50 - number)).await;
        one.decided_at_ms = NOW + (number * 7 % 5);
        assert_eq!(post(&*store, &one).await, Posted::Accepted, "a decision on c{number}");
        posted.push(one);
        assert_eq!(mail(&*store, "r1").await.decisions, posted, "decisions in the order in which they came");
    }
}

pub(super) async fn commit_removes_taken_decisions_from_pending_signals(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = Played::new("r1", &[questions(3)]).await;
    let lease = put(&*store, &played).await;
    let mut posted = Vec::new();
    for call in ["c2", "c0", "c1"] {
        posted.push(yes(&*store, "r1", call, &format!("d-{call}")).await);
        post(&*store, &posted[posted.len() - 1]).await;
    }
    let taken = posted.remove(1);
    for new in played.resume(&[taken]).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    assert_eq!(mail(&*store, "r1").await.decisions, posted, "the untaken decisions, in their order");
    release(&*store, &lease).await;
    assert_eq!(mail(&*store, "r1").await.decisions, posted, "once the run was given back");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "waiting calls without a decision");
}

pub(super) async fn decisions_come_back_as_they_were(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 3).await;
    let bare = {
        let mut bare = yes(&*store, "r1", "c0", "bare").await;
        (bare.digest, bare.decided_at_ms) = (None, 0);
        bare
    };
    let full = {
        let mut full = yes(&*store, "r1", "c1", "full of 'quotes' and \"others\"").await;
        full.action = Cancel;
        full.result = json!({ "n": [0.1, -1, null], "text": "\u{0} 🦀" });
        (full.reason, full.actor) = (Some("because\nof 100 %".to_owned()), Some("ann@example".to_owned()));
        full
    };
    let empty = {
        let mut empty = yes(&*store, "r1", "c2", "").await;
        (empty.reason, empty.actor, empty.digest) =
            (Some(String::new()), Some(String::new()), Some(String::new()));
        empty
    };
    for one in [&bare, &full, &empty] {
        assert_eq!(post(&*store, one).await, Posted::Accepted, "the decision {:?}", one.decision_id);
    }
    assert_eq!(mail(&*store, "r1").await.decisions, [bare, full, empty], "decisions, whole");
}
