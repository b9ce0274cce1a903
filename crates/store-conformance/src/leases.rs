//! Leases: renewal, release and loss.

use std::time::Duration;

use runstate_store::{Claim, Holder, Lease, Posted, Release, StoreError};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, assert_stored, claim, claim_any, create, load, of, of_any, refused, release, span, trace, yes,
};
use super::world::{NOW, one, questions};

pub(super) async fn a_lease_is_renewed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    store.renew(&lease, span(bench, NOW + 50)).await.must("renew");
    let expected = Holder { name: "ann".to_owned(), left: span(bench, NOW + 50), fence: 1 };
    assert_eq!(load(&*store, "r1").await.info.holder, Some(expected), "the holder of the run, until when");
    let held = store.claim(&of(bench, "r1", "bob", NOW + 49, LONG)).await;
    refused!("claim before its new end", held, StoreError::Held { left, .. } if left.as_millis() == 1);
    store.claim(&of(bench, "r1", "bob", NOW + 50, LONG)).await.must("claim at its new end");
}

pub(super) async fn expired_lease_of_an_unclaimed_run_is_renewed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    bench.clock().set(NOW + 20);
    store.renew(&lease, span(bench, NOW + 100)).await.must("renew after its end");
    let held = store.claim(&of(bench, "r1", "bob", NOW + 50, LONG)).await;
    refused!("claim the renewed run", held, StoreError::Held { left, .. } if left.as_millis() == 50);
}

pub(super) async fn a_lease_renewed_for_no_time_is_over(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    store.claim(&of(bench, "r1", "ann", NOW, LONG)).await.must("claim").must("claim");
    let holder = load(&*store, "r1").await.info.holder.must("its holder");
    store.renew(&Lease::new("r1", holder.fence), Duration::ZERO).await.must("renew for no time");
    let lease = store.claim(&of(bench, "r1", "bob", NOW, LONG)).await.must("claim").must("claim");
    assert_eq!(lease.fence, 2, "the fencing token of the lease after it");
    let fenced = store.renew(&Lease::new("r1", holder.fence), Duration::ZERO).await;
    refused!("end a lease that was taken", fenced, StoreError::Fenced { fence: 1, current: 2, .. });
    // The ended lease counts as a lost claim.
    assert_eq!(load(&*store, "r1").await.info.lost, 1, "claims that were lost");
}

/// Such a lease lasts until it is renewed with a shorter term, or the run is given back.
pub(super) async fn a_lease_without_a_term_has_no_end(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "ann", Duration::MAX)).await.must("claim").must("claim");
    for _ in 0..2 {
        bench.clock().set(LONG);
        let held = store.claim(&of(bench, "r1", "bob", LONG, LONG + 1)).await;
        refused!(
            "claim the run of a lease without an end",
            held,
            StoreError::Held { left: Duration::MAX, .. }
        );
        assert_eq!(
            store.claim(&of_any(bench, "bob", LONG, LONG + 1)).await.must("claim any"),
            None,
            "no run is free"
        );
        let holder = load(&*store, "r1").await.info.holder.must("its holder");
        assert_eq!(holder.left, Duration::MAX, "the time that is left");
        // A renewal with the maximum keeps the lease without an end.
        store.renew(&lease, Duration::MAX).await.must("renew without a term");
    }
    store.renew(&lease, Duration::from_millis(5)).await.must("renew for less");
    store
        .claim(&of(bench, "r1", "bob", LONG + 5, LONG + 9))
        .await
        .must("claim")
        .must("claim after its new end");
    let fenced = store.renew(&lease, Duration::MAX).await;
    refused!("renew the lease of a taken run", fenced, StoreError::Fenced { fence: 1, current: 2, .. });
}

pub(super) async fn a_lease_that_was_taken_is_not_renewed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let old = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    store.claim(&of(bench, "r1", "bob", NOW + 10, NOW + 20)).await.must("claim").must("claim");
    let fenced = store.renew(&old, span(bench, LONG)).await;
    refused!("renew an older lease", fenced, StoreError::Fenced { run, fence: 1, current: 2 } if run == "r1");
    let expected = Holder { name: "bob".to_owned(), left: span(bench, NOW + 20), fence: 2 };
    assert_eq!(load(&*store, "r1").await.info.holder, Some(expected), "the holder of the run, until when");
}

pub(super) async fn a_run_is_given_back_with_its_problem(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    store.release(&lease, &Release::retry_after(span(bench, NOW + 5), "no key")).await.must("deferred");
    let info = load(&*store, "r1").await.info;
    let told = (info.holder, info.not_before, info.problem.as_deref());
    assert_eq!(told, (None, Some(span(bench, NOW + 5)), Some("no key")), "holder, time and problem");
    let lease = claim(&*store, "r1").await;
    release(&*store, &lease).await;
    let info = load(&*store, "r1").await.info;
    assert_eq!((info.holder, info.not_before, info.problem), (None, None, None), "given back clean");
}

