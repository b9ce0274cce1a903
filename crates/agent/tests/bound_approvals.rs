//! Approvals that are bound to a version of a tool, and questions that a tool finds again.

use runstate::decision::DecisionAction::Resume;
use runstate::decision::Suspension;
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::{Approval, Incoming};
use serde_json::{Value, json};

use super::parts::{World, statuses};
use super::rounds::timed;
use super::script::asks;
use super::tools::{once, tool};

fn version(schema: &str) -> Value {
    json!({ "server": "bank", "schema": schema })
}

/// Replaces the tool `pay` by one of that version.
fn set_version(world: &mut World, schema: &str) {
    world.tools.retain(|tool| tool.spec().name() != "pay");
    let spec = once("pay").needs_approval(Approval::always().bound_to(version(schema)));
    let pay = tool(&world.ledger, spec, |_| Box::pin(async { ToolResult::Success(json!("paid")) }));
    world.tools.push(pay);
}

fn waiting() -> World {
    let mut world = World::of([asks([timed("a", "pay", 1)])]);
    set_version(&mut world, "sha256:0a");
    world
}

#[tokio::test(start_paused = true)]
async fn approval_of_the_bound_version_executes_the_tool() {
    let mut world = waiting();
    let mut state = world.state();
    world.start(&mut state).await;
    let asked = state.pending()[0].suspension.clone();
    assert_eq!(asked.parameters, json!({ "bound_to": version("sha256:0a") }));
    let mut state = world.restored();
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1"]);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn approval_of_an_earlier_version_executes_nothing() {
    let mut world = waiting();
    let mut state = world.state();
    world.start(&mut state).await;
    let first = state.pending()[0].suspension.clone();
    let mut state = world.restored();
    set_version(&mut world, "sha256:0b");
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.waiting, ["a"]);
    assert_eq!(world.done(), [""; 0]);
    let second = state.pending()[0].suspension.clone();
    assert_eq!(second.parameters, json!({ "bound_to": version("sha256:0b"), "changed": true }));
    let digest = |asked: &Suspension| asked.digest("r1", "a", "pay", &json!({}));
    assert_ne!(digest(&first), digest(&second));
    let again = Incoming::new("d2", "a", Resume).on(&second.id);
    world.incoming = vec![again];
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1"]);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn two_approvers_agree_on_one_version() {
    let mut world = waiting();
    world.tools.retain(|tool| tool.spec().name() != "pay");
    let spec = once("pay").needs_approval(Approval::always().by(2).bound_to(version("sha256:0a")));
    world.tools.push(tool(&world.ledger, spec, |_| Box::pin(async { ToolResult::Success(json!("paid")) })));
    let mut state = world.state();
    world.start(&mut state).await;
    let asked = state.pending()[0].suspension.parameters.clone();
    assert_eq!(asked, json!({ "approval": 1, "of": 2, "bound_to": version("sha256:0a") }));
}

#[tokio::test(start_paused = true)]
async fn tool_finds_its_question_after_a_restart() {
    let mut world = World::of([asks([timed("a", "ask_back", 1)])]);
    world.tools.push(tool(&world.ledger, once("ask_back"), |cx| {
        let question = cx.question().cloned();
        Box::pin(async move {
            match question {
                Some(question) => ToolResult::Success(question.parameters),
                None => ToolResult::Pending(
                    Suspension::ask("input", "which one?").with_parameters(json!({ "state": "s-7" })),
                ),
            }
        })
    }));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    let mut state = world.restored();
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded"]);
    assert!(world.script.seen()[1][2].contains("s-7"), "{:?}", world.script.seen());
}
