//! Calls of tools, and servers that misbehave.

use std::time::Duration;

use runstate_agent::{Effect, Input, RunHandles, RunState, Tool, run_loop};
use runstate_mcp::{Server, ServerOptions};
use serde_json::{Value, json};

use super::agent::{World, options, results};
use super::server::log;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The results of these calls.
async fn called(calls: &[(&str, &str)]) -> Vec<Result<Value, String>> {
    let folder = folder();
    let mut world = World::new(options(folder.path()), calls);
    let state = world.start().await;
    results(&state)
}

fn failed(why: &str) -> Result<Value, String> {
    Err(format!("the MCP server \"t\": {why}"))
}

#[tokio::test]
async fn call_of_either_protocol_has_the_text_of_the_tool() {
    for mode in ["old", "new"] {
        let folder = folder();
        let mut world = World::new(options(folder.path()).env("MCP_MODE", mode), &[("read", "a b")]);
        let state = world.start().await;
        assert_eq!(results(&state), [Ok(json!("a b"))], "{mode}");
        let methods: Vec<String> = log(folder.path())
            .iter()
            .map(|of| of["method"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(methods[0], "server/discover");
        assert_eq!(methods.contains(&"initialize".to_owned()), mode == "old", "{methods:?}");
    }
}

#[tokio::test]
async fn only_elicitation_is_advertised() {
    let folder = folder();
    Server::new(options(folder.path())).unwrap().tools().await.unwrap();
    let messages = log(folder.path());
    let handshake = messages.iter().find(|of| of["method"] == "initialize").unwrap();
    let capabilities = handshake["params"]["capabilities"].as_object().unwrap();
    assert_eq!(capabilities.keys().collect::<Vec<_>>(), ["elicitation"]);
}

#[tokio::test]
async fn schema_and_description_are_those_of_the_server() {
    let folder = folder();
    let tools = Server::new(options(folder.path()).tools(["write"])).unwrap().tools().await.unwrap();
    let [write] = tools.as_slice() else { panic!("{tools:?}") };
    assert_eq!((write.spec().name(), write.tool()), ("t__write", "write"));
    assert_eq!(write.spec().description(), "For tests.");
    assert_eq!(write.spec().schema().unwrap()["properties"]["text"], json!({ "type": "string" }));
}

#[tokio::test]
async fn annotations_count_only_of_a_trusted_server() {
    let folder = folder();
    for (trusted, expected) in [(false, [false, false, false]), (true, [true, true, false])] {
        let options = options(folder.path()).tools(["read", "ask", "write"]);
        let options = if trusted { options.trusted() } else { options };
        let tools = Server::new(options).unwrap().tools().await.unwrap();
        let repeatable =
            tools.iter().map(|tool| tool.spec().effect() == Effect::Repeatable).collect::<Vec<_>>();
        // In the order of the server: read, write, ask.
        assert_eq!(repeatable, [expected[0], expected[2], expected[1]], "trusted: {trusted}");
        let asks: Vec<bool> = tools.iter().map(|tool| tool.spec().approval().is_some()).collect();
        assert_eq!(asks, [!trusted, true, true], "trusted: {trusted}");
    }
}

#[tokio::test]
async fn server_has_the_listed_variables_alone() {
    let folder = folder();
    let mut world = World::new(options(folder.path()).env("ONE", "1"), &[("env", "")]);
    let state = world.start().await;
    let variables = results(&state).remove(0).unwrap();
    let names: Vec<&String> = variables.as_object().unwrap().keys().collect();
    assert_eq!(names, ["MCP_TEST_SERVER", "ONE"]);
}

#[tokio::test]
async fn server_that_dies_fails_the_call_and_is_started_again() {
    let results = called(&[("die", ""), ("read", "still here")]).await;
    let why = "it ended during the call, which may have had an effect; the last line of its standard error:  [31mout of paper";
    assert_eq!(results, [failed(why), Ok(json!("still here"))]);
}

#[tokio::test]
async fn garbage_on_standard_output_is_skipped() {
    assert_eq!(called(&[("garbage", "")]).await, [Ok(json!("after the garbage"))]);
}

#[tokio::test]
async fn errors_and_refusals_are_failed_calls() {
    let results = called(&[("fail", ""), ("refuse", ""), ("image", "")]).await;
    assert_eq!(results[0], Err("no such file".to_owned()));
    assert_eq!(results[1], failed("it answered with the error -32602: re fused here"));
    assert_eq!(results[2], Ok(json!([{ "type": "image", "mime_type": "image/png", "bytes": 4 }])));
}

#[tokio::test]
async fn output_is_cut_and_a_monstrous_one_ends_the_server() {
    let results = called(&[("huge", ""), ("monster", ""), ("read", "next")]).await;
    assert_eq!(results[0].as_ref().unwrap().as_str().unwrap().len(), 64 * 1024);
    assert!(results[1].as_ref().unwrap_err().contains("it ended during the call"), "{:?}", results[1]);
    assert_eq!(results[2], Ok(json!("next")));
}

#[tokio::test]
async fn silent_server_is_asked_to_stop_the_call() {
    let folder = folder();
    let options = options(folder.path()).timeout(Duration::from_millis(300));
    let mut world = World::new(options, &[("hang", ""), ("read", "next")]);
    let state = world.start().await;
    let why = "it did not answer within 300ms, and was asked to stop the call";
    assert_eq!(results(&state), [failed(why), Ok(json!("next"))]);
    until_cancelled(folder.path()).await;
}

/// Waits until the server was told that the call is cancelled.
pub async fn until_cancelled(folder: &std::path::Path) {
    let told = async {
        while !log(folder).iter().any(|of| of["method"] == "notifications/cancelled") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), told).await.unwrap();
}

#[tokio::test]
async fn progress_ends_the_silence_and_is_reported() {
    let folder = folder();
    // Eight reports, 100 ms apart, are longer than the limit of 400 ms.
    let options = options(folder.path()).timeout(Duration::from_millis(400));
    let mut world = World::new(options, &[("slow", "")]);
    let state = world.start().await;
    assert_eq!(results(&state), [Ok(json!("done"))]);
    assert!(world.events.json().contains(r#"{"progress":1.0,"total":8.0}"#), "{}", world.events.json());
}

#[tokio::test]
async fn progress_does_not_extend_the_longest_time() {
    let folder = folder();
    let options =
        options(folder.path()).timeout(Duration::from_secs(60)).max_time(Duration::from_millis(350));
    let mut world = World::new(options, &[("slow", "")]);
    let state = world.start().await;
    assert_eq!(results(&state), [failed("it did not answer within 350ms, and was asked to stop the call")]);
}

#[tokio::test]
async fn dropped_call_is_cancelled_at_the_server() {
    let folder = folder();
    let world = World::new(options(folder.path()), &[("hang", "")]);
    let agent = world.agent().await;
    let mut state = RunState::new("r1");
    {
        let run = run_loop(&agent, &mut state, Input::message("go"), RunHandles::new());
        tokio::pin!(run);
        let called = async {
            while !log(folder.path()).iter().any(|of| of["method"] == "tools/call") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            outcome = &mut run => panic!("{outcome:?}"),
            () = called => {}
        }
    }
    until_cancelled(folder.path()).await;
}

#[tokio::test]
async fn names_that_no_model_can_call_are_refused() {
    let folder = folder();
    let of = |names: &str| Server::new(options(folder.path()).env("MCP_NAMES", names)).unwrap();
    let odd = of("odd").tools().await.unwrap_err().to_string();
    assert!(odd.contains(r#"the tool "re ad" has a name that no model can call"#), "{odd}");
    assert!(odd.ends_with("name the tools to be used in `tools`"), "{odd}");
    let twins = of("twins").tools().await.unwrap_err().to_string();
    assert!(twins.contains(r#"two of its tools have the name "t__a_b" for a model"#), "{twins}");
    // The tools that the options name can be used all the same.
    let options = options(folder.path()).env("MCP_NAMES", "twins").tools(["a/b"]);
    assert_eq!(Server::new(options).unwrap().tools().await.unwrap()[0].tool(), "a/b");
}

#[tokio::test]
async fn missing_tool_and_missing_program_are_told() {
    let folder = folder();
    let missing = Server::new(options(folder.path()).tools(["reed"])).unwrap().tools().await.unwrap_err();
    assert!(missing.to_string().contains(r#"it has no tool "reed"; it has read, write"#), "{missing}");
    let absent = ServerOptions::command("t", ["/no/such/program"]);
    let absent = Server::new(absent).unwrap().tools().await.unwrap_err().to_string();
    assert!(
        absent.starts_with(r#"the MCP server "t" cannot be used: "/no/such/program" cannot be executed"#),
        "{absent}"
    );
    let ends = ServerOptions::command("t", ["/bin/sh", "-c", "echo 'no licence' >&2; exit 1"]);
    let ends = Server::new(ends).unwrap().tools().await.unwrap_err().to_string();
    assert!(ends.contains("no licence"), "{ends}");
}

#[tokio::test]
async fn processes_end_with_their_server() {
    let folder = folder();
    let script = format!("sleep 1000 & echo $! > {}/child; exec \"$@\"", folder.path().display());
    let (command, variables) = super::server::command();
    let command = ["/bin/sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()].into_iter().chain(command);
    let mut options = ServerOptions::command("t", command).folder(folder.path()).env("PATH", "/usr/bin:/bin");
    for (name, value) in variables {
        options = options.env(name, value);
    }
    let server = Server::new(options).unwrap();
    server.tools().await.unwrap();
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let lives = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    assert!(lives() || !std::path::Path::new("/proc/self/stat").exists());
    drop(server);
    let ended = async {
        while lives() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
}

#[test]
fn options_that_cannot_be_used_are_told() {
    let why = |options: ServerOptions| Server::new(options).unwrap_err().to_string();
    for name in ["", "a__b", "_a", "a_", "a b", "é", &"a".repeat(33)] {
        assert!(why(ServerOptions::command(name, ["x"])).contains("1 to 32 letters"), "{name:?}");
    }
    assert!(why(ServerOptions::command("t", [""; 0])).contains("names no program"));
    for (url, reason) in [
        ("ftp://a", "must begin with"),
        ("/a", "must begin with"),
        ("http://a b", "cannot be read"),
        ("https://me:pw@a/", "a user or a password"),
    ] {
        assert!(why(ServerOptions::http("t", url)).contains(reason), "{url}");
    }
    let header = |name: &str, value: &str| why(ServerOptions::http("t", "https://a/").header(name, value));
    assert!(header("mcp-session-id", "1").contains("belongs to the protocol"));
    assert!(header("a b", "1").contains("no name of a header"));
    assert!(header("x-key", "a\nb").contains("a character that no header may have"));
    let shown = format!("{:?}", ServerOptions::http("t", "https://a/").header("x-key", "sk-secret"));
    assert!(shown.contains("x-key") && !shown.contains("sk-secret"), "{shown}");
}
