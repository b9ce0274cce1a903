//! Servers that require input.

use std::time::Duration;

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_mcp::Server;
use serde_json::json;

use super::agent::{World, options, results};
use super::server::log;

const ANSWER: &str = r#"x: {"action":"accept","content":{"name":"ada"}}"#;

fn calls_of(folder: &std::path::Path) -> usize {
    log(folder).iter().filter(|of| of["method"] == "tools/call").count()
}

#[tokio::test]
async fn required_input_is_answered_from_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let new = || options(folder.path()).env("MCP_MODE", "new");
    let mut world = World::new(new(), &[("ask_once", "x")]);
    let state = world.start().await;
    let asked = state.pending()[0].suspension.clone();
    assert_eq!((&*asked.action, &*asked.message), ("input", "the MCP server t asks: which name?"));
    assert_eq!(asked.response_schema.unwrap()["required"], json!(["name"]));
    assert_eq!(asked.parameters["state"], "state-7");
    world.server = Server::new(new()).unwrap();
    let state = world.decide(Resume, json!({ "name": "ada" })).await;
    assert_eq!(results(&state), [Ok(json!(ANSWER))]);
}

#[tokio::test]
async fn call_of_an_old_server_stays_open_for_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(options(folder.path()), &[("ask_once", "x"), ("read", "next")]);
    let state = world.start().await;
    assert_eq!(state.pending()[0].suspension.message, "the MCP server t asks: which name?");
    let state = world.decide(Resume, json!({ "name": "ada" })).await;
    assert_eq!(results(&state), [Ok(json!(ANSWER)), Ok(json!("next"))]);
    assert_eq!(calls_of(folder.path()), 2, "the call is not repeated");
}

#[tokio::test]
async fn old_server_that_ended_is_called_again_only_if_repeatable() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = || options(folder.path()).trusted();
    for (tool, expected) in [
        ("ask", Ok(json!(ANSWER))),
        (
            "ask_once",
            Err("the MCP server \"t\": it ended while it waited for the answer; the call may have had an effect and is not repeated"
                .to_owned()),
        ),
    ] {
        let mut world = World::new(trusted(), &[(tool, "x")]);
        world.start().await;
        world.server = Server::new(trusted()).unwrap();
        let state = world.decide(Resume, json!({ "name": "ada" })).await;
        assert_eq!(results(&state), [expected], "{tool}");
    }
}

#[tokio::test]
async fn denied_question_cancels_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path()).hold(Duration::from_millis(200));
    let mut world = World::new(options, &[("ask_once", "x")]);
    world.start().await;
    let state = world.decide(Cancel, json!(null)).await;
    assert!(state.pending().is_empty());
    assert!(!folder.path().join("asked").exists());
    // The held call ends with its time.
    super::calls::until_cancelled(folder.path()).await;
}
