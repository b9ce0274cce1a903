//! Each decision is answered: also one that is on its way while its run ends, whatever ends it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate_agent::{
    ActivationError, Incoming, Input, Phase, PhaseContext, Phases, Plugin, PluginError, Reply, RunGone,
    RunHandles, StoredRun, async_trait, run_loop,
};

use super::parts::{World, settled};

fn on(id: &str, call: &str) -> Incoming {
    Incoming::new(id, call, Resume).on(format!("r1/{call}/1"))
}

/// The reply that is there without another loop.
fn reply_now(future: &mut Pin<Box<dyn Future<Output = Result<Reply, RunGone>> + Send>>) -> &'static str {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply.unwrap().name(),
        Poll::Pending => "none",
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_sent_behind_the_end_of_its_run_is_answered() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    // Bound while its call waits, and not yet on its way.
    let mut late = Box::pin(world.handle.decide(on("late", "b"))) as _;
    world.cancel(&mut state).await.unwrap();
    assert_eq!(reply_now(&mut late), "stale");
    assert_eq!(world.handle.decide(on("later", "b")).await.unwrap().name(), "stale");
    assert!(!world.handle.write("hello?").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_decision_behind_many_batches_is_answered() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    // As many as there is place for are on their way, and the others wait for a place.
    (0..200).for_each(|number| world.send(on(&format!("d{number}"), "b")));
    settled().await;
    assert_eq!(world.replies(), []);
    world.cancel(&mut state).await.unwrap();
    settled().await;
    let replies: Vec<_> = world.replies().iter().map(|(_, reply)| reply.name()).collect();
    assert_eq!(replies, ["stale"; 200]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_answers_what_was_sent() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.send(on("d1", "a"));
    settled().await;
    world.cancel(&mut state).await.unwrap();
    settled().await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Stale)]);
}

#[tokio::test(start_paused = true)]
async fn a_retried_end_answers_what_was_sent() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.put(&[("a", Resume)]);
    // The commits of an activation: its begin, the decision, its replay, the answer, its end.
    let made = world.kept.triggers().len();
    world.kept.fail_at = Some(made + 4);
    let Err(ActivationError::Unfinished(unfinished)) = world.try_drive(&mut state, Input::Resume).await
    else {
        panic!("the end cannot be committed")
    };
    let agent = world.agent();
    let mut late = Box::pin(world.handle.decide(on("d2", "a"))) as _;
    let io = RunHandles::new().committer(&mut world.kept).inbox(&mut world.inbox);
    unfinished.retry(&agent, &mut state, io).await.unwrap();
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(reply_now(&mut late), "conflict");
    assert_eq!(world.handle.decide(on("d3", "a")).await.unwrap().name(), "conflict");
}

/// Fails the second activation before anything in it.
struct FailsOnce;

#[async_trait]
impl Plugin for FailsOnce {
    fn name(&self) -> &str {
        "fails once"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::RunStart])
    }

    async fn run_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        if cx.activation() == 2 { Err("no".into()) } else { Ok(()) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_whose_activation_fails_is_answered() {
    let mut world = World::new(&[&[("a", "write")]]);
    world.plugins.push(std::sync::Arc::new(FailsOnce));
    let mut state = world.state();
    world.start(&mut state).await;
    world.put(&[("a", Resume)]);
    world.resume(&mut state).await;
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(world.replies(), [("d-a".to_owned(), Reply::Stale)]);
}

/// Its own commit failed, and the commit of the end has it.
#[tokio::test(start_paused = true)]
async fn a_decision_that_the_end_commits_is_known() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.put(&[("a", Cancel)]);
    let made = world.kept.triggers().len();
    world.kept.fail_at = Some(made + 1);
    world.resume(&mut state).await;
    assert_eq!(state.run().status(), RunStatus::Done);
    let stored = StoredRun::of(&world.restored()).unwrap();
    let again = world.handle.decide(Incoming::new("d-a", "a", Cancel)).await.unwrap();
    let stored: Vec<_> = stored.decisions().values().map(|decision| &*decision.decision_id).collect();
    assert_eq!((again, stored), (Reply::Duplicate, vec!["d-a"]));
}

/// A loop with another inbox, or with none, goes on with the run; then the first inbox is used again.
#[tokio::test(start_paused = true)]
async fn an_inbox_knows_what_another_loop_did() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write_twice")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let agent = world.agent();
    let (_handle, mut other) = runstate_agent::inbox();
    other.put(on("d1", "a"));
    other.put(on("d2", "b"));
    let io = RunHandles::new().committer(&mut world.kept).inbox(&mut other).parking();
    run_loop(&agent, &mut state, Input::Resume, io).await.unwrap();
    assert_eq!(state.pending()[0].suspension.id, "r1/b/2");

    // Bound by the old list, when it still waited.
    world.send(on("d3", "b"));
    settled().await;
    world.resume(&mut state).await;
    let replies = world.replies();
    assert!(matches!(&replies[..], [(_, Reply::Conflict(by))] if by.decision_id == "d2"), "{replies:?}");
    let waiting: Vec<_> = world.handle.pending().iter().map(|it| it.suspension.id.clone()).collect();
    assert_eq!(waiting, ["r1/b/2"]);
}
