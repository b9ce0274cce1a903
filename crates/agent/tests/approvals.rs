//! Calls that wait for a decision.

use runstate::checkpoint::Trigger::{
    AssistantTurnCommitted, DecisionAccepted, QuestionAsked, RunFinished, ToolResultsCommitted, UserMessage,
};
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;

use super::parts::{World, statuses};
use super::rounds::timed;
use super::script::asks;

fn two_writes() -> World {
    World::new(&[&[("call_1", "write"), ("call_2", "write"), ("call_3", "read")]])
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_in_storage_and_goes_on_when_each_call_is_decided() {
    let mut world = two_writes();
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::Suspended);
    assert_eq!(outcome.waiting, ["call_1", "call_2"]);
    assert_eq!(statuses(&state), ["call_1 Suspended", "call_2 Suspended", "call_3 Succeeded"]);
    assert_eq!(
        world.kept.triggers(),
        [UserMessage, AssistantTurnCommitted, QuestionAsked, ToolResultsCommitted, RunFinished]
    );

    // Only the bytes survive.
    let mut state = world.restored();
    assert_eq!(world.resume(&mut state).await.waiting, ["call_1", "call_2"]);

    let before = world.kept.triggers().len();
    let outcome = world.decide(&mut state, &[("call_2", Resume)]).await;
    assert_eq!(outcome.waiting, ["call_1"]);
    assert_eq!(statuses(&state), ["call_1 Suspended", "call_2 Succeeded", "call_3 Succeeded"]);
    assert_eq!(
        world.kept.triggers()[before..],
        [UserMessage, DecisionAccepted, ToolResultsCommitted, RunFinished]
    );

    let outcome = world.decide(&mut state, &[("call_1", Cancel)]).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["call_1 Cancelled", "call_2 Succeeded", "call_3 Succeeded"]);
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(world.done(), ["r1/call_3/1", "r1/call_2/1"]);
    world.assert_trace("approvals");
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_executes_and_the_model_reads_its_result() {
    let mut world = World::new(&[&[("call_1", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert!(world.done().is_empty(), "nothing executes before the approval");
    let outcome = world.decide(&mut state, &[("call_1", Resume)]).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/call_1/1"]);
    assert_eq!(world.script.seen()[1], ["user: tidy up", "assistant: [write call_1]", "call_1: \"written\""]);
    world.assert_trace("approve");
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_never_executes_and_the_model_reads_why() {
    let mut world = World::new(&[&[("call_1", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.put(&[("call_1", Cancel)]);
    world.incoming[0].reason = Some("the file is still needed".into());
    let outcome = world.resume(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert!(world.done().is_empty());
    assert_eq!(statuses(&state), ["call_1 Cancelled"]);
    assert_eq!(world.script.seen()[1][2], "call_1: error: the file is still needed");
    world.assert_trace("deny");
}

#[tokio::test(start_paused = true)]
async fn decisions_during_a_round_are_replayed_in_the_same_activation() {
    // The third executes while the other two wait.
    let calls = [timed("call_1", "write", 0), timed("call_2", "write", 0), timed("call_3", "slow", 20)];
    let mut world = World::of([asks(calls)]);
    world.put_patiently(&[("call_1", Resume), ("call_2", Cancel)]);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["call_1 Succeeded", "call_2 Cancelled", "call_3 Succeeded"]);
    assert_eq!(
        world.kept.triggers(),
        [
            UserMessage,
            AssistantTurnCommitted,
            QuestionAsked,
            ToolResultsCommitted,
            DecisionAccepted,
            DecisionAccepted,
            ToolResultsCommitted,
            AssistantTurnCommitted,
            RunFinished
        ]
    );
    world.assert_conforms();
}
