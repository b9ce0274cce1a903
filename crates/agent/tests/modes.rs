//! Calls whose tool asks: suspended while executing, and resumed in each of the modes.

use runstate::decision::DecisionAction::Resume;
use runstate::termination::TerminationReason;
use runstate_agent::Incoming;
use serde_json::json;

use super::parts::{World, statuses};

/// One call of that tool, which asks; the answer to it is `true`.
async fn asked(tool: &str) -> World {
    let mut world = World::new(&[&[("call_1", tool)]]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["call_1"]);
    assert_eq!(state.pending()[0].suspension.id, "r1/call_1/1:ask_r1_call_1_1");
    let mut state = world.restored();
    let mut incoming = Incoming::new("d1", "call_1", Resume);
    incoming.result = json!(true);
    world.incoming.push(incoming);
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["call_1 Succeeded"]);
    world
}

#[tokio::test(start_paused = true)]
async fn a_replayed_call_executes_with_the_arguments_of_the_model() {
    let world = asked("ask").await;
    assert_eq!(world.done(), ["r1/call_1/1", "r1/call_1/2"]);
    assert_eq!(world.script.seen()[1][2], r#"call_1: {"for":"call_1"}"#);
    world.assert_trace("tool_asks");
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_is_the_result_stands_in_for_the_tool() {
    let world = asked("ask_result").await;
    assert_eq!(world.done(), ["r1/call_1/1"], "it executed once, to ask");
    assert_eq!(world.script.seen()[1][2], "call_1: true");
    world.assert_trace("decision_is_result");
}

#[tokio::test(start_paused = true)]
async fn decision_passed_to_the_tool_replaces_its_arguments() {
    let world = asked("ask_arguments").await;
    assert_eq!(world.done(), ["r1/call_1/1", "r1/call_1/2"]);
    assert_eq!(world.script.seen()[1][2], "call_1: true");
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn replay_may_suspend_again_with_a_new_suspension() {
    for (tool, ids) in [
        ("ask_twice", ["r1/call_1/1:ask_r1_call_1_1", "r1/call_1/2:ask_r1_call_1_2"]),
        ("write_twice", ["r1/call_1/1", "r1/call_1/2"]),
    ] {
        let mut world = World::new(&[&[("call_1", tool)]]);
        let mut state = world.state();
        world.start(&mut state).await;
        assert_eq!(state.pending()[0].suspension.id, ids[0]);

        let outcome = world.decide(&mut state, &[("call_1", Resume)]).await;
        assert_eq!(outcome.waiting, ["call_1"], "{tool} asks again");
        assert_eq!(state.pending()[0].suspension.id, ids[1]);

        world.incoming.push(Incoming::new("d2", "call_1", Resume).on(ids[1]));
        assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&state), ["call_1 Succeeded"]);
        world.assert_trace(&format!("asked_again_by_{tool}"));
    }
}
