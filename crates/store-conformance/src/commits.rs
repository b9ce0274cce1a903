//! Commits, their numbers, and repeated commits.

use runstate::run::RunStatus;
use runstate_store::{Commit, Lease, RunStore, StoreError};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{LONG, Must, claim, commit, create, everything, load, of, put, refused, runs};
use super::world::{NOW, one, questions};

/// Creates and claims a run with at least four prepared commits, none of them made.
async fn begun(store: &dyn RunStore) -> (Played, Lease) {
    let played = Played::new("r1", &[one("a", "say", json!(1)), one("b", "say", json!(2))]).await;
    assert!(played.commits().len() >= 4, "the suite's run has {} commits", played.commits().len());
    create(store, "r1").await;
    let lease = claim(store, "r1").await;
    (played, lease)
}

fn again(commit: &Commit) -> Commit {
    let mut again = commit.clone();
    again.again = true;
    again
}

pub(super) async fn commits_follow_each_other_by_number(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, lease) = begun(&*store).await;
    let refused = store.commit(&lease, &played.commit(2)).await;
    refused!("commit 2 first", refused, StoreError::Version { run, got: 2, expected: 1 } if run == "r1");
    assert_eq!(load(&*store, "r1").await.stored, None, "nothing was committed");
    commit(&*store, &lease, &played.commit(1)).await;
    for (number, expected) in [(1, 2), (3, 2), (4, 2)] {
        let refused = store.commit(&lease, &played.commit(number)).await;
        let what = format!("commit {number} after commit 1");
        refused!(what, refused, StoreError::Version { got, expected: 2, .. } if got == number as u64);
        assert_eq!(load(&*store, "r1").await.info.version, expected - 1, "{what}: the version");
    }
    commit(&*store, &lease, &played.commit(2)).await;
    let mut zero = played.commit(1);
    zero.version = 0;
    let refused = store.commit(&lease, &zero).await;
    refused!("commit 0", refused, StoreError::Version { got: 0, expected: 3, .. });
}

pub(super) async fn commit_and_lists_have_the_same_run_info(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[one("a", "say", json!(1)), questions(3)]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let before = load(&*store, "r1").await.info;
    for one in played.commits() {
        commit(&*store, &lease, one).await;
        let mut expected = before.clone();
        (expected.status, expected.reason) = (one.run.status, one.run.reason.clone());
        (expected.version, expected.steps, expected.waiting) = (one.version, one.run.steps, one.run.waiting);
        expected.changed_at_ms = one.at_ms;
        assert_eq!(load(&*store, "r1").await.info, expected, "the info of r1 after commit {}", one.version);
        assert_eq!(runs(&*store).await, [expected], "the list after commit {}", one.version);
    }
    let info = load(&*store, "r1").await.info;
    assert_eq!((info.status, info.waiting), (RunStatus::Waiting, 3), "the suite's run, in the end");
}

pub(super) async fn a_commit_that_is_given_again_is_there_once(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, lease) = begun(&*store).await;
    for one in played.commits() {
        commit(&*store, &lease, one).await;
        let before = everything(&*store, "r1").await;
        commit(&*store, &lease, &again(one)).await;
        assert_eq!(everything(&*store, "r1").await, before, "after commit {} was given again", one.version);
        let twice = store.commit(&lease, one).await;
        refused!("a commit twice, not as given again", twice, StoreError::Version { .. });
    }
}