pub(super) async fn claims_that_were_lost_are_counted(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lost = async || load(&*store, "r1").await.info.lost;
    // Each claim follows a lost one.
    let take = async |turn: u64, any: bool| {
        let (now, until) = (NOW + turn * 10, NOW + turn * 10 + 10);
        let wish = if any { of_any(bench, "w", now, until) } else { of(bench, "r1", "w", now, until) };
        store.claim(&wish).await.must("claim").must("claim r1")
    };
    for (turn, expected) in [(1, 0), (2, 1), (3, 2)] {
        take(turn, turn % 2 == 0).await;
        assert_eq!(lost().await, expected, "claims that ended with nothing, at claim {turn}");
    }
    let lease = take(4, true).await;
    assert_eq!(lease.lost, 3, "reported by the lease of a claim without a name");
    assert_eq!(lost().await, 3, "the lease after three that ended with nothing");
    // A release with a retry delay, or after a drain, does not show that the run can be driven.
    store.release(&lease, &Release::retry_after(span(bench, NOW), "no key")).await.must("deferred");
    let lease = take(5, true).await;
    assert_eq!(lost().await, 3, "after a lease that deferred it");
    store.release(&lease, &Release::clean()).await.must("release");
    let lease = take(5, true).await;
    assert_eq!(lost().await, 3, "after a lease that gave it back");
    store.release(&lease, &Release::clean().with_lost_claims_reset()).await.must("release");
    assert_eq!(lost().await, 0, "given back with a pardon");
    take(6, true).await;
    assert_eq!(lost().await, 0, "after a lease with a cleared loss count");
    let lease = take(7, false).await;
    assert_eq!(lost().await, 1, "after a lease that ended with nothing");
    let played = Played::new("r1", &[one("a", "say", json!(1)), questions(1)]).await;
    let mut commits = played.commits();
    store.commit(&lease, commits.next().must("a commit")).await.must("commit");
    let lease = take(8, false).await;
    assert_eq!(lost().await, 2, "after a lease that committed, and ended no step");
    for commit in commits {
        store.commit(&lease, commit).await.must("commit");
        if commit.run.steps > 1 {
            break;
        }
    }
    take(9, false).await;
    assert_eq!(lost().await, 0, "after a lease that ended a step");
}

pub(super) async fn last_commit_gives_the_run_back(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[questions(1)]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    store.release(&lease, &Release::retry_after(Duration::ZERO, "no key")).await.must("deferred");
    // A lost claim.
    store.claim(&of(bench, "r1", "ann", NOW, NOW + 1)).await.must("claim");
    let lease = store.claim(&of(bench, "r1", "bob", NOW + 1, LONG)).await.must("claim").must("claim");
    assert_eq!(load(&*store, "r1").await.info.lost, 1, "lost claims before the commit");
    let count = played.commits().len();
    let (first, last) = (played.commits().take(count - 1), played.last());
    for one in first {
        store.commit(&lease, one).await.must("commit");
    }
    // A refused commit keeps the lease.
    let mut other = last.clone();
    other.version += 1;
    let refused = store.commit_and_release(&lease, &other).await;
    refused!("a commit of another number", refused, StoreError::Version { .. });
    assert!(load(&*store, "r1").await.info.holder.is_some(), "the holder after a refused commit");

    store.commit_and_release(&lease, &last).await.must("commit and release");
    let info = load(&*store, "r1").await.info;
    let told = (info.version, info.holder, info.not_before, info.problem, info.lost);
    assert_eq!(told, (last.version, None, None, None, 0), "the run after its last commit");
    assert_stored(&*store, played.state(), "after its last commit").await;
    assert_eq!(trace(&*store, "r1").await, played.trace(), "its trace");

    // A late renewal does not restore the lease.
    store.renew(&lease, span(bench, LONG)).await.must("renew the lease of a run given back");
    assert_eq!(load(&*store, "r1").await.info.holder, None, "the holder after a late renewal");
    // The acknowledgement was lost.
    let mut again = last.clone();
    again.again = true;
    store.commit_and_release(&lease, &again).await.must("commit and release again");
    assert_eq!(load(&*store, "r1").await.info.version, last.version, "the version after a repeated commit");

    // The run is free, and the next claim invalidates this lease.
    let yes = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(store.post(&yes).await.must("post d0"), Posted::Accepted, "a decision");
    let next = claim_any(bench, &*store, NOW + 2).await.must("a run with a decision");
    assert_eq!(next.fence, lease.fence + 1, "the next lease");
    let fenced = store.commit_and_release(&lease, &again).await;
    refused!("a repeated commit after the next claim", fenced, StoreError::Fenced { .. });
    assert!(load(&*store, "r1").await.info.holder.is_some(), "the next holder after a fenced commit");
}

pub(super) async fn an_older_lease_gives_nothing_back(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let old = store.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    store.claim(&of(bench, "r1", "bob", NOW + 10, LONG)).await.must("claim").must("claim");
    let before = load(&*store, "r1").await.info;
    store
        .release(&old, &Release::retry_after(span(bench, NOW + 99), "ann gave up"))
        .await
        .must("release an older lease");
    assert_eq!(load(&*store, "r1").await.info, before, "the runs held by bob");
    // A release for a removed run is ignored as well.
    store.release(&Lease::new("gone", 1), &Release::clean()).await.must("release a run that is not there");
}

pub(super) async fn fencing_tokens_grow_after_a_release(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    for fence in 1..=4 {
        let lease = claim_any(bench, &*store, NOW).await.must("claim any");
        assert_eq!(lease.fence, fence, "a lease after one that was given back");
        release(&*store, &lease).await;
    }
    let old = store.renew(&Lease::new("r1", 3), span(bench, LONG)).await;
    refused!("renew a lease that was given back", old, StoreError::Fenced { fence: 3, current: 4, .. });
}
