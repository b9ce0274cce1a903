//! Refused commits change nothing.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_agent::keys::Scope;
use runstate_store::{Commit, Posted, StoreError, TraceRow, ValueRow};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, approval, claim, commit, create, decision, everything, load, mail, of, put_waiting, refused,
    yes,
};
use super::world::{NOW, one};

/// Adds values and a trace event to a commit.
fn laden(mut commit: Commit, trace: u64) -> Commit {
    let value = |scope, key: &str, json: Option<&str>| ValueRow::new(scope, key, json.map(str::to_owned));
    commit.values.push(value(Scope::Run, "noted", None));
    commit.values.push(value(Scope::Thread, "new", Some("1")));
    commit.trace.push(TraceRow { seq: trace + 1_000, json: "{}".to_owned() });
    commit
}

pub(super) async fn a_refused_commit_leaves_all_as_it_was(bench: &dyn Bench) {
    let store = bench.store().await;
    let script =
        [one("a", "note", json!({ "run": 1 })), one("b", "say", json!(2)), one("c", "say", json!(3))];
    let played = Played::new("r1", &script).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    for version in 1..=4 {
        commit(&*store, &lease, &played.commit(version)).await;
    }
    let before = everything(&*store, "r1").await;
    for version in [1, 3, 4, 6, 7] {
        let wrong = laden(played.commit(version), 0);
        let refused = store.commit(&lease, &wrong).await;
        refused!(format_args!("commit {version} after commit 4"), refused, StoreError::Version { .. });
        assert_eq!(everything(&*store, "r1").await, before, "after commit {version} was refused");
    }
    commit(&*store, &lease, &played.commit(5)).await;
}

pub(super) async fn a_fenced_commit_leaves_all_as_it_was(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [one("a", "note", json!({ "run": 1 })), one("b", "say", json!(2))];
    let played = Played::new("r1", &script).await;
    create(&*store, "r1").await;
    let old = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    for version in 1..=4 {
        commit(&*store, &old, &played.commit(version)).await;
    }
    let new = store.claim(&of(bench, "r1", "bob", NOW + 10, LONG)).await.must("claim").must("claim");
    let before = everything(&*store, "r1").await;
    let fenced = store.commit(&old, &laden(played.commit(5), 0)).await;
    refused!(
        "the next commit, under an older lease",
        fenced,
        StoreError::Fenced { run, fence: 1, current: 2 } if run == "r1"
    );
    assert_eq!(everything(&*store, "r1").await, before, "after the commit was refused");
    commit(&*store, &new, &played.commit(5)).await;
}

pub(super) async fn a_commit_with_another_decision_than_the_first_is_refused(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 2).await;
    let waits = approval(&*store, "r1", "c0").await;
    let (first, second) = (decision(&waits, "d1", Cancel), decision(&waits, "d2", Resume));
    assert_eq!(store.post(&first).await.must("post d1"), Posted::Accepted, "the first decision");

    // The loop had taken another decision from its own process.
    let lease = claim(&*store, "r1").await;
    let mut new = played.resume(&[second]).await.map(|place| place + 1);
    let with_decision = loop {
        let one = new.next().map(|version| played.commit(version)).must("a commit with the decision");
        if !one.decisions.is_empty() {
            break one;
        }
        commit(&*store, &lease, &one).await;
    };
    let before = everything(&*store, "r1").await;
    let refused = store.commit(&lease, &laden(with_decision, 0)).await;
    match refused {
        Err(StoreError::Decided { run, suspension, decision }) => {
            let expected = ("r1", &*waits.suspension.id, "d1");
            assert_eq!((&*run, &*suspension, &*decision), expected, "the decision that counts");
        }
        other => panic!("commit d2 where d1 was accepted: expected Decided, got {other:?}"),
    }
    assert_eq!(everything(&*store, "r1").await, before, "after the commit was refused");
    assert_eq!(mail(&*store, "r1").await.decisions, [first], "the first decision is there to be taken");
}

pub(super) async fn commit_may_take_a_decision_that_was_not_posted(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 2).await;
    let taken = yes(&*store, "r1", "c0", "d1").await;
    let lease = claim(&*store, "r1").await;
    for place in played.resume(std::slice::from_ref(&taken)).await {
        commit(&*store, &lease, &played.commit(place + 1)).await;
    }
    let stored = load(&*store, "r1").await.stored.must("the run");
    assert_eq!(stored.decisions().get(&taken.suspension_id), Some(&taken), "the decision that was taken");
    assert_eq!(mail(&*store, "r1").await.decisions, [], "a taken decision is no pending signal");
    assert_eq!(store.post(&taken).await.must("post d1"), Posted::Duplicate, "it was accepted by the commit");
    let mut other = taken.clone();
    other.decision_id = "d2".to_owned();
    assert_eq!(store.post(&other).await.must("post d2"), Posted::Conflict, "another one on its suspension");
    let last = played.last();
    let mut wrong = last.clone();
    wrong.version += 1;
    (wrong.messages, wrong.trace, wrong.decisions) = (Vec::new(), Vec::new(), vec![other]);
    let refused = store.commit(&lease, &wrong).await;
    refused!("commit d2 where d1 was taken", refused, StoreError::Decided { decision, .. } if decision == "d1");
}
