//! Durability: acknowledged data is there after the store is opened again.

use std::task::{Context, Poll};

use runstate_agent::keys::Scope;
use runstate_store::{NewRun, Release, StoreError, ValueRow};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, assert_stored, claim, commit, create, everything, load, mail, of, of_any, release, span, yes,
};
use super::world::{NOW, one, questions};

pub(super) async fn acknowledged_data_is_there_after_reopening(bench: &dyn Bench) {
    // Each operation uses a handle that is dropped after it. Another handle reads the result.
    let mut played = Played::new("r1", &[one("a", "note", json!({ "run": 1 })), questions(2)]).await;
    let new = NewRun::new("r1", json!({ "a": 1 }), NOW).titled("tidy up");
    bench.store().await.create(&new).await.must("create");
    assert_eq!(load(&*bench.store().await, "r1").await.info.title, "tidy up", "the run that was created");
    let claim = of(bench, "r1", "ann", NOW, NOW + 10);
    let lease = bench.store().await.claim(&claim).await.must("claim").must("claim");
    bench.store().await.renew(&lease, span(bench, LONG)).await.must("renew");
    let holder = load(&*bench.store().await, "r1").await.info.holder.must("the holder of the run");
    assert_eq!((&*holder.name, holder.left), ("ann", span(bench, LONG)), "the lease that was renewed");
    for (one, stored) in played.commits().zip(played.stored()) {
        commit(&*bench.store().await, &lease, one).await;
        let loaded = load(&*bench.store().await, "r1").await;
        assert_eq!(loaded.stored, Some(stored), "commit {}", one.version);
    }
    let decision = yes(&*bench.store().await, "r1", "c0", "d0").await;
    bench.store().await.post(&decision).await.must("post");
    bench.store().await.cancel("r1", "not needed").await.must("cancel");
    let waiting = mail(&*bench.store().await, "r1").await;
    assert_eq!(waiting.decisions, std::slice::from_ref(&decision), "the decision that was posted");
    assert_eq!(waiting.cancel.as_deref(), Some("not needed"), "the wish to cancel");
    for new in played.resume(&[decision]).await {
        commit(&*bench.store().await, &lease, &played.commit(new + 1)).await;
    }
    assert_stored(&*bench.store().await, played.state(), "with the decision that was taken").await;
    bench
        .store()
        .await
        .release(&lease, &Release::retry_after(span(bench, NOW + 7), "away"))
        .await
        .must("release");
    let info = load(&*bench.store().await, "r1").await.info;
    assert_eq!(
        (info.holder, info.not_before),
        (None, Some(span(bench, NOW + 7))),
        "the run that was given back"
    );
    let next = of_any(bench, "bob", NOW + 7, LONG);
    let next = bench.store().await.claim(&next).await.must("claim").must("claim any");
    assert_eq!(next.fence, lease.fence + 1, "fencing tokens grow across handles");
    release(&*bench.store().await, &next).await;
    let again = bench.store().await.create(&new).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "create again: expected Taken, got {again:?}");
    assert!(bench.store().await.remove("r1").await.must("remove"), "the run was there");
    let gone = bench.store().await.load("r1").await;
    assert!(matches!(gone, Err(StoreError::NoRun { .. })), "the removed run: expected NoRun, got {gone:?}");
}

pub(super) async fn an_operation_that_was_dropped_was_made_whole_or_not_at_all(bench: &dyn Bench) {
    let store = bench.store().await;
    let script: Vec<_> = (0..6).map(|step| one("a", "note", json!({ "run": step }))).collect();
    let played = Played::new("r1", &script).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let mut stored = played.stored();
    for (polls, one) in played.commits().enumerate() {
        let mut commit_one = store.commit(&lease, one);
        for _ in 0..polls {
            let polled = commit_one.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop()));
            match polled {
                Poll::Pending => tokio::time::sleep(std::time::Duration::from_micros(200)).await,
                Poll::Ready(done) => {
                    done.must("commit");
                    commit_one = Box::pin(async { Ok(()) });
                }
            }
        }
        drop(commit_one);
        // A dropped commit may still be made, but not partially, and not twice.
        let mut again = one.clone();
        again.again = true;
        commit(&*store, &lease, &again).await;
        let loaded = load(&*store, "r1").await;
        assert_eq!(loaded.stored, stored.next(), "commit {}, given again", one.version);
    }
    // A dropped repetition is not made after a later repetition with more rows.
    let mut last = played.last();
    last.again = true;
    for number in 0..20 {
        let value = |key: String| ValueRow::new(Scope::Run, key, Some(number.to_string()));
        let mut less = last.clone();
        less.values.push(value("kept".to_owned()));
        let mut more = less.clone();
        more.run.steps = 1_000 + number;
        let mut dropped = store.commit(&lease, &less);
        for _ in 0..number % 4 {
            if dropped.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready() {
                dropped = Box::pin(async { Ok(()) });
            }
        }
        drop(dropped);
        commit(&*store, &lease, &more).await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        let steps = load(&*store, "r1").await.info.steps;
        assert_eq!(steps, 1_000 + number, "steps, as the last commit says");
    }
    let before = everything(&*store, "r1").await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(everything(&*store, "r1").await, before, "nothing that was dropped comes later");
}
