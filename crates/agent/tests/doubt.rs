//! What a crash leaves `Running` or `Resuming`: whether the tool ran is not known.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::event::EventKind;
use runstate_agent::{Incoming, Input, Reply, RunState, StoredRun};
use serde_json::json;

use super::parts::{World, history, statuses};

/// The process dies at a commit, counted from 0 over the whole run: of that one and of all that happened since the last,
/// nothing survives.
async fn dies(world: &mut World, state: &mut RunState, at: usize, input: Input) {
    world.kept.hangs_at = Some(at);
    let second = std::time::Duration::from_secs(1);
    let died = tokio::time::timeout(second, world.try_drive(state, input)).await;
    assert!(died.is_err(), "the process went on to its end");
    world.kept.hangs_at = None;
}

pub async fn dies_at_start(world: &mut World, at: usize) {
    dies(world, &mut RunState::new("r1"), at, Input::message("tidy up")).await;
}

/// The process dies behind the execution of `note`, whose start is durable and whose result is not.
async fn died_while_noting() -> World {
    let mut world = World::new(&[&[("a", "read"), ("b", "note"), ("c", "read")]]);
    dies_at_start(&mut world, 3).await;
    assert_eq!(world.done(), ["r1/a/1", "r1/b/1", "r1/c/1"]);
    assert_eq!(statuses(&world.restored()), ["a Succeeded", "b Running", "c New"]);
    world
}