pub(super) async fn a_commit_that_is_given_again_may_hold_more(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, lease) = begun(&*store).await;
    commit(&*store, &lease, &played.commit(1)).await;
    commit(&*store, &lease, &played.commit(2)).await;
    // The rows of commits 2 and 3 under number 2, at a later time. A loop gives this commit if it was dropped during
    // commit 2 and continued before it committed again.
    let (second, third) = (played.commit(2), played.commit(3));
    let mut more = again(&third);
    more.version = 2;
    more.messages = second.messages.iter().chain(&third.messages).cloned().collect();
    more.calls = second.calls.iter().chain(&third.calls).cloned().collect();
    more.trace = second.trace.iter().chain(&third.trace).cloned().collect();
    commit(&*store, &lease, &more).await;

    let loaded = load(&*store, "r1").await;
    assert_eq!((loaded.info.version, loaded.info.changed_at_ms), (2, third.at_ms), "version and time");
    let expected = played.stored().nth(2).map(|stored| stored.suspended().len());
    assert_eq!(loaded.stored.map(|stored| stored.suspended().len()), expected, "the run of commit 3");
    let trace: Vec<_> = played.commits().take(3).flat_map(|commit| commit.trace.iter().cloned()).collect();
    assert_eq!(super::puts::trace(&*store, "r1").await, trace, "the trace of three commits, each event once");
    let messages: usize = played.commits().take(3).map(|commit| commit.messages.len()).sum();
    assert_eq!(loaded.messages, messages as u64, "the messages of three commits, each once");

    let mut next = played.commit(4);
    next.version = 3;
    commit(&*store, &lease, &next).await;
    let messages: usize = played.commits().take(4).map(|commit| commit.messages.len()).sum();
    assert_eq!(load(&*store, "r1").await.messages, messages as u64, "the messages of four commits");
}

pub(super) async fn a_commit_that_was_not_made_may_be_given_as_again(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, lease) = begun(&*store).await;
    for (one, stored) in played.commits().zip(played.stored()) {
        commit(&*store, &lease, &again(one)).await;
        assert_eq!(load(&*store, "r1").await.stored, Some(stored), "after commit {}", one.version);
    }
}

pub(super) async fn a_commit_of_another_lease_is_not_given_again(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, _) = begun(&*store).await;
    super::puts::release(&*store, &Lease::new("r1", 1)).await;
    let lease = claim(&*store, "r1").await;
    commit(&*store, &lease, &played.commit(1)).await;
    let next = store.claim(&of(bench, "r1", "bob", LONG, LONG + 10)).await.must("claim").must("claim");
    let before = everything(&*store, "r1").await;
    let refused = store.commit(&next, &again(&played.commit(1))).await;
    refused!(
        "commit 1 again, which was made under another lease",
        refused,
        StoreError::Version { got: 1, expected: 2, .. }
    );
    let fenced = store.commit(&lease, &again(&played.commit(1))).await;
    refused!("commit 1 again, by the fenced holder", fenced, StoreError::Fenced { fence: 2, current: 3, .. });
    assert_eq!(everything(&*store, "r1").await, before, "after both");
    commit(&*store, &next, &played.commit(2)).await;
    commit(&*store, &next, &again(&played.commit(2))).await;
}

pub(super) async fn an_earlier_commit_is_not_given_again(bench: &dyn Bench) {
    let store = bench.store().await;
    let (played, lease) = begun(&*store).await;
    for version in 1..=3 {
        commit(&*store, &lease, &played.commit(version)).await;
    }
    let before = everything(&*store, "r1").await;
    for version in 1..=2 {
        let refused = store.commit(&lease, &again(&played.commit(version))).await;
        refused!("an earlier commit again", refused, StoreError::Version { expected: 4, .. });
    }
    let mut later = again(&played.commit(4));
    later.version = 5;
    let refused = store.commit(&lease, &later).await;
    refused!("a later commit as again", refused, StoreError::Version { got: 5, expected: 4, .. });
    assert_eq!(everything(&*store, "r1").await, before, "after all of them");
}

pub(super) async fn holder_of_an_unclaimed_run_commits_after_its_lease(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[]).await;
    let lease = put(&*store, &played).await;
    assert_eq!(lease, Lease::new("r1", 1), "the lease");
    // An expired lease remains valid until the run is claimed again.
    let played = Played::new("r2", &[]).await;
    create(&*store, "r2").await;
    let lease = store.claim(&of(bench, "r2", "w", NOW, NOW + 1)).await.must("claim").must("claim");
    bench.clock().set(LONG);
    for one in played.commits() {
        commit(&*store, &lease, one).await;
    }
}
