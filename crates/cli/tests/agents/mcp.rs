//! Tools of MCP servers in agent files.

use std::path::Path;

use serde_json::{Value, json};

use super::super::mcp_server;
use super::{Answer, ModelServer, Program, notes, runstate};

/// Writes an agent file with the test server, and further fields of it.
fn agent(model: &ModelServer, folder: &Path, more: &str) {
    let (command, variables) = mcp_server::command();
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).chain(["MCP_MODE"]).collect();
    let command = serde_json::to_string(&command).unwrap();
    std::fs::create_dir_all(folder.join("server")).unwrap();
    let server = format!("{{name: t, folder: server, env: {names:?}, command: {command}{more}}}");
    model.agent(folder, "a.yaml", &format!("tools:\n  mcp:\n    - {server}\n"));
}

fn output(folder: &Path, mode: &str, args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command: Program = runstate(folder, args);
    for (name, value) in mcp_server::command().1 {
        command.env(name, value);
    }
    command.env("MCP_MODE", mode);
    super::finished(command, input)
}

fn call(tool: &'static str) -> Answer {
    Answer::Calls(vec![("c1", tool, json!({ "text": "x" }))])
}

fn result(model: &ModelServer) -> String {
    model.requests()[1].1["messages"][2]["content"].to_string()
}

