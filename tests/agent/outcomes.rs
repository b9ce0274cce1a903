//! How a round comes out, and what the model reads of it.

use runstate::checkpoint::Trigger::{
    AssistantTurnCommitted, CallsStarted, RunFinished, ToolResultsCommitted, UserMessage,
};
use runstate::run::{AnyRun, RunStatus};
use runstate::termination::TerminationReason;

use super::parts::{World, of_lifecycle, statuses};

/// One round with one call of that tool; gives how the call stands and what the model reads of it.
fn one_call(tool: &str) -> (World, String, String) {
    let mut world = World::new(&[&[("call_1", tool)]]);
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    let (status, read) = (statuses(&state).remove(0), world.script.seen[1][2].clone());
    (world, status, read)
}

#[test]
fn an_answer_without_calls_is_the_natural_end() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.kept.triggers, [UserMessage, AssistantTurnCommitted, RunFinished]);
    assert!(matches!(state.run(), AnyRun::Done(run) if *run.reason() == TerminationReason::NaturalEnd));
    world.assert_trace("natural_end");
}

#[test]
fn a_call_succeeds_and_the_next_step_reads_its_output() {
    let (world, status, read) = one_call("read");
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Succeeded", r#"call_1: {"for":"call_1"}"#));
    assert_eq!(
        world.kept.triggers,
        [UserMessage, AssistantTurnCommitted, ToolResultsCommitted, AssistantTurnCommitted, RunFinished]
    );
    world.assert_trace("one_call");
}

#[test]
fn a_tool_that_must_not_run_twice_is_marked_as_started_before_it_executes() {
    let (world, status, _) = one_call("note");
    assert_eq!(status, "call_1 Succeeded");
    assert_eq!(world.kept.triggers[1..4], [AssistantTurnCommitted, CallsStarted, ToolResultsCommitted]);
}

#[test]
fn a_result_that_the_gate_sets_starts_nothing() {
    let (world, status, read) = one_call("fixed");
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Succeeded", "call_1: \"from the gate\""));
    assert!(world.done().is_empty());
    assert!(!world.kept.triggers.contains(&CallsStarted), "no tool executes that must not run twice");
    world.assert_trace("set_result");
}

#[test]
fn a_warning_is_kept_and_read() {
    let (world, status, read) = one_call("warn");
    assert_eq!(
        (status.as_str(), read.as_str()),
        ("call_1 Succeeded", "call_1: \"done\" (the disk is nearly full)")
    );
    world.assert_conforms();
}

#[test]
fn an_error_of_a_tool_fails_its_call_and_the_loop_goes_on() {
    let (world, status, read) = one_call("fail");
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Failed", "call_1: error: no such file"));
    world.assert_trace("tool_error");
}

#[test]
fn a_panic_of_a_tool_fails_its_call_and_the_loop_goes_on() {
    let (world, status, read) = one_call("panic");
    assert_eq!(
        (status.as_str(), read.as_str()),
        ("call_1 Failed", "call_1: error: the tool panicked: out of paper")
    );
    world.assert_conforms();
}

#[test]
fn an_unknown_tool_fails_its_call_without_executing_and_the_model_reads_which_there_are() {
    let (world, status, read) = one_call("format_disk");
    assert_eq!(status, "call_1 Failed");
    assert!(
        read.starts_with("call_1: error: there is no tool \"format_disk\"; there is read, write,"),
        "{read}"
    );
    assert!(world.done().is_empty());
    world.assert_trace("unknown_tool");
}

#[test]
fn a_blocked_call_fails_without_executing() {
    let (world, status, read) = one_call("blocked");
    assert_eq!((status.as_str(), read.as_str()), ("call_1 Failed", "call_1: error: not in this folder"));
    assert!(world.done().is_empty());
    world.assert_trace("blocked");
}

#[test]
fn a_failed_call_does_not_stop_the_others() {
    let mut world =
        World::new(&[&[("a", "fail"), ("b", "blocked"), ("c", "read"), ("d", "panic"), ("e", "read")]]);
    let mut state = world.state();
    world.start(&mut state);
    assert_eq!(statuses(&state), ["a Failed", "b Failed", "c Succeeded", "d Failed", "e Succeeded"]);
    assert_eq!(world.done(), ["r1/a/1", "r1/c/1", "r1/d/1", "r1/e/1"]);
}

#[test]
fn all_gates_are_passed_before_the_first_execution() {
    let mut world = World::new(&[&[("a", "read"), ("b", "blocked"), ("c", "read")]]);
    let mut state = world.state();
    world.start(&mut state);
    let events = of_lifecycle(&world.recorder.events(), "tool_execution");
    let last_gate = events.iter().rposition(|e| e.contains("BeforeToolExecute -->")).unwrap();
    let first_execution = events.iter().position(|e| e.contains("ExecuteTool --> Succeeded")).unwrap();
    assert!(last_gate < first_execution, "{events:#?}");
}

#[test]
fn the_most_steps_end_the_run_after_their_last_round() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "read")], &[("c", "read")]]);
    world.max_steps = Some(2);
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(outcome.reason.to_string(), "stopped:max_rounds:2 of 2");
    assert_eq!(state.steps(), 2);
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded"]);
    world.assert_trace("max_steps");
}

#[test]
fn the_natural_end_wins_over_the_most_steps() {
    let mut world = World::new(&[&[("a", "read")]]);
    world.max_steps = Some(2);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).reason, TerminationReason::NaturalEnd);
}

#[test]
fn a_run_that_stops_gives_up_what_waits() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    world.max_steps = Some(1);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).reason.to_string(), "stopped:max_rounds:1 of 1");
    assert_eq!(statuses(&state), ["a Cancelled", "b Succeeded"]);
    world.assert_conforms();
}
