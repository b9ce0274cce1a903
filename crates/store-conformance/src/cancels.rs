//! Requested cancellations.

use runstate::run::RunStatus;

use super::Bench;
use super::played::Played;
use super::puts::{Must, claim, claim_any, commit, create, load, mail, put, put_done, release};
use super::world::{NOW, questions};

pub(super) async fn a_wish_to_cancel_is_noted_once(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    assert!(store.cancel("r1", "not needed").await.must("cancel"), "the first wish is noted");
    assert!(!store.cancel("r1", "really not").await.must("cancel"), "a second one changes nothing");
    let noted = Some("not needed".to_owned());
    assert_eq!(mail(&*store, "r1").await.cancel, noted, "in the pending signals");
    assert_eq!(load(&*store, "r1").await.info.cancel, noted, "in the listed info");

    // Commits that do not end the run keep the request.
    let played = Played::new("r1", &[questions(1)]).await;
    let lease = claim(&*store, "r1").await;
    for one in played.commits() {
        commit(&*store, &lease, one).await;
        assert_eq!(
            mail(&*store, "r1").await.cancel,
            noted,
            "in the pending signals after commit {}",
            one.version
        );
    }
}

pub(super) async fn a_cancelled_run_is_claimed_until_it_is_over(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[questions(1)]).await;
    let lease = put(&*store, &played).await;
    release(&*store, &lease).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a run that waits");
    store.cancel("r1", "not needed").await.must("cancel");
    let lease = claim_any(bench, &*store, NOW).await.must("a run that is to be cancelled");
    let mut end = played.last();
    end.version += 1;
    (end.run.status, end.run.reason) = (RunStatus::Done, Some("cancelled".to_owned()));
    (end.messages, end.trace, end.events) = (Vec::new(), Vec::new(), Vec::new());
    commit(&*store, &lease, &end).await;
    release(&*store, &lease).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a run that is over");
}

pub(super) async fn a_wish_to_cancel_is_over_with_the_run(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    store.cancel("r1", "").await.must("cancel, without a word");
    assert_eq!(mail(&*store, "r1").await.cancel.as_deref(), Some(""), "a wish without a word is one");
    for one in Played::new("r1", &[]).await.commits() {
        commit(&*store, &lease, one).await;
    }
    assert_eq!(mail(&*store, "r1").await.cancel, None, "in the pending signals of a run that is over");
    assert_eq!(load(&*store, "r1").await.info.cancel, None, "in the listed info");
}

pub(super) async fn a_run_that_is_over_is_not_cancelled(bench: &dyn Bench) {
    let store = bench.store().await;
    put_done(&*store, "r1").await;
    assert!(!store.cancel("r1", "too late").await.must("cancel"), "a run that is over");
    assert_eq!(mail(&*store, "r1").await.cancel, None, "in its pending signals");
}
