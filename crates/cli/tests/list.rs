use serde_json::Value;

use crate::session::{Session, assert_shown};

#[test]
fn the_lifecycles_are_listed() {
    let session = Session::new();
    assert_shown("list", &session.run(&["list"]).shown());
    let json: Value = serde_json::from_str(&session.run(&["list", "--format", "json"]).stdout).unwrap();
    let call = json.as_array().unwrap().iter().find(|one| one["name"] == "tool_call").unwrap();
    let graph = runstate::lifecycles().iter().find(|graph| graph.name == "tool_call").unwrap();
    assert_eq!((&call["states"], &call["edges"]), (&graph.states.len().into(), &graph.edges.len().into()));
    assert_eq!(call["terminal"], serde_json::json!(["Succeeded", "Failed", "Cancelled"]));
}