#[test]
fn tool_of_a_server_waits_for_an_approval() {
    let folder = notes();
    let model = ModelServer::new(&[call("t__write"), Answer::Text("Written.")]);
    agent(&model, folder.path(), ", tools: [read, write]");
    let (code, _, err) = output(folder.path(), "old", &["run", "a.yaml", "Write."], "");
    assert_eq!(code, Some(3), "{err}");
    assert!(!folder.path().join("server/written").exists());
    let tools: Vec<Value> = model.requests()[0].1["tools"].as_array().unwrap().clone();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["t__read", "t__write"]);

    let (_, shown, _) = output(folder.path(), "old", &["approvals", "--json"], "");
    assert!(shown.contains("may write of the MCP server t be executed"), "{shown}");
    assert!(shown.contains("\"schema\":\"sha256:") || shown.contains("\"schema\": \"sha256:"), "{shown}");
    let approved = output(folder.path(), "old", &["approve", "c1", "--run", "helper-1"], "");
    assert_eq!(approved.0, Some(0), "{approved:?}");
    let (code, out, err) = output(folder.path(), "old", &["chat", "a.yaml", "--thread", "helper-1"], "");
    assert_eq!((code, &*out), (Some(0), "Written.\n"), "{err}");
    assert!(result(&model).contains("written"), "{}", result(&model));
    assert_eq!(std::fs::read_to_string(folder.path().join("server/written")).unwrap(), "x\n");

    // The exported run plays without the server and the model.
    let exported =
        output(folder.path(), "old", &["export", "helper-1", "--scenario", "--output", "suite/w.yaml"], "");
    assert_eq!(exported.0, Some(0), "{exported:?}");
    let mut test = Program::new(env!("CARGO_BIN_EXE_runstate"));
    let tested = test.args(["test", "suite"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(tested.status.code(), Some(0), "{tested:?}");
}

#[test]
fn schema_that_changed_behind_an_approval_executes_nothing() {
    let folder = notes();
    let model = ModelServer::new(&[call("t__write"), Answer::Text("Written.")]);
    agent(&model, folder.path(), "");
    assert_eq!(output(folder.path(), "old", &["run", "a.yaml", "Write."], "").0, Some(3));
    assert_eq!(output(folder.path(), "old", &["approve", "c1", "--run", "helper-1"], "").0, Some(0));
    std::fs::write(folder.path().join("server/changed"), "").unwrap();
    let (code, _, err) = output(folder.path(), "old", &["chat", "a.yaml", "--thread", "helper-1"], "");
    assert_eq!(code, Some(3), "{err}");
    assert!(!folder.path().join("server/written").exists());
}

#[test]
fn trusted_read_only_tool_needs_no_approval() {
    let folder = notes();
    let model = ModelServer::new(&[call("t__read"), Answer::Text("Read.")]);
    agent(&model, folder.path(), ", trust: true");
    let (code, out, err) = output(folder.path(), "new", &["run", "a.yaml", "Read."], "");
    assert_eq!((code, &*out), (Some(0), "Read.\n"), "{err}");
    assert!(result(&model).contains('x'), "{}", result(&model));
}

#[test]
fn question_of_a_server_is_answered_from_another_process() {
    let folder = notes();
    let model = ModelServer::new(&[call("t__ask_once"), Answer::Text("Thanks.")]);
    agent(&model, folder.path(), "");
    let run = |args: &[&str]| output(folder.path(), "new", args, "");
    assert_eq!(run(&["run", "a.yaml", "Ask."]).0, Some(3));
    assert_eq!(run(&["approve", "c1", "--run", "helper-1"]).0, Some(0));
    let (code, _, err) = run(&["chat", "a.yaml", "--thread", "helper-1"]);
    assert_eq!(code, Some(3), "{err}");
    let (_, asked, _) = run(&["approvals"]);
    assert!(asked.contains("the MCP server t asks: which name?"), "{asked}");
    let id = super::suspension(&run(&["approvals", "--json"]).1);
    let unfit = run(&["approve", &id, "--result", "{\"name\": 7}"]);
    assert_ne!(unfit.0, Some(0), "{unfit:?}");
    let fit = run(&["approve", &id, "--result", "{\"name\": \"ada\"}"]);
    assert_eq!(fit.0, Some(0), "{fit:?}");
    let (code, out, err) = run(&["chat", "a.yaml", "--thread", "helper-1"]);
    assert_eq!((code, &*out), (Some(0), "Thanks.\n"), "{err}");
    assert!(result(&model).contains("ada"), "{}", result(&model));
}

#[test]
fn old_server_keeps_its_call_open_at_the_terminal() {
    let folder = notes();
    let model = ModelServer::new(&[call("t__ask_once"), Answer::Text("Thanks.")]);
    agent(&model, folder.path(), "");
    let (code, out, err) =
        output(folder.path(), "old", &["run", "a.yaml", "Ask.", "--ask"], "y\n{\"name\": \"ada\"}\n");
    assert_eq!((code, &*out), (Some(0), "Thanks.\n"), "{err}");
    assert!(result(&model).contains("ada"), "{}", result(&model));
    let log = mcp_server::log(&folder.path().join("server"));
    assert_eq!(log.iter().filter(|of| of["method"] == "tools/call").count(), 1);
}

#[test]
fn mistakes_of_servers_are_told() {
    let folder = notes();
    let model = "name: a\nmodel: {base_url: \"http://127.0.0.1:9/v1\", name: m}\n";
    for (server, reason) in [
        ("{name: t}", "has no command and no url"),
        ("{name: t, command: [x], url: \"https://a/\"}", "has a command and a url"),
        ("{name: t, command: [x], headers_env: {a: B}}", "has headers_env, which is for a url"),
        ("{name: t, url: \"https://a/\", env: [A]}", "has env or folder, which are for a command"),
        ("{name: t, url: \"https://a/?key=1\"}", "each run would store a key in it"),
        ("{name: t, command: [x], env: [\"A=1\"]}", "is no name of an environment variable"),
        (
            "{name: t, url: \"https://a/\", headers_env: {authorization: \"Bearer sk\"}}",
            "a key in the file would be stored",
        ),
        (
            "{name: t, url: \"https://a/\", headers_env: {authorization: NO_SUCH}}",
            "headers_env.authorization: the environment variable NO_SUCH is not set",
        ),
        ("{name: t, command: [x], env: [NO_SUCH]}", "env names the variable NO_SUCH, which is not set"),
        ("{name: a__b, command: [x]}", "1 to 32 letters"),
        ("{name: t, command: [x], timeout: soon}", "timeout"),
        ("{name: t, command: [/no/such/program]}", "cannot be executed"),
        ("{name: t, command: [x]}\n    - {name: t, command: [x]}", "two servers have the name"),
    ] {
        std::fs::write(folder.path().join("a.yaml"), format!("{model}tools:\n  mcp:\n    - {server}\n"))
            .unwrap();
        let (code, _, err) = output(folder.path(), "old", &["run", "a.yaml", "go"], "");
        assert_eq!(code, Some(2), "{server}: {err}");
        assert!(err.contains(reason), "{server}: {err}");
    }
    // No run was created, which would execute later.
    let (_, runs, err) = output(folder.path(), "old", &["runs", "--json"], "");
    assert!(runs.contains("[]"), "{runs}{err}");
}