#[tokio::test(start_paused = true)]
async fn interrupted_once_only_call_is_in_doubt_and_asks_a_person() {
    let mut world = died_while_noting().await;
    let mut state = world.restored();
    let outcome = world.resume(&mut state).await;
    assert_eq!(outcome.waiting, ["b"]);
    assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 1);
    let pending = state.pending();
    assert_eq!(pending[0].suspension.action, "in_doubt");
    assert_eq!(
        pending[0].suspension.message,
        "the run was interrupted while note may have been executing: approve (resume) to execute it again, or with a \
         result if you know what came of it; deny (cancel) to give the call up"
    );
    assert_eq!(world.restored().run().status(), RunStatus::Waiting, "the question is durable");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_doubt_is_executed_again_when_a_person_says_so() {
    let mut world = died_while_noting().await;
    let mut state = world.restored();
    world.resume(&mut state).await;
    assert_eq!(world.decide(&mut state, &[("b", Resume)]).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Succeeded"]);
    let of_b: Vec<String> = world.done().into_iter().filter(|key| key.starts_with("r1/b/")).collect();
    assert_eq!(of_b, ["r1/b/1", "r1/b/1"], "to those outside it is the same execution");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_doubt_has_the_result_that_a_person_knows() {
    let mut world = died_while_noting().await;
    let mut state = world.restored();
    world.resume(&mut state).await;
    let mut knows = Incoming::new("d1", "b", Resume);
    knows.result = json!({ "receipt": 17 });
    world.incoming.push(knows);
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.executions("b"), 1, "it is not executed again");
    assert!(
        world.script.seen()[1].contains(&r#"b: {"receipt":17}"#.to_owned()),
        "{:?}",
        world.script.seen()[1]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_in_doubt_is_given_up_when_a_person_says_so() {
    let mut world = died_while_noting().await;
    let mut state = world.restored();
    world.resume(&mut state).await;
    assert_eq!(world.decide(&mut state, &[("b", Cancel)]).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded", "b Cancelled", "c Succeeded"]);
    assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 1);
    // Its tool did execute, for all that the person knew.
    let read = &world.script.seen()[1];
    let said = "b: error: denied; the run was interrupted while its tool may have been executing: its effect is not known";
    assert!(read.iter().any(|it| it == said), "{read:?}");
}

/// Else nobody who looks at the run would learn of it any more.
#[tokio::test(start_paused = true)]
async fn cancelled_run_reports_its_call_in_doubt() {
    const SAID: &str = "b: error: the run ended: cancelled; the run was interrupted while its tool may have been executing: its \
                        effect is not known";
    for is_asked_about in [false, true] {
        let mut world = died_while_noting().await;
        let mut state = world.restored();
        if is_asked_about {
            world.resume(&mut state).await;
            world.cancel(&mut state).await.unwrap();
        } else {
            world.token.cancel();
            world.resume(&mut state).await;
        }
        let told = history(&state);
        assert!(told.iter().any(|said| said == SAID), "{told:?}");
        // Of the others there is no doubt.
        assert_eq!(told.iter().filter(|said| said.contains("not known")).count(), 1, "{told:?}");
        assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 1);
    }
}

/// The answer that its tool may execute again came, and was not kept.
#[tokio::test(start_paused = true)]
async fn a_doubt_whose_answer_is_not_kept_is_told() {
    let mut world = died_while_noting().await;
    let mut state = world.restored();
    world.resume(&mut state).await;
    // Of the tries the one in which the process died is not among the commits; the next one keeps the start.
    world.kept.fail_at = Some(world.kept.triggers().len() + 2);
    let outcome = world.decide(&mut state, &[("b", Resume)]).await;
    assert!(matches!(outcome.reason, TerminationReason::Error(_)), "{:?}", outcome.reason);
    assert_eq!(statuses(&state)[1], "b Cancelled");
    let told = history(&state);
    assert!(told.iter().any(|said| said.starts_with("b: ") && said.contains("not known")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn repeatable_call_reruns_with_the_same_idempotency_key() {
    // Dies at the commit of the round: of the two calls nothing is known but that they were asked for.
    let mut world = World::new(&[&[("a", "read"), ("b", "read")]]);
    dies_at_start(&mut world, 2).await;
    assert_eq!(statuses(&world.restored()), ["a New", "b New"]);
    let mut state = world.restored();
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1", "r1/b/1", "r1/a/1", "r1/b/1"]);
    assert_eq!(world.script.seen().len(), 2, "the model is not asked for its first answer again");
}

/// A call of that tool waits, is resumed with this result, and the process dies before the replay is durable.
async fn died_in_the_replay(tool: &str, result: serde_json::Value) -> (World, RunState) {
    let mut world = World::new(&[&[("a", tool)]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let mut incoming = Incoming::new("d1", "a", Resume);
    incoming.result = result;
    world.incoming.push(incoming);
    let (mut state, at) = (world.restored(), world.kept.triggers().len() + 2);
    dies(&mut world, &mut state, at, Input::Resume).await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
    assert_eq!(statuses(&world.restored()), ["a Resuming"]);
    let state = world.restored();
    (world, state)
}

#[tokio::test(start_paused = true)]
async fn repeatable_replay_reruns_with_the_same_idempotency_key() {
    let (mut world, mut state) = died_in_the_replay("ask", json!(null)).await;
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1", "r1/a/2", "r1/a/2"]);
    assert_eq!(statuses(&state), ["a Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_must_not_run_twice_is_in_doubt() {
    let (mut world, mut state) = died_in_the_replay("write", json!(null)).await;
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    assert_eq!(state.pending()[0].suspension.action, "in_doubt");
    assert_eq!(world.done(), ["r1/a/1"]);
    // The decision that was accepted before the crash is not offered again with success.
    drop(world.replies());
    world.incoming.push(Incoming::new("d1", "a", Resume));
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Duplicate)]);
    world.incoming.push(Incoming::new("d2", "a", Resume).on("r1/a/2/in_doubt"));
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1", "r1/a/1"], "to those outside it is the same execution");
}

#[tokio::test(start_paused = true)]
async fn a_replay_whose_result_is_the_decision_is_never_in_doubt() {
    let (mut world, mut state) = died_in_the_replay("ask_result", json!("blue")).await;
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1"], "no tool executes, so nothing is in doubt");
    assert_eq!(world.script.seen()[1][2], "a: \"blue\"");
}

#[tokio::test(start_paused = true)]
async fn replay_in_doubt_keeps_the_arguments_of_the_decision() {
    let (mut world, mut state) = died_in_the_replay("ask_arguments", json!({ "for": "one file only" })).await;
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    // What is decided about are those arguments: an answer to the question before was given.
    assert_eq!(*state.pending()[0].arguments, json!({ "for": "one file only" }));
    assert_eq!(world.handle.pending()[0].arguments, json!({ "for": "one file only" }));
    let mut stale = Incoming::new("d0", "a", Resume);
    stale.digest = world.told.kinds().into_iter().find_map(|kind| match kind {
        EventKind::ToolCallSuspended { interrupt } => Some(interrupt.digest),
        _ => None,
    });
    world.incoming.push(stale);
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    let replies = world.replies();
    assert!(
        matches!(replies.last(), Some((_, Reply::Conflict(accepted))) if accepted.decision_id == "d1"),
        "{replies:?}"
    );
    let asked = state.pending()[0].suspension.id.clone();
    world.incoming.push(Incoming::new("d2", "a", Resume).on(asked));
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.script.seen()[1][2], r#"a: {"for":"one file only"}"#, "not with those of the model");
}

#[tokio::test(start_paused = true)]
async fn a_leftover_that_must_not_run_twice_is_marked_as_started_too() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "note")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.put(&[("a", Resume)]);
    // Dies at the commit behind the leftovers; the start of `b` is durable by then.
    let (mut state, at) = (world.restored(), world.kept.triggers().len() + 3);
    dies(&mut world, &mut state, at, Input::Resume).await;
    let mut state = world.restored();
    assert_eq!(world.resume(&mut state).await.waiting, ["b"]);
    assert_eq!(world.done().iter().filter(|key| *key == "r1/b/1").count(), 1, "{:?}", world.done());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_does_not_take_more_steps_than_it_may() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "read")]]);
    world.max_rounds(1);
    dies_at_start(&mut world, 3).await;
    let mut state = world.restored();
    let outcome = world.resume(&mut state).await;
    assert_eq!(outcome.reason.to_string(), "stopped:max_rounds:1 of 1 rounds");
    assert_eq!(state.steps(), 1);
}

#[tokio::test(start_paused = true)]
async fn interrupted_run_leaves_calls_after_a_suspended_one_new() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "read")]]);
    dies_at_start(&mut world, 3).await;
    let mut state = world.restored();
    assert_eq!(statuses(&state), ["a Suspended", "b New"]);
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    assert_eq!(statuses(&state), ["a Suspended", "b New"]);
}

#[tokio::test(start_paused = true)]
async fn run_interrupted_after_its_last_answer_ends_naturally() {
    let mut world = World::new(&[]);
    dies_at_start(&mut world, 2).await;
    let mut state = world.restored();
    let asked = world.script.seen().len();
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.script.seen().len(), asked);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_died_before_its_first_commit_is_started_again() {
    let mut world = World::new(&[]);
    dies_at_start(&mut world, 0).await;
    assert!(world.kept.memory.restore().is_err());
    let json = StoredRun::of(&RunState::new("r1")).unwrap().to_json();
    let mut state = StoredRun::from_json(json.as_bytes()).unwrap().restore().unwrap();
    let error = world.try_drive(&mut state, Input::Resume).await.unwrap_err();
    assert_eq!(error.to_string(), "the run is Running: it has not begun; start it with a message");
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
}
