//! Runs that are taken away.

use super::Bench;
use super::played::Played;
use super::puts::{
    ALL, LONG, Must, approvals, claim, claim_any, commit, create, everything, load, mail, put, put_waiting,
    refused, release, runs, trace, yes,
};
use super::world::{NOW, one, questions};
use crate::decision::DecisionAction::Resume;
use crate::store::{About, Claim, Lease, Mail, RunStore, StoreError};
use serde_json::json;

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
    assert!(store.remove("r1", NOW).await.must("remove r1"), "it was there");
    assert!(!store.remove("r1", NOW).await.must("remove r1"), "it is not there any more");
    refused!("load r1", store.load("r1").await, StoreError::NoRun { .. });
    refused!("the trace of r1", store.trace("r1", 0, 1).await, StoreError::NoRun { .. });
    refused!("the mail of r1", store.mail("r1").await, StoreError::NoRun { .. });
    refused!("renew r1", store.renew(&lease, LONG).await, StoreError::NoRun { .. });
    assert_eq!(approvals(&*store, About::Run("r1".to_owned())).await, [], "calls of r1 that wait");
    assert_eq!(store.due(LONG, ALL).await.must("due"), [], "suspensions that lapse");
    assert_eq!(runs(&*store).await.len(), 1, "runs");
    assert_eq!(claim_any(&*store, NOW).await, None, "nothing can go on");
    assert_eq!(everything(&*store, "r2").await, before, "the other run");
    drop(other);
}

pub(super) async fn a_run_in_hand_is_not_removed(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let claim = Claim::of("r1", "ann", NOW, NOW + 10);
    store.claim(&claim).await.must("claim");
    match store.remove("r1", NOW + 9).await {
        Err(StoreError::Held { run, holder, until_ms }) => {
            assert_eq!((&*run, &*holder, until_ms), ("r1", "ann", NOW + 10), "who has r1, until when");
        }
        other => panic!("remove r1 while ann has it: expected Held, got {other:?}"),
    }
    assert_eq!(runs(&*store).await.len(), 1, "the run is there");
    assert!(store.remove("r1", NOW + 10).await.must("remove"), "at the very end of the lease");
    assert_eq!(runs(&*store).await, [], "the run is gone");
}

pub(super) async fn a_removed_run_can_be_created_anew(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = put_waiting(&*store, "r1", 2).await;
    store.post(&yes(&*store, "r1", "c0", "d0").await).await.must("post d0");
    store.cancel("r1", "not needed").await.must("cancel");
    store.remove("r1", NOW).await.must("remove");

    create(&*store, "r1").await;
    assert_eq!(load(&*store, "r1").await.stored, None, "nothing is left of the old run");
    assert_eq!(mail(&*store, "r1").await, Mail::default(), "nothing is left of its mail");
    assert_eq!(trace(&*store, "r1").await, [], "nothing is left of its trace");
    let lease = claim(&*store, "r1").await;
    for one in Played::new("r1", &[questions(2)]).await.commits() {
        commit(&*store, &lease, one).await;
    }
    assert_eq!(approvals(&*store, About::All).await.len(), 2, "calls that wait");
    let mut same = yes(&*store, "r1", "c0", "d0").await;
    same.action = Resume;
    let posted = store.post(&same).await.must("post d0");
    assert_eq!(posted, crate::store::Posted::Accepted, "the decision of the old run is forgotten");
    assert_eq!(trace(&*store, "r1").await, played.trace(), "the trace of the new run alone");
}

pub(super) async fn fences_do_not_begin_anew_when_a_run_is_removed(bench: &dyn Bench) {
    let (ann, bob) = (bench.store().await, bench.store().await);
    let played = Played::new("r1", &[questions(1)]).await;
    let mut fence = 0;
    for life in 1..=3 {
        // Ann is paused with a lease on the run. Its run ends without her, and is removed.
        create(&*ann, "r1").await;
        let old = claim_at(&*ann, fence, NOW, NOW + 10).await;
        let end = claim_at(&*bob, old.fence, NOW + 10, NOW + 20).await;
        assert!(bob.remove("r1", NOW + 20).await.must("remove r1"), "life {life}: it was there");

        // Another one has its id. What ann has is no lease on that.
        create(&*bob, "r1").await;
        for lease in [&old, &end] {
            let fenced = ann.commit(lease, &played.commit(1)).await;
            refused!("a commit of the lease on another run", fenced, StoreError::Fenced { .. });
        }
        let new = claim_at(&*bob, end.fence, NOW + 20, LONG).await;
        let before = everything(&*bob, "r1").await;
        for lease in [&old, &end] {
            let fenced = ann.commit(lease, &played.commit(1)).await;
            refused!("a commit of the lease on another run", fenced, StoreError::Fenced { .. });
            refused!("its renewal", ann.renew(lease, LONG + 1).await, StoreError::Fenced { .. });
            release(&*ann, lease).await;
        }
        assert_eq!(everything(&*bob, "r1").await, before, "life {life}: the run that bob has");
        commit(&*bob, &new, &played.commit(1)).await;
        release(&*bob, &new).await;
        assert!(bob.remove("r1", LONG).await.must("remove r1"), "life {life}: it was there again");
        fence = new.fence;
    }
}

/// Claims the run, with a fence above that one.
async fn claim_at(store: &dyn RunStore, above: u64, now_ms: u64, until_ms: u64) -> Lease {
    let lease = store.claim(&Claim::of("r1", "w", now_ms, until_ms)).await.must("claim r1").must("claim r1");
    assert!(lease.fence > above, "the fence {} behind {above}, which another lease on r1 had", lease.fence);
    lease
}
