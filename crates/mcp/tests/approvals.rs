//! Approvals of tools that a server changes.

use runstate::decision::DecisionAction::Resume;
use runstate_agent::{Input, RunState};
use serde_json::{Value, json};

use super::agent::{World, options, results};
use super::server::log;

fn calls_of(folder: &std::path::Path) -> usize {
    log(folder).iter().filter(|of| of["method"] == "tools/call").count()
}

#[tokio::test]
async fn approval_names_server_tool_and_schema_and_executes() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(options(folder.path()), &[("write", "x")]).asking();
    let state = world.start().await;
    let asked = state.pending()[0].suspension.clone();
    let bound = &asked.parameters["bound_to"];
    assert_eq!((&bound["server"], &bound["tool"]), (&json!("t"), &json!("write")));
    assert!(bound["schema"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(asked.message, "may write of the MCP server t be executed with these arguments?");
    assert_eq!(calls_of(folder.path()), 0);
    let state = world.decide(Resume, Value::Null).await;
    assert_eq!(results(&state), [Ok(json!("written"))]);
}

#[tokio::test]
async fn schema_that_changes_behind_an_approval_asks_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(options(folder.path()), &[("write", "x")]).asking();
    world.start().await;
    // Another process finds another schema.
    std::fs::write(folder.path().join("changed"), "").unwrap();
    world.server = runstate_mcp::Server::new(options(folder.path())).unwrap();
    let state = world.decide(Resume, Value::Null).await;
    assert_eq!((results(&state), calls_of(folder.path())), (Vec::new(), 0));
    assert_eq!(state.pending().len(), 1);
    let state = world.decide(Resume, Value::Null).await;
    assert_eq!(results(&state), [Ok(json!("written"))]);
}

#[tokio::test]
async fn schema_that_changes_within_an_activation_fails_the_call() {
    for mode in ["old", "new"] {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path()).env("MCP_MODE", mode);
        let mut world = World::new(options, &[("change", ""), ("write", "x")]);
        let state = world.start().await;
        let changed =
            "the MCP server \"t\": it has changed the tool since the agent read it; the call was not sent";
        assert_eq!(results(&state), [Ok(json!("changed")), Err(changed.to_owned())], "{mode}");
        assert!(!folder.path().join("written").exists());
        // The next activation reads the list anew.
        world.kept = runstate_agent::MemoryCommitter::default();
        let mut state = RunState::new("r2");
        world.drive(&mut state, Input::message("go")).await;
        assert_eq!(results(&state)[1], Ok(json!("written")), "{mode}");
    }
}
