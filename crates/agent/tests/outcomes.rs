//! How a round comes out, and what the model reads of it.

use runstate::checkpoint::Trigger::{
    AssistantTurnCommitted, CallsStarted, RunFinished, ToolResultsCommitted, UserMessage,
};
use runstate::run::{AnyRun, RunStatus};
use runstate::termination::TerminationReason;

use super::parts::{World, of_lifecycle, statuses};

/// One round with one call of that tool; gives how the call stands and what the model reads of it.
async fn one_call(tool: &str) -> (World, String, String) {
    let mut world = World::new(&[&[("call_1", tool)]]);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    let (status, read) = (statuses(&state).remove(0), world.script.seen()[1][2].clone());
    (world, status, read)
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_calls_is_the_natural_end() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.kept.triggers(), [UserMessage, AssistantTurnCommitted, RunFinished]);
    assert!(matches!(state.run(), AnyRun::Done(run) if *run.reason() == TerminationReason::NaturalEnd));
    world.assert_trace("natural_end");
}

#[tokio::test(start_paused = true)]
async fn a_call_succeeds_and_the_next_step_reads_its_output() {
    let (world, status, read) = one_call("read").await;
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Succeeded", r#"call_1: {"for":"call_1"}"#));
    assert_eq!(
        world.kept.triggers(),
        [UserMessage, AssistantTurnCommitted, ToolResultsCommitted, AssistantTurnCommitted, RunFinished]
    );
    world.assert_trace("one_call");
}

#[tokio::test(start_paused = true)]
async fn once_only_tool_is_marked_started_before_it_executes() {
    let (world, status, _) = one_call("note").await;
    assert_eq!(status, "call_1 Succeeded");
    assert_eq!(world.kept.triggers()[1..4], [AssistantTurnCommitted, CallsStarted, ToolResultsCommitted]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_gate_sets_starts_nothing() {
    let (world, status, read) = one_call("fixed").await;
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Succeeded", "call_1: \"from the gate\""));
    assert!(world.done().is_empty());
    assert!(!world.kept.triggers().contains(&CallsStarted), "no tool executes that must not run twice");
    world.assert_trace("set_result");
}

#[tokio::test(start_paused = true)]
async fn a_warning_is_kept_and_read() {
    let (world, status, read) = one_call("warn").await;
    assert_eq!(
        (status.as_str(), read.as_str()),
        ("call_1 Succeeded", "call_1: \"done\" (the disk is nearly full)")
    );
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_tool_fails_its_call_and_the_loop_goes_on() {
    let (world, status, read) = one_call("fail").await;
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Failed", "call_1: error: no such file"));
    world.assert_trace("tool_error");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_tool_fails_its_call_and_the_loop_goes_on() {
    let (world, status, read) = one_call("panic").await;
    assert_eq!(
        (status.as_str(), read.as_str()),
        ("call_1 Failed", "call_1: error: the tool panicked: out of paper")
    );
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn unknown_tool_call_fails_and_the_model_sees_the_tool_list() {
    let (world, status, read) = one_call("format_disk").await;
    assert_eq!(status, "call_1 Failed");
    assert!(read.starts_with("call_1: error: there is no tool \"format_disk\"; there is "), "{read}");
    assert!(world.done().is_empty());
    world.assert_trace("unknown_tool");
}

#[tokio::test(start_paused = true)]
async fn a_blocked_call_fails_without_executing() {
    let (world, status, read) = one_call("blocked").await;
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Failed", "call_1: error: not in this folder"));
    assert!(world.done().is_empty());
    world.assert_trace("blocked");
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_does_not_stop_the_others() {
    let mut world =
        World::new(&[&[("a", "fail"), ("b", "blocked"), ("c", "read"), ("d", "panic"), ("e", "read")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(statuses(&state), ["a Failed", "b Failed", "c Succeeded", "d Failed", "e Succeeded"]);
    assert_eq!(world.done(), ["r1/a/1", "r1/c/1", "r1/d/1", "r1/e/1"]);
}

#[tokio::test(start_paused = true)]
async fn all_gates_are_passed_before_the_first_execution() {
    let mut world = World::new(&[&[("a", "read"), ("b", "blocked"), ("c", "read")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let events = of_lifecycle(&world.recorder.events(), "tool_execution");
    let last_gate = events.iter().rposition(|e| e.contains("[*] --> BeforeToolExecute")).unwrap();
    let first_execution = events.iter().position(|e| e.contains("--> ExecuteTool")).unwrap();
    assert!(last_gate < first_execution, "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_most_steps_end_the_run_after_their_last_round() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "read")], &[("c", "read")]]);
    world.max_rounds(2);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason.to_string(), "stopped:max_rounds:2 of 2 rounds");
    assert_eq!(state.steps(), 2);
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded"]);
    world.assert_trace("max_steps");
}

#[tokio::test(start_paused = true)]
async fn the_natural_end_wins_over_the_most_steps() {
    let mut world = World::new(&[&[("a", "read")]]);
    world.max_rounds(2);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_stops_gives_up_what_waits() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    world.max_rounds(1);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason.to_string(), "stopped:max_rounds:1 of 1 rounds");
    assert_eq!(statuses(&state), ["a Cancelled", "b Succeeded"]);
    world.assert_conforms();
}
