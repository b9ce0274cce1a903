//! Expiry of suspensions.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_store::{Posted, RunStore, Timer, decide, expire};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{ALL, Must, approval, claim_any, commit, create, decision, mail, put, release, yes};
use super::world::{NOW, turn};

/// Creates a waiting run. Each of its calls expires that number of milliseconds after [`NOW`].
async fn put_lapsing(store: &dyn RunStore, run: &str, after: &[u64]) -> Played {
    let calls = after.iter().enumerate();
    let calls = calls.map(|(n, after)| (format!("c{n}"), "ask", json!({ "expires": NOW + after })));
    let played = Played::new(run, &[turn(calls)]).await;
    let lease = put(store, &played).await;
    release(store, &lease).await;
    played
}

async fn due(bench: &dyn Bench, store: &dyn RunStore, after: u64, limit: usize) -> Vec<Timer> {
    bench.clock().set(NOW + after);
    store.due(limit).await.must(format_args!("the calls due {after} ms later"))
}

fn places(timers: &[Timer]) -> Vec<(&str, &str)> {
    timers.iter().map(|timer| (&*timer.run, &*timer.call)).collect()
}

pub(super) async fn suspensions_expire_in_order(bench: &dyn Bench) {
    let store = bench.store().await;
    put_lapsing(&*store, "r1", &[50, 10, 90]).await;
    put_lapsing(&*store, "r2", &[20, 60]).await;
    super::puts::put_waiting(&*store, "never", 2).await;
    create(&*store, "new").await;
    let all = due(bench, &*store, 1_000, ALL).await;
    let expected = [("r1", "c1"), ("r2", "c0"), ("r1", "c0"), ("r2", "c1"), ("r1", "c2")];
    assert_eq!(places(&all), expected, "all expiring calls, the oldest first");
    for timer in &all {
        let waits = approval(&*store, &timer.run, &timer.call).await;
        assert_eq!(timer.suspension, waits.suspension.id, "the suspension of {timer:?}");
    }
    assert_eq!(due(bench, &*store, 1_000, 2).await, all[..2], "at most two");
    assert_eq!(due(bench, &*store, 1_000, 0).await, [], "at most none");
    assert_eq!(due(bench, &*store, 55, ALL).await, all[..3], "the calls expired by then");
}

pub(super) async fn suspensions_expire_exactly_at_their_time(bench: &dyn Bench) {
    let store = bench.store().await;
    put_lapsing(&*store, "r1", &[10]).await;
    assert_eq!(due(bench, &*store, 9, ALL).await, [], "a millisecond before");
    assert_eq!(places(&due(bench, &*store, 10, ALL).await), [("r1", "c0")], "at its time");
    assert_eq!(places(&due(bench, &*store, u64::MAX / 4, ALL).await), [("r1", "c0")], "ages later");
}

pub(super) async fn decided_suspension_does_not_expire(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_lapsing(&*store, "r1", &[10, 20]).await;
    let first = yes(&*store, "r1", "c0", "d0").await;
    store.post(&first).await.must("post d0");
    assert_eq!(places(&due(bench, &*store, 50, ALL).await), [("r1", "c1")], "the undecided call");
    let lease = claim_any(bench, &*store, NOW).await.must("claim r1");
    for new in played.resume(&[first]).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    assert_eq!(places(&due(bench, &*store, 50, ALL).await), [("r1", "c1")], "once the decision was taken");
}

pub(super) async fn expired_question_stays_expired(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_lapsing(&*store, "r1", &[10]).await;
    let waits = approval(&*store, "r1", "c0").await;
    let timer = due(bench, &*store, 10, ALL).await.remove(0);
    bench.clock().set(NOW + 10);
    assert_eq!(expire(&*store, &timer, NOW + 10).await.must("expire"), Posted::Accepted, "it expires");
    assert_eq!(due(bench, &*store, 10, ALL).await, [], "an expired call is due no more");
    assert_eq!(expire(&*store, &timer, NOW + 10).await.must("expire"), Posted::Duplicate, "once more");
    let late = decision(&waits, "d0", Resume);
    assert_eq!(store.post(&late).await.must("post"), Posted::Conflict, "a decision after its expiry");
    let mut incoming = Incoming::new("d0", "c0", Resume).on(&*waits.suspension.id);
    incoming.run_id = Some("r1".to_owned());
    let told = decide(&*store, &incoming, NOW + 9, &Unchecked).await;
    assert_eq!(told.must("decide"), Reply::Expired, "a decision by a clock that is behind has expired");

    // The expiry is a decision like any other: the run can continue, and takes it.
    let taken = mail(&*store, "r1").await.decisions;
    assert_eq!((taken.len(), taken[0].action), (1, Cancel), "the call is given up");
    let lease = claim_any(bench, &*store, NOW + 10).await.must("a run with an expired call");
    for new in played.resume(&taken).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    let told = decide(&*store, &incoming, NOW + 11, &Unchecked).await;
    assert_eq!(told.must("decide"), Reply::Expired, "a decision after the taken expiry");
}

pub(super) async fn decision_before_the_expiry_stays(bench: &dyn Bench) {
    let store = bench.store().await;
    put_lapsing(&*store, "r1", &[10]).await;
    let timer = due(bench, &*store, 10, ALL).await.remove(0);
    let first = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(store.post(&first).await.must("post d0"), Posted::Accepted, "the decision comes first");
    assert_eq!(
        expire(&*store, &timer, NOW + 10).await.must("expire"),
        Posted::Conflict,
        "it expires too late"
    );
    assert_eq!(mail(&*store, "r1").await.decisions, [first], "the decision that counts");
}

pub(super) async fn suspension_expires_whatever_ids_decisions_had(bench: &dyn Bench) {
    let store = bench.store().await;
    put_lapsing(&*store, "r1", &[10, 20]).await;
    let due = due(bench, &*store, 10, ALL).await;
    let mut taken = yes(&*store, "r1", "c1", &format!("expiry:{}", due[0].suspension)).await;
    taken.actor = Some("ann".to_owned());
    assert_eq!(store.post(&taken).await.must("post"), Posted::Accepted, "an odd id, on another call");
    assert_eq!(expire(&*store, &due[0], NOW + 10).await.must("expire"), Posted::Accepted, "c0 expires");
    assert_eq!(expire(&*store, &due[0], NOW + 10).await.must("expire"), Posted::Duplicate, "and once");
    let decided: Vec<_> = mail(&*store, "r1").await.decisions.into_iter().map(|one| one.call).collect();
    assert_eq!(decided, ["c1", "c0"], "both are decided");
    let mut late = Incoming::new("d0", "c0", Resume).on(&*due[0].suspension);
    late.run_id = Some("r1".to_owned());
    let told = decide(&*store, &late, NOW + 10, &Unchecked).await.must("decide");
    assert_eq!(told, Reply::Expired, "a decision on c0 after that");
}
