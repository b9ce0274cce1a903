//! Unknown runs, and waits without a notification.

use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate_store::{ApprovalFilter, ApprovalQuery, Lease, Posted, Release, StoreError};

use super::Bench;
use super::played::Played;
use super::puts::{LONG, Must, create, of, refused, span};
use super::world::NOW;

const UNKNOWN: [&str; 10] = ["gone", "", "R1", "r1 ", "r", "%", "r1/", "../r1", "*", "\u{1f980}"];

pub(super) async fn unknown_runs_are_told(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    for id in UNKNOWN {
        let lease = Lease::new(id, 1);
        let what = |verb: &str| format!("{verb} {id:?}");
        refused!(what("load"), store.load(id).await, StoreError::NoRun { run } if run == id);
        let commit = Played::new(id, &[]).await.commit(1);
        let commit = store.commit(&lease, &commit).await;
        refused!(what("commit"), commit, StoreError::NoRun { run } if run == id);
        let mut decision = Decision::new("d", "s", DecisionAction::Resume);
        (decision.run_id, decision.call) = (id.to_owned(), "c0".to_owned());
        refused!(what("post on"), store.post(&decision).await, StoreError::NoRun { run } if run == id);
        refused!(what("cancel"), store.cancel(id, "why").await, StoreError::NoRun { run } if run == id);
        refused!(what("pending signals of"), store.pending_signals(id).await, StoreError::NoRun { run } if run == id);
        refused!(what("trace of"), store.trace(id, 0, 1).await, StoreError::NoRun { run } if run == id);
        refused!(what("events of"), store.events(id, 0, 1).await, StoreError::NoRun { run } if run == id);
    }
}

pub(super) async fn unknown_runs_are_in_no_list(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    for id in UNKNOWN {
        assert!(!store.remove(id).await.must(format_args!("remove {id:?}")), "{id:?} was not there");
        let of = ApprovalQuery::new(ApprovalFilter::Run(id.to_owned()), 10);
        let open = store.approvals(&of).await.must(format_args!("approvals of {id:?}"));
        assert_eq!(open, [], "calls of {id:?} that wait");
    }
}

pub(super) async fn unknown_runs_have_no_lease(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    for id in UNKNOWN {
        let lease = Lease::new(id, 1);
        let what = |verb: &str| format!("{verb} {id:?}");
        let claim = store.claim(&of(bench, id, "w", NOW, LONG)).await;
        refused!(what("claim"), claim, StoreError::NoRun { run } if run == id);
        refused!(what("renew"), store.renew(&lease, span(bench, LONG)).await, StoreError::NoRun { run } if run == id);
        store.release(&lease, &Release::clean()).await.must(what("release"));
    }
}

pub(super) async fn wait_for_changes_ends_after_its_timeout(bench: &dyn Bench) {
    let store = bench.store().await;
    let long = Duration::from_secs(60);
    let news = tokio::time::timeout(long, store.changed_since(0, Duration::from_millis(30))).await;
    news.unwrap_or_else(|_| panic!("changes within 30 ms did not return within {long:?}")).must("changes");
}

/// A store without notifications passes as well: it returns no other cursor.
pub(super) async fn change_wakes_every_waiter(bench: &dyn Bench) {
    const PATIENCE: Duration = Duration::from_secs(5);
    let store = bench.store().await;
    create(&*store, "r0").await;
    let before = store.changed_since(0, Duration::from_millis(30)).await.must("changes");
    let (one, other, ()) = tokio::join!(
        store.changed_since(before, PATIENCE),
        store.changed_since(before, PATIENCE),
        create(&*store, "r1")
    );
    let told = [one.must("changes"), other.must("changes")];
    if told == [before; 2] {
        return;
    }
    let mut late = before;
    let until = tokio::time::Instant::now() + PATIENCE;
    while late == before && tokio::time::Instant::now() < until {
        late = store.changed_since(before, PATIENCE).await.must("changes");
    }
    assert!(
        !told.contains(&before) && late != before,
        "two waited with the mark {before} when a run was created and were given {told:?}, a third one after \
         them {late}: each should be woken",
    );
}

/// A worker that retries on each notification would never rest. Earlier input may be notified late, so one quiet
/// attempt out of several is enough.
pub(super) async fn refused_input_wakes_no_waiter(bench: &dyn Bench) {
    const TIMES: usize = 5;
    const QUIET: Duration = Duration::from_millis(250);
    let store = bench.store().await;
    create(&*store, "r1").await;
    let old = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    store.claim(&of(bench, "r1", "bob", NOW + 10, LONG)).await.must("claim").must("claim");
    let mut told = Vec::new();
    for _ in 0..TIMES {
        let mut before = store.changed_since(0, QUIET).await.must("changes");
        for _ in 0..TIMES {
            match store.changed_since(before, QUIET).await.must("changes") {
                same if same == before => break,
                more => before = more,
            }
        }
        store.release(&old, &Release::clean()).await.must("release an older lease");
        store
            .release(&Lease::new("gone", 1), &Release::clean())
            .await
            .must("release a run that is not there");
        let mut decision = Decision::new("d1", "s1", DecisionAction::Resume);
        (decision.run_id, decision.call) = ("r1".to_owned(), "a".to_owned());
        let posted = store.post(&decision).await.must("decide a call that does not wait");
        assert_eq!(posted, Posted::NotWaiting, "a decision on a call that does not wait");
        let after = store.changed_since(before, QUIET).await.must("changes");
        if after == before {
            return;
        }
        told.push((before, after));
    }
    panic!(
        "after leases that give nothing back and a decision on nothing the store reported a change each time: {told:?}"
    );
}
