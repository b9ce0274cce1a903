//! Values from outside that nest so deep that a stored run could not be read again.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate::decision::Suspension;
use runstate::termination::TerminationReason;
use runstate::turn::CallRequest;
use runstate_agent::{GateCall, Incoming, PhaseContext, Plugin, PluginError, Reply, Verdict, async_trait};
use serde_json::{Value, json};

use super::acts::Acts;
use super::parts::{Bit, World, history, statuses};
use super::script::asks;
use super::tools::nested;

/// The deepest that is taken.
const MOST: usize = 96;

fn world(tool: &str, arguments: Value) -> World {
    World::of([asks([CallRequest::new("a", tool, arguments)])])
}

async fn decide(world: &mut World, state: &mut runstate_agent::RunState, id: &str, result: Value) {
    let mut incoming = Incoming::new(id, "a", Resume);
    incoming.result = result;
    world.incoming.push(incoming);
    world.resume(state).await;
}

#[tokio::test(start_paused = true)]
async fn value_of_maximum_depth_survives_storage() {
    let mut world = world("ask_arguments", nested(MOST));
    let mut state = world.state();
    world.start(&mut state).await;
    let mut state = world.restored();
    decide(&mut world, &mut state, "d1", nested(MOST)).await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
    assert_eq!(statuses(&state), ["a Succeeded"]);
    assert_eq!(history(&world.restored()), history(&state));
}

#[tokio::test(start_paused = true)]
async fn a_call_with_deeper_arguments_fails_and_the_model_reads_why() {
    for levels in [MOST + 1, 200, 100_000] {
        let mut world = World::with(vec![vec![
            Bit::Call(0, "a".into(), "read".into()),
            Bit::Arguments(0, "[".repeat(levels)),
            Bit::Arguments(0, "]".repeat(levels)),
            Bit::Finish,
        ]]);
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&world.restored()), ["a Failed"]);
        assert_eq!(
            world.script.seen()[1][2],
            "a: error: the arguments cannot be read: the arguments nest deeper than 96 levels"
        );
        assert!(world.done().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_a_deeper_output_fails_its_call() {
    for tool in ["deep", "deep_question"] {
        let mut world = world(tool, json!({}));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&world.restored()), ["a Failed"]);
        let what = if tool == "deep" { "output" } else { "suspension" };
        assert_eq!(
            world.script.seen()[1][2],
            format!("a: error: the {what} of the tool nests deeper than 96 levels")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_of_the_gate_that_is_deeper_fails_its_call() {
    for tool in ["deep_parameters", "deep_schema"] {
        let mut world = world("read", json!({}));
        world.plugins.push(Arc::new(Asks(tool == "deep_schema")));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd, "{tool}");
        assert_eq!(statuses(&world.restored()), ["a Failed"]);
        let said = "a: error: the question of the gate nests deeper than 96 levels";
        assert_eq!(world.script.seen()[1][2], said);
    }
}

/// Asks with parameters, or with a schema, that nest too deep.
struct Asks(bool);

#[async_trait]
impl Plugin for Asks {
    fn name(&self) -> &str {
        "asks"
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        _: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        let mut suspension = Suspension::ask("ask", "?");
        match self.0 {
            true => suspension.response_schema = Some(nested(97)),
            false => suspension.parameters = nested(97),
        }
        Ok(Verdict::Suspend(suspension))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_plugin_gives_deeper_arguments_fails() {
    for levels in [MOST + 1, 200] {
        let mut world = world("read", json!({}));
        world.plugins.push(Arc::new(Acts::new("deepens").turn(move |turn| {
            for call in &mut turn.calls {
                call.arguments = nested(levels);
            }
        })));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&world.restored()), ["a Failed"]);
        let said = "a: error: the arguments cannot be read: the arguments nest deeper than 96 levels";
        assert_eq!(world.script.seen()[1][2], said);
        assert!(world.done().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_of_the_gate_that_is_deeper_fails_its_call() {
    let mut world = world("deep_gate", json!({}));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&world.restored()), ["a Failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_with_a_deeper_result_is_not_taken() {
    let mut world = world("ask_arguments", json!({}));
    let mut state = world.state();
    world.start(&mut state).await;
    decide(&mut world, &mut state, "d1", nested(MOST + 1)).await;
    let invalid = Reply::Invalid("the result nests deeper than 96 levels".into());
    assert_eq!(world.replies(), [("d1".to_owned(), invalid)]);
    assert_eq!(statuses(&world.restored()), ["a Suspended"]);
    decide(&mut world, &mut state, "d1", json!("flat")).await;
    assert_eq!(statuses(&world.restored()), ["a Succeeded"]);
}
