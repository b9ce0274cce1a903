//! Runs that are taken away.

use super::Bench;
use super::played::Played;
use super::puts::{
    ALL, LONG, Must, approvals, claim, claim_any, commit, create, everything, load, mail, put, put_waiting,
    refused, release, runs, trace, yes,
};
use super::world::{NOW, one, questions};
use crate::decision::DecisionAction::Resume;
use crate::store::{About, Mail, StoreError};
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
    let claim = crate::store::Claim::of("r1", "ann", NOW, NOW + 10);
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
