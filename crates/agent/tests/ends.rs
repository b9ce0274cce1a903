//! The last commit of a run, or of a wait: one that fails or is cut off is owed by whoever drives the run next.

use std::time::Duration;

use runstate::checkpoint::Trigger;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::event::EventKind;
use runstate_agent::{ActivationError, Input, RunHandles, RunState, WhenSuspended};

use super::parts::{World, settled, statuses};
use super::rounds::timed;
use super::script::asks;

/// The commit in which the run of one call that waits is made to wait, counted from 0.
const LAST: usize = 3;

fn waits_for_a() -> World {
    World::new(&[&[("a", "write")]])
}

/// The loop is dropped in a commit that does not end.
async fn dropped_in(world: &mut World, state: &mut RunState, commit: usize, input: Input) {
    world.kept.hangs_at = Some(commit);
    let dropped = tokio::time::timeout(Duration::from_secs(1), world.try_drive(state, input)).await;
    assert!(dropped.is_err(), "the loop came to its end");
    world.kept.hangs_at = None;
}

/// The ends that were told.
fn finished(world: &World) -> Vec<TerminationReason> {
    let ends = world.told.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::RunFinished { reason, .. } => Some(reason),
        _ => None,
    });
    ends.collect()
}

/// Each event has the number behind the one before it.
fn assert_numbered(world: &World) {
    let numbers: Vec<u64> = world.told.all().iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn dropped_wait_commit_is_made_and_emitted_by_the_next_loop() {
    let mut world = waits_for_a();
    let mut state = world.state();
    dropped_in(&mut world, &mut state, LAST, Input::message("tidy up")).await;
    assert_eq!(state.run().status(), RunStatus::Waiting);
    assert_eq!(world.restored().run().status(), RunStatus::Running);
    assert_eq!(finished(&world), []);
    for _ in 0..2 {
        let outcome = world.resume(&mut state).await;
        assert_eq!((outcome.reason, outcome.waiting), (TerminationReason::Suspended, vec!["a".to_owned()]));
        assert_eq!(world.restored().run().status(), RunStatus::Waiting);
        assert_eq!(world.kept.triggers().len(), LAST + 1, "once");
        assert_eq!(finished(&world), [TerminationReason::Suspended], "once");
    }
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.reason, TerminationReason::NaturalEnd);
    assert_numbered(&world);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn dropped_wait_commit_is_made_before_the_next_user_message() {
    let mut world = waits_for_a();
    let mut state = world.state();
    dropped_in(&mut world, &mut state, LAST, Input::message("tidy up")).await;
    assert_eq!(world.write(&mut state, "forget it").await.reason, TerminationReason::NaturalEnd);
    assert_eq!(finished(&world), [TerminationReason::Suspended, TerminationReason::NaturalEnd]);
    assert_eq!(statuses(&world.restored()), ["a Cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn failed_commit_of_a_cancelled_wait_succeeds_on_retry() {
    for same in ["run_loop", "cancel_run"] {
        let mut world = waits_for_a();
        let mut state = world.state();
        world.start(&mut state).await;
        world.token.cancel();
        world.kept.fail_at = Some(LAST + 1);
        let failed = world.try_drive(&mut state, Input::Resume).await.unwrap_err();
        assert!(matches!(failed, ActivationError::NotCommitted(_)), "{failed}");
        assert!(failed.to_string().ends_with("do the same again to commit it"), "{failed}");
        assert_eq!(world.restored().run().status(), RunStatus::Waiting, "what was committed stays");
        let refused = world.try_drive(&mut state, Input::message("and now?")).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the run is Done: it is over, and its end is not committed: resume it, which commits it"
        );
        let again = match same {
            "run_loop" => world.try_drive(&mut state, Input::Resume).await,
            _ => world.cancel(&mut state).await,
        };
        assert_eq!(again.unwrap().reason, TerminationReason::Cancelled, "{same}");
        assert_eq!(world.restored().run().status(), RunStatus::Done);
        assert_eq!(finished(&world).last(), Some(&TerminationReason::Cancelled));
        assert_numbered(&world);
        let refused = world.cancel(&mut state).await.unwrap_err();
        assert!(matches!(refused, ActivationError::NotStartable { .. }), "it is committed once: {refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_commit_of_a_cancelled_wait_is_made_by_the_next_loop() {
    let mut world = waits_for_a();
    let mut state = world.state();
    world.start(&mut state).await;
    world.token.cancel();
    dropped_in(&mut world, &mut state, LAST + 1, Input::Resume).await;
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::Cancelled);
    assert_eq!(world.restored().run().status(), RunStatus::Done);
    assert_eq!(finished(&world), [TerminationReason::Suspended, TerminationReason::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn retried_end_commit_is_emitted_and_uses_its_numbers_once() {
    let mut world = waits_for_a();
    (world.kept.fail_at, world.kept.fail_on) = (Some(LAST), true);
    let mut state = world.state();
    let failed = world.try_drive(&mut state, Input::message("tidy up")).await.unwrap_err();
    assert!(failed.to_string().ends_with("`Unfinished::retry` commits it, or resume the run"), "{failed}");
    let ActivationError::Unfinished(unfinished) = failed else { panic!("{failed}") };
    assert_eq!(finished(&world), []);
    (world.kept.fail_at, world.kept.fail_on) = (None, false);
    let agent = world.agent();
    let io = RunHandles::new().committer(&mut world.kept).events(&world.told).watch(&world.recorder);
    unfinished.retry(&agent, &mut state, io).await.unwrap();
    assert_eq!(finished(&world), [TerminationReason::Suspended]);
    let last_two = world.told.kinds().split_off(world.told.kinds().len() - 2);
    assert!(matches!(
        last_two[..],
        [EventKind::Checkpoint { trigger: Trigger::RunFinished, .. }, EventKind::RunFinished { .. }]
    ));
    // Another process goes on behind them.
    let mut state = world.restored();
    world.decide(&mut state, &[("a", Resume)]).await;
    assert_numbered(&world);
}

#[tokio::test(start_paused = true)]
async fn uncommitted_end_without_retry_is_committed_by_the_next_loop() {
    let mut world = waits_for_a();
    (world.kept.fail_at, world.kept.fail_on) = (Some(LAST), true);
    let mut state = world.state();
    world.try_drive(&mut state, Input::message("tidy up")).await.unwrap_err();
    (world.kept.fail_at, world.kept.fail_on) = (None, false);
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::Suspended);
    assert_eq!(world.restored().run().status(), RunStatus::Waiting);
    assert_eq!(finished(&world), [TerminationReason::Suspended]);
}

/// What becomes of a text that is written at that time.
fn write_at(world: &World, at_ms: u64) -> tokio::task::JoinHandle<bool> {
    let handle = world.handle.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(at_ms)).await;
        handle.write("forget it").await.unwrap()
    })
}

#[tokio::test(start_paused = true)]
async fn message_while_tools_execute_is_refused_despite_a_later_wait() {
    let mut world = World::of([asks([timed("a", "slow", 20), timed("b", "write", 0)])]);
    world.when_suspended = WhenSuspended::WaitInPlace;
    let written = write_at(&world, 1);
    world.put_patiently(&[("b", Resume)]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert!(!written.await.unwrap(), "nobody had seen that b waits");
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn message_in_the_last_step_is_refused_when_the_run_ends() {
    let mut world = World::of([asks([timed("a", "slow", 20)])]);
    let written = write_at(&world, 1);
    let mut state = world.state();
    world.start(&mut state).await;
    settled().await;
    assert!(written.is_finished(), "it is told that nobody takes it");
    assert!(!written.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn message_to_a_run_waiting_in_place_is_accepted() {
    let mut world = waits_for_a();
    world.when_suspended = WhenSuspended::WaitInPlace;
    let written = write_at(&world, 50);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert!(written.await.unwrap());
    assert_eq!(statuses(&state), ["a Cancelled"]);
}
