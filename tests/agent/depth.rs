//! Values from outside that nest so deep that a stored run could not be read again.

use runstate::agent::{Incoming, Reply};
use runstate::decision::DecisionAction::Resume;
use runstate::termination::TerminationReason;
use serde_json::{Value, json};

use super::parts::{World, history, statuses};
use super::tools::nested;

/// The deepest that is taken.
const MOST: usize = 96;

fn world(tool: &str, arguments: Value) -> World {
    let mut world = World::new(&[&[("a", tool)]]);
    world.script.turns[0].calls[0].arguments = arguments;
    world
}

fn decide(world: &mut World, state: &mut runstate::agent::RunState, id: &str, result: Value) {
    let mut incoming = Incoming::new(id, "a", Resume);
    incoming.result = result;
    world.queue.incoming.push_back(incoming);
    world.resume(state);
}

#[test]
fn what_nests_as_deep_as_it_may_is_stored_and_read_again() {
    let mut world = world("ask_arguments", nested(MOST));
    let mut state = world.state();
    world.start(&mut state);
    let mut state = world.restored();
    decide(&mut world, &mut state, "d1", nested(MOST));
    assert_eq!(world.queue.replies, [("d1".to_owned(), Reply::Accepted)]);
    assert_eq!(statuses(&state), ["a Succeeded"]);
    assert_eq!(history(&world.restored()), history(&state));
}

#[test]
fn an_answer_with_deeper_arguments_ends_the_run() {
    let mut world = world("read", nested(MOST + 1));
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(
        outcome.reason.to_string(),
        "error:the model did not answer: the arguments of call \"a\" nest deeper than 96 levels"
    );
    assert_eq!(history(&world.restored()), ["user: tidy up"]);
}

#[test]
fn a_tool_with_a_deeper_output_fails_its_call() {
    for tool in ["deep", "deep_question"] {
        let mut world = world(tool, json!({}));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&world.restored()), ["a Failed"]);
        let what = if tool == "deep" { "output" } else { "suspension" };
        assert_eq!(
            world.script.seen[1][2],
            format!("a: error: the {what} of the tool nests deeper than 96 levels")
        );
    }
}

#[test]
fn a_result_of_the_gate_that_is_deeper_fails_its_call() {
    let mut world = world("deep_gate", json!({}));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&world.restored()), ["a Failed"]);
}

#[test]
fn a_decision_with_a_deeper_result_is_not_taken() {
    let mut world = world("ask_arguments", json!({}));
    let mut state = world.state();
    world.start(&mut state);
    decide(&mut world, &mut state, "d1", nested(MOST + 1));
    assert_eq!(world.queue.replies, [("d1".to_owned(), Reply::TooDeep)]);
    assert_eq!(statuses(&world.restored()), ["a Suspended"]);
    decide(&mut world, &mut state, "d1", json!("flat"));
    assert_eq!(statuses(&world.restored()), ["a Succeeded"]);
}
