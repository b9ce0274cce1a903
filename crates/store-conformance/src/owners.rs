//! Ownership: of two workers with a lease on a run, only one can continue it.

use runstate_store::StoreError;
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, assert_stored, commit, create, everything, handle, load, of, of_any, refused, span,
};
use super::world::{NOW, one};

async fn played() -> Played {
    Played::new("r1", &[one("a", "say", json!(1)), one("b", "say", json!(2))]).await
}

pub(super) async fn paused_holder_is_fenced_after_another_claim(bench: &dyn Bench) {
    let (ann, bob) = (handle(bench).await, handle(bench).await);
    let played = played().await;
    create(&*ann, "r1").await;
    let old = ann.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    commit(&*ann, &old, &played.commit(1)).await;
    commit(&*ann, &old, &played.commit(2)).await;

    // Ann is paused, and her lease expires. Bob continues.
    let new = bob.claim(&of_any(bench, "bob", NOW + 10, LONG)).await.must("claim").must("the run of ann");
    assert_eq!(load(&*bob, "r1").await.info.version, 2, "bob reads the commits of ann");
    let fenced = ann.commit(&old, &played.commit(3)).await;
    refused!("ann's next commit", fenced, StoreError::Fenced { fence: 1, current: 2, .. });
    commit(&*bob, &new, &played.commit(3)).await;
    for version in [3, 4] {
        let fenced = ann.commit(&old, &played.commit(version)).await;
        refused!("ann's next commit, after bob's", fenced, StoreError::Fenced { .. });
    }
    refused!("ann's renewal", ann.renew(&old, span(bench, LONG)).await, StoreError::Fenced { .. });
    commit(&*bob, &new, &played.commit(4)).await;
    for store in [&ann, &bob] {
        assert_eq!(load(&**store, "r1").await.info.version, 4, "the run as both read it");
    }
}

pub(super) async fn paused_holder_continues_an_unclaimed_run(bench: &dyn Bench) {
    let (ann, bob) = (handle(bench).await, handle(bench).await);
    let played = played().await;
    create(&*bob, "r1").await;
    let lease = ann.claim(&of(bench, "r1", "ann", 0, 1)).await.must("claim").must("claim");
    for one in played.commits() {
        commit(&*ann, &lease, one).await;
    }
    assert_stored(&*bob, played.state(), "that bob reads").await;
}

pub(super) async fn fenced_holder_cannot_repeat_an_older_commit(bench: &dyn Bench) {
    let (ann, bob) = (handle(bench).await, handle(bench).await);
    let played = played().await;
    create(&*ann, "r1").await;
    let old = ann.claim(&of(bench, "r1", "ann", NOW, NOW + 10)).await.must("claim").must("claim");
    commit(&*ann, &old, &played.commit(1)).await;
    // Ann sent commit 2 without an acknowledgement; it was not made. Bob makes his own commit 2.
    let new = bob.claim(&of(bench, "r1", "bob", NOW + 10, LONG)).await.must("claim").must("claim");
    commit(&*bob, &new, &played.commit(2)).await;
    let before = everything(&*bob, "r1").await;
    let mut again = played.commit(2);
    again.again = true;
    again.values = vec![runstate_store::ValueRow::new(
        runstate_agent::keys::Scope::Run,
        "from ann",
        Some("1".to_owned()),
    )];
    refused!("ann's commit 2, again", ann.commit(&old, &again).await, StoreError::Fenced { .. });
    assert_eq!(everything(&*ann, "r1").await, before, "the commits of bob");
}

pub(super) async fn two_handles_see_each_others_commits(bench: &dyn Bench) {
    let (ann, bob) = (handle(bench).await, handle(bench).await);
    let played = played().await;
    create(&*ann, "r1").await;
    let mut fence = 0;
    for one in played.commits() {
        // In turns, each after the other one gave the run back.
        let (here, there) = if one.version % 2 == 0 { (&ann, &bob) } else { (&bob, &ann) };
        let lease = here.claim(&of_any(bench, "w", NOW, LONG)).await.must("claim").must("claim any");
        fence += 1;
        assert_eq!(lease.fence, fence, "fencing tokens grow across handles");
        commit(&**here, &lease, one).await;
        super::puts::release(&**here, &lease).await;
        assert_eq!(
            everything(&**there, "r1").await,
            everything(&**here, "r1").await,
            "the run as both read it"
        );
    }
}
