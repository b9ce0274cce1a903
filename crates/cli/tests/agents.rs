//! Agent files, against a model server on the loopback address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::program::Program;

#[cfg(all(feature = "mcp", target_os = "linux"))]
mod kills;
#[cfg(feature = "mcp")]
mod mcp;
mod models;

/// A server of chat completions. Each request gets the next answer.
pub(crate) struct ModelServer {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

/// An answer of the model.
#[derive(Clone)]
pub(crate) enum Answer {
    Text(&'static str),
    /// Calls: id, tool, arguments.
    Calls(Vec<(&'static str, &'static str, Value)>),
    /// A status without a stream.
    Status(u16),
    /// A stream in the words of another provider.
    #[cfg_attr(not(feature = "genai"), expect(dead_code, reason = "providers need the feature"))]
    Stream(String),
    /// An error whose text has this secret.
    Repeats(&'static str),
    /// An answer without the numbers of its tokens.
    Uncounted(&'static str),
    /// The connection ends in the midst of the text.
    Cut(&'static str),
}

impl Answer {
    fn body(&self) -> (u16, String, bool) {
        let chunk = |delta: Value, finish: Option<&str>| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
            format!(
                "data: {}\n\n",
                json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] })
            )
        };
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 } });
        let end = format!("data: {usage}\n\ndata: [DONE]\n\n");
        match self {
            Answer::Text(text) => {
                (200, chunk(json!({ "content": text }), None) + &chunk(json!({}), Some("stop")) + &end, true)
            }
            Answer::Calls(calls) => {
                let calls: Vec<Value> = (0..)
                    .zip(calls)
                    .map(|(index, (id, tool, arguments))| {
                        let function = json!({ "name": tool, "arguments": arguments.to_string() });
                        json!({ "index": index, "id": id, "type": "function", "function": function })
                    })
                    .collect();
                let delta = json!({ "tool_calls": calls });
                (200, chunk(delta, None) + &chunk(json!({}), Some("tool_calls")) + &end, true)
            }
            Answer::Stream(events) => (200, events.clone(), true),
            Answer::Repeats(secret) => {
                (401, json!({ "error": { "message": format!("wrong key {secret}") } }).to_string(), true)
            }
            Answer::Uncounted(text) => (
                200,
                chunk(json!({ "content": text }), None)
                    + &chunk(json!({}), Some("stop"))
                    + "data: [DONE]\n\n",
                true,
            ),
            Answer::Status(status) => (*status, json!({ "error": { "message": "no" } }).to_string(), true),
            Answer::Cut(text) => (200, chunk(json!({ "content": text }), None), false),
        }
    }
}

impl ModelServer {
    pub(crate) fn new(answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let (taken, answers) = (Arc::clone(&requests), answers.to_vec());
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                taken.lock().unwrap().push(Self::answer(stream, &answer));
            }
        });
        ModelServer { address, requests }
    }

    /// A server whose answer follows from the answers in the request, so that a repeated request gets the same one. The
    /// first request of each step of `stalls` is never answered.
    #[cfg(all(feature = "mcp", target_os = "linux"))]
    fn by_step(answers: &[Answer], stalls: &[usize]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let (taken, answers, mut stalls) = (Arc::clone(&requests), answers.to_vec(), stalls.to_vec());
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that was killed has sent a part.
                let Some((mut reader, head, body)) = Self::request(stream) else { continue };
                let said = body["messages"].as_array().unwrap();
                let step = said.iter().filter(|message| message["role"] == "assistant").count();
                taken.lock().unwrap().push((head, body));
                match stalls.iter().position(|of| *of == step) {
                    Some(index) => {
                        stalls.remove(index);
                        open.push(reader);
                    }
                    None => drop(Self::reply(reader.get_mut(), &answers[step])),
                }
            }
        });
        ModelServer { address, requests }
    }

    fn answer(stream: TcpStream, answer: &Answer) -> (String, Value) {
        let (mut reader, head, body) = Self::request(stream).unwrap();
        Self::reply(reader.get_mut(), answer).unwrap();
        (head, body)
    }

    fn request(stream: TcpStream) -> Option<(BufReader<TcpStream>, String, Value)> {
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some((reader, head, serde_json::from_slice(&body).ok()?))
    }

    fn reply(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
        let (status, text, is_whole) = answer.body();
        let kind = if status == 200 { "text/event-stream" } else { "application/json" };
        let claimed = if is_whole { text.len() } else { text.len() + 1_000 };
        write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {claimed}\r\nconnection: close\r\n\r\n{text}"
        )
    }

    /// Writes an agent file with the model and these further lines.
    fn agent(&self, folder: &Path, name: &str, more: &str) {
        let model = format!("{{base_url: \"http://{}/v1\", name: m, key_env: TEST_KEY}}", self.address);
        std::fs::write(folder.join(name), format!("name: helper\nmodel: {model}\n{more}")).unwrap();
    }

    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().unwrap().clone()
    }
}

const SECRET: &str = "sk-7c1d0a";

fn runstate(folder: &Path, args: &[&str]) -> Program {
    let mut command = Program::new(env!("CARGO_BIN_EXE_runstate"));
    command.args(args).args(["--store", "sqlite:runs.db", "--state-dir", "state"]).current_dir(folder);
    command.env_remove("RUNSTATE_STORE").env("TEST_KEY", SECRET).env("NO_COLOR", "1");
    command
}

/// Runs a command: its exit code, standard output and standard error.
fn output(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    said(folder, args, "")
}

fn said(folder: &Path, args: &[&str], input: &str) -> (Option<i32>, String, String) {
    finished(runstate(folder, args), input)
}

/// The end of a command with that input: its exit code, standard output and standard error.
fn finished(mut command: Program, input: &str) -> (Option<i32>, String, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end before it reads its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The suspension of the only question, from the list of approvals as JSON.
#[cfg(feature = "mcp")]
fn suspension(approvals: &str) -> String {
    let Value::Object(list) = serde_json::from_str(approvals).unwrap() else { panic!("{approvals}") };
    let first = list.values().find_map(Value::as_array).and_then(|all| all.first()).unwrap();
    first["suspension"]["id"].as_str().or(first["suspension"].as_str()).unwrap().to_owned()
}

const FILES: &str = "tools: {files: {folder: notes}}\n";

fn notes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("notes")).unwrap();
    std::fs::write(folder.path().join("notes/old.txt"), "buy milk\n").unwrap();
    folder
}

fn delete() -> Answer {
    Answer::Calls(vec![("d1", "delete_file", json!({ "path": "old.txt" }))])
}

#[test]
fn agent_reads_with_its_tools_and_answers() {
    let folder = notes();
    let server = ModelServer::new(&[
        Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]),
        Answer::Text("It says: buy milk."),
    ]);
    server.agent(folder.path(), "a.yaml", &format!("system: Be brief.\n{FILES}"));
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "What is in the note?"]);
    assert_eq!((code, &*out), (Some(0), "It says: buy milk.\n"), "{err}");
    assert!(err.contains("r1             Succeeded read_file"), "{err}");
    assert!(err.contains("trace    conforms"), "{err}");

    let requests = server.requests();
    assert!(requests.iter().all(|(head, _)| head.contains(&format!("authorization: Bearer {SECRET}"))));
    let tools: Vec<&Value> =
        requests[0].1["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["list_files", "read_file", "write_file", "delete_file"]);
    assert_eq!(requests[0].1["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    let messages = requests[1].1["messages"].as_array().unwrap();
    assert!(messages.last().unwrap()["content"].as_str().unwrap().contains("buy milk"), "{messages:?}");

    // The key is in no file of the store.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{path:?}");
        }
    }
    let (_, shown, _) = output(folder.path(), &["show", "helper-1"]);
    assert!(shown.contains("read_file"), "{shown}");
}

#[test]
fn change_waits_for_an_approval_from_another_process() {
    let folder = notes();
    let server = ModelServer::new(&[delete(), Answer::Text("It is gone.")]);
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    server.agent(&folder.path().join("agents"), "a.yaml", "tools: {files: {folder: ../notes}}\n");
    let (code, out, err) = output(folder.path(), &["run", "agents/a.yaml", "Delete the old note."]);
    assert_eq!((code, &*out), (Some(3), "helper-1 waits for a decision\n"), "{err}");
    assert!(folder.path().join("notes/old.txt").exists());

    // The page of the run has the open question, and a decision that the run has not taken says so.
    let page = || output(folder.path(), &["show", "helper-1", "--format", "html"]).1;
    let asked = page();
    assert!(asked.contains("waits for") && asked.contains("may delete_file be executed"), "{asked}");

    // A worker without the agent file leaves the run alone, and says why.
    let approved = output(folder.path(), &["approve", "d1", "--run", "helper-1", "--actor", "ada"]);
    assert_eq!(approved.0, Some(0), "{approved:?}");
    assert!(page().contains("(not taken yet)"));
    let (code, out, _) = output(folder.path(), &["worker", "--once"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("the run is of the agent \"helper\""), "{out}");
    let (code, out, _) =
        output(folder.path(), &["worker", "--once", "--agents", "notes", "--retry-delay", "1ms"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(folder.path().join("notes/old.txt").exists());

    let (code, out, err) = output(folder.path(), &["resume", "helper-1"]);
    assert_eq!(code, Some(2), "{out}");
    assert!(err.contains("runstate worker --agents DIR"), "{err}");
    let (code, out, err) = said(folder.path(), &["chat", "agents/a.yaml", "--thread", "helper-1"], "");
    assert_eq!((code, &*out), (Some(0), "It is gone.\n"), "{err}");
    assert!(!folder.path().join("notes/old.txt").exists());
}

#[test]
fn worker_executes_only_the_text_that_the_run_began_with() {
    let folder = notes();
    let server = ModelServer::new(&[Answer::Text("done")]);
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    server.agent(&folder.path().join("agents"), "a.yaml", "");
    let (code, _, err) = output(folder.path(), &["run", "--detach", "agents/a.yaml", "go"]);
    assert_eq!(code, Some(0), "{err}");
    let path = folder.path().join("agents/a.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}# another text\n")).unwrap();
    let worker = ["worker", "--once", "--agents", "agents", "--retry-delay", "1ms"];
    let (code, out, _) = output(folder.path(), &worker);
    assert_eq!(code, Some(1));
    assert!(out.contains("its text has changed since the run began"), "{out}");
    let (_, runs, _) = output(folder.path(), &["runs"]);
    assert!(runs.contains("its text has changed since the run began"), "{runs}");
    std::fs::write(&path, text).unwrap();
    // The run is retried after its delay.
    let driven = (0..200).find_map(|_| {
        thread::sleep(Duration::from_millis(50));
        let (code, out, err) = output(folder.path(), &worker);
        assert_eq!(code, Some(0), "{out} {err}");
        Some(out).filter(|out| !out.is_empty())
    });
    assert!(driven.as_deref().unwrap_or_default().contains("over: natural_end"), "{driven:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn chat_asks_and_keeps_one_thread() {
    let folder = notes();
    let server = ModelServer::new(&[delete(), Answer::Text("It stays."), Answer::Text("You said: hello.")]);
    server.agent(folder.path(), "a.yaml", FILES);
    let input = "Delete the note.\nn I need it\nWhat did I say first?\n";
    let (code, out, err) = said(folder.path(), &["chat", "a.yaml", "--ask", "--actor", "ada"], input);
    assert_eq!((code, &*out), (Some(0), "It stays.\nYou said: hello.\n"), "{err}");
    assert!(err.contains("ada            denies d1: I need it"), "{err}");
    assert!(err.contains("continue with: runstate chat a.yaml --thread helper-1"), "{err}");
    assert!(folder.path().join("notes/old.txt").exists());
    let last = &server.requests()[2].1["messages"];
    let texts: Vec<&Value> = last.as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(
        (texts[0], texts.last().unwrap()),
        (&json!("Delete the note."), &&json!("What did I say first?"))
    );
    let (_, runs, _) = output(folder.path(), &["runs"]);
    assert!(runs.contains("helper-2"), "{runs}");
}

#[test]
fn answer_that_is_cut_in_a_chat_goes_on() {
    let folder = notes();
    let server = ModelServer::new(&[Answer::Cut("The note "), Answer::Text("is blue.")]);
    server.agent(folder.path(), "a.yaml", "");
    let (code, out, err) = said(folder.path(), &["chat", "a.yaml"], "Which colour?\n");
    assert_eq!((code, &*out), (Some(0), "The note is blue.\n"), "{err}");
    assert!(
        err.contains("the model \"m\" failed at try 1: ") && err.contains("; it is asked again"),
        "{err}"
    );
    let sent = server.requests()[1].1["messages"].to_string();
    assert!(sent.contains("The note "), "{sent}");
}

#[test]
fn exported_run_plays_without_a_model() {
    let folder = notes();
    let ask = Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]);
    let server = ModelServer::new(&[ask, delete(), Answer::Text("It is gone.")]);
    server.agent(
        folder.path(),
        "a.yaml",
        "system: Be brief.\ntools: {files: {folder: notes}, ask_person: true}\n",
    );
    let (code, _, err) = said(folder.path(), &["run", "a.yaml", "Tidy up.", "--ask"], "yes, please\ny\n");
    assert_eq!(code, Some(0), "{err}");
    std::fs::remove_file(folder.path().join("a.yaml")).unwrap();
    let (code, out, err) =
        output(folder.path(), &["export", "helper-1", "--scenario", "--output", "suite/gone.yaml"]);
    assert_eq!(code, Some(0), "{out} {err}");
    let mut test = Program::new(env!("CARGO_BIN_EXE_runstate"));
    let tested =
        test.args(["test", "suite"]).current_dir(folder.path()).env_remove("TEST_KEY").output().unwrap();
    assert_eq!(tested.status.code(), Some(0), "{tested:?}");
}

#[test]
fn broken_answer_is_retried_and_a_fallback_answers() {
    let folder = notes();
    let second = ModelServer::new(&[Answer::Text("from the second")]);
    let first = ModelServer::new(&[Answer::Cut("from"), Answer::Status(401)]);
    let fallback = format!("fallbacks: [{{base_url: \"http://{}/v1\", name: other}}]\n", second.address);
    first.agent(folder.path(), "a.yaml", &fallback);
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!((code, first.requests().len()), (Some(1), 2), "{out} {err}");

    // A refused key is no reason for another model; a server that fails is.
    let first = ModelServer::new(&[Answer::Status(500), Answer::Status(500)]);
    let fallback = format!("limits: {{retries: 1}}\n{fallback}");
    first.agent(folder.path(), "a.yaml", &fallback);
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!((code, &*out), (Some(0), "from the second\n"), "{err}");
}

#[test]
fn run_stops_at_its_money() {
    let folder = notes();
    let read = Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]);
    let server = ModelServer::new(&[read]);
    // 100 tokens read at 1 and 10 written at 10, for a thousand each.
    let more = format!("{FILES}prices: {{m: {{input: 1000, output: 10000}}}}\nlimits: {{money: 200}}\n");
    server.agent(folder.path(), "a.yaml", &more);
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &said["reason"]), (Some(1), &json!("stopped:money_budget:200 of 200")), "{err}");
}

#[test]
fn run_stops_at_a_condition_of_its_file() {
    let folder = notes();
    let read = Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]);
    let server = ModelServer::new(&[read]);
    let stop = |name: &str| format!("{FILES}stop: [{{type: stop_on_tool, {name}: read_file}}]\n");
    server.agent(folder.path(), "a.yaml", &stop("tool_name"));
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(1), "{err}");
    assert!(said["reason"].to_string().contains("stopped:stop_on_tool"), "{said} {err}");
    let (code, _, err) =
        output(folder.path(), &["export", "helper-1", "--scenario", "--output", "stopped.yaml"]);
    assert_eq!(code, Some(0), "{err}");
    let exported = std::fs::read_to_string(folder.path().join("stopped.yaml")).unwrap();
    assert!(exported.contains("stop_on_tool"), "{exported}");

    server.agent(folder.path(), "b.yaml", &stop("name"));
    let (code, _, err) = output(folder.path(), &["run", "b.yaml", "go"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("unknown field `name`"), "{err}");
    let never = format!("{FILES}stop: [{{type: max_rounds, rounds: 0}}]\n");
    server.agent(folder.path(), "c.yaml", &never);
    let (code, _, err) = output(folder.path(), &["run", "c.yaml", "go"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("stop: ") && err.contains("c.yaml"), "{err}");
}

/// A server charges an answer that its connection cut, and counts at the end of an answer.
#[test]
fn answer_that_was_cut_counts_for_the_limits() {
    let folder = notes();
    let read = Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]);
    let server = ModelServer::new(&[Answer::Cut("half of an answer"), read]);
    let more = format!("{FILES}prices: {{m: {{input: 1000, output: 10000}}}}\nlimits: {{money: 370}}\n");
    server.agent(folder.path(), "a.yaml", &more);
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(1), "{err}");
    // The second answer alone costs 200.
    assert!(said["reason"].to_string().contains("stopped:money_budget:"), "{said} {err}");
}

#[cfg(unix)]
#[test]
fn command_is_a_tool_and_asks_by_default() {
    let folder = notes();
    let count = Answer::Calls(vec![("w1", "count", json!({ "path": "notes/old.txt" }))]);
    let server = ModelServer::new(&[count, Answer::Text("Two words.")]);
    let command = "tools:\n  commands:\n    - {name: count, description: Counts words., command: [wc, -w, \"{path}\"]}\n";
    server.agent(folder.path(), "a.yaml", command);
    let (code, out, err) = said(folder.path(), &["run", "a.yaml", "Count.", "--ask"], "y\n");
    assert_eq!((code, &*out), (Some(0), "Two words.\n"), "{err}");
    let result = server.requests()[1].1["messages"][2]["content"].to_string();
    assert!(result.contains("2 notes/old.txt"), "{result}");
}

#[cfg(unix)]
#[test]
fn equal_calls_of_two_stores_have_different_idempotency_keys() {
    let keys = [(); 2].map(|()| {
        let folder = notes();
        let key = Answer::Calls(vec![("k1", "key", json!({}))]);
        let server = ModelServer::new(&[key, Answer::Text("Done.")]);
        let command = "tools:\n  commands:\n    - {name: key, description: Prints the key., command: [printenv, RUNSTATE_IDEMPOTENCY_KEY]}\n";
        server.agent(folder.path(), "a.yaml", command);
        let (code, _, err) = said(folder.path(), &["run", "a.yaml", "Go.", "--ask"], "y\n");
        assert_eq!(code, Some(0), "{err}");
        server.requests()[1].1["messages"][2]["content"].to_string()
    });
    assert!(keys.iter().all(|key| key.contains("/helper-1/k1/1")), "{keys:?}");
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn question_to_a_person_has_the_answer_as_its_result() {
    let folder = notes();
    let ask = Answer::Calls(vec![("q1", "ask_person", json!({ "question": "Which colour?" }))]);
    let server = ModelServer::new(&[ask, Answer::Text("Blue it is.")]);
    server.agent(folder.path(), "a.yaml", "tools: {ask_person: true}\n");
    let (code, out, err) = said(folder.path(), &["run", "a.yaml", "Paint.", "--ask"], "blue\n");
    assert_eq!((code, &*out), (Some(0), "Blue it is.\n"), "{err}");
    assert!(err.contains("Which colour?"), "{err}");
    assert!(server.requests()[1].1["messages"][2]["content"].to_string().contains("blue"));
}

#[test]
fn mistakes_of_an_agent_file_are_told_with_their_place() {
    let folder = notes();
    let model = "model: {base_url: \"http://127.0.0.1:9/v1\", name: m}\n";
    std::fs::write(folder.path().join("notes/key"), SECRET).unwrap();
    let with = |url: &str, more: &str| format!("name: a\nmodel: {{base_url: \"{url}\", name: m{more}}}\n");
    let rows: [(&str, &str); 26] = [
        (&with("http://me:sk-1@127.0.0.1/v1", ""), "has a user or a password"),
        (&with("http://127.0.0.1/v1?api-key=sk-1", ""), "has the query \"api-key\""),
        (&with("http://models.example/v1", ", key_env: TEST_KEY"), "over which the key would be readable"),
        (
            &with("http://127.0.0.1.models.example/v1", ", key_env: TEST_KEY"),
            "over which the key would be readable",
        ),
        (&with("HTTP://models.example/v1", ", key_env: TEST_KEY"), "over which the key would be readable"),
        (&with("https://models.example/v1", ", api_key: sk-1"), "key_env: VARIABLE"),
        (&with("http://127.0.0.1/v1", ", key_env: \"sk-1\""), "no name of an environment variable"),
        (
            &(with("http://127.0.0.1/v1", ", key_file: notes/key") + FILES),
            "is in the working folder of tools",
        ),
        (
            &(with("http://127.0.0.1:9/v1", "") + "tools: {files: {folder: .}}\n"),
            "a.yaml is in the folder of its tools",
        ),
        (
            &(with("http://127.0.0.1:9/v1", "") + "tools: {files: {folder: ., read_only: true}}\n"),
            "is in the folder of the tools",
        ),
        (
            "name: a\nmodel: {base_url: \"http://x/v1\", name: m, key: sk-1}\n",
            "write key_env: VARIABLE or key_file: PATH",
        ),
        (&format!("name: a\n{model}systen: hi\n"), "did you mean `system`"),
        (&format!("name: A b\n{model}"), "expected 1 to 64 lower-case letters"),
        (&format!("name: a\n{model}approve: [delete]\n"), "the agent has no tool \"delete\""),
        (&format!("name: a\n{model}limits: {{time: soon}}\n"), "expected a time such as"),
        (
            &format!("name: a\n{model}limits: {{money: 5}}\n"),
            "a.yaml:2:50: limits.money: prices has no entry for the model \"m\"",
        ),
        (&format!("name: a\n{model}tools: {{files: {{folder: none}}}}\n"), "cannot open the folder"),
        (
            &format!(
                "name: a\n{model}tools: {{commands: [{{name: c, description: d, command: [\"{{x\"]}}]}}\n"
            ),
            "names no program",
        ),
        (
            &format!(
                "name: a\n{model}tools: {{commands: [{{name: c, description: d, command: [ls, \"{{x\"]}}]}}\n"
            ),
            "has a single brace",
        ),
        ("name: a\nmodel: {base_url: \"ftp://x\", name: m}\n", "neither http nor https"),
        (
            "name: a\nmodel: {base_url: \"http://127.0.0.1:9/v1\", name: \"\"}\n",
            "a.yaml:2:50: the model has no name",
        ),
        (
            &with("http://127.0.0.1/v1", ", parameters: {stream: false}"),
            "parameters.stream has no effect, because the agent sets it",
        ),
        (
            &format!("name: a\n{model}tools: {{http: {{hosts: [\"localhost:99999\"]}}}}\n"),
            "got \"localhost:99999\", expected a host",
        ),
        (
            &format!(
                "name: a\n{model}tools: {{http: {{hosts: [a.example], headers_env: {{x-key: sk-1}}}}}}\n"
            ),
            "tools.http.headers_env.x-key is no name of an environment variable",
        ),
        (
            &format!(
                "name: a\n{model}tools: {{commands: [{{name: c, description: d, command: [ls, \"{{x}}\"], arguments: {{x: {{type: strin}}}}}}]}}\n"
            ),
            "the command \"c\": arguments.x: no JSON Schema",
        ),
        (
            "name: a\nmodel: {base_url: \"http://127.0.0.1/v1\", name: m, key_env: NO_SUCH_KEY}\n",
            "NO_SUCH_KEY",
        ),
    ];
    for (text, expected) in rows {
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();
        let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
        assert_eq!((code, &*out), (Some(2), ""), "{text}: {err}");
        assert!(err.contains(expected), "{text}: {err}");
        assert!(!err.contains("sk-1"), "{err}");
    }
    let (code, _, err) = output(folder.path(), &["run", "a.yaml"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("an agent needs a message"), "{err}");
    let (_, runs, _) = output(folder.path(), &["runs"]);
    assert!(!runs.contains("a-1"), "a mistake leaves no run: {runs}");
}

/// A tool could replace the link, and the next run would have other tools.
#[cfg(unix)]
#[test]
fn link_to_an_agent_file_in_the_folder_of_its_tools_is_refused() {
    let folder = notes();
    let model = "name: a\nmodel: {base_url: \"http://127.0.0.1:9/v1\", name: m}\n";
    let text = format!("{model}tools: {{files: {{folder: {}}}}}\n", folder.path().join("notes").display());
    std::fs::write(folder.path().join("a.yaml"), text).unwrap();
    std::os::unix::fs::symlink("../a.yaml", folder.path().join("notes/a.yaml")).unwrap();
    let (code, out, err) = output(folder.path(), &["run", "notes/a.yaml", "go"]);
    assert_eq!((code, &*out), (Some(2), ""), "{err}");
    assert!(err.contains("notes/a.yaml is in the folder of its tools"), "{err}");
}

#[test]
fn key_that_the_server_repeats_is_withheld() {
    let folder = notes();
    let repeats = Answer::Text("your key is sk-7c1d0a, is it?");
    let server = ModelServer::new(&[Answer::Repeats(SECRET), repeats]);
    server.agent(folder.path(), "a.yaml", "");
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(format!("{out}{err}").contains("wrong key [key]"), "{out}{err}");
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!((code, &*out), (Some(0), "your key is [key], is it?\n"), "{err}");
    let bytes = std::fs::read(folder.path().join("runs.db")).unwrap();
    assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
}

#[test]
fn limit_of_tokens_needs_a_model_that_counts() {
    let folder = notes();
    let server = ModelServer::new(&[Answer::Uncounted("hi")]);
    server.agent(folder.path(), "a.yaml", "limits: {tokens: 100}\n");
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    let reason = "stopped:tokens_unknown:the model reported no tokens";
    assert_eq!((code, &said["reason"]), (Some(1), &json!(reason)), "{err}");
}

#[test]
fn file_beside_a_message_is_read_as_an_agent() {
    let folder = notes();
    for (text, expected) in [("", "a.yaml:1:1"), ("name: a\nmodel: 5\n", "a.yaml:2:8"), ("[", "a.yaml:1")] {
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();
        let (code, _, err) = output(folder.path(), &["run", "a.yaml", "go"]);
        assert_eq!(code, Some(2));
        assert!(err.contains(expected), "{text:?}: {err}");
    }
    let (_, _, err) = output(folder.path(), &["run", "none.yaml", "go"]);
    assert!(err.contains("cannot read none.yaml"), "{err}");
    std::fs::write(folder.path().join("s.yaml"), "name: s\nmessage: go\nmodel: [{text: done}]\n").unwrap();
    let (_, _, err) = output(folder.path(), &["run", "s.yaml", "go"]);
    assert!(err.contains("expected an agent file beside a message, got a scenario"), "{err}");
}

#[test]
fn line_of_a_pipe_is_no_approval() {
    let folder = notes();
    let server = ModelServer::new(&[delete(), Answer::Text("never")]);
    server.agent(folder.path(), "a.yaml", FILES);
    let (code, out, err) = said(folder.path(), &["chat", "a.yaml"], "Delete the note.\nyes please\n");
    assert_eq!((code, &*out, server.requests().len()), (Some(3), "", 1), "{err}");
    assert!(folder.path().join("notes/old.txt").exists());
}

#[test]
fn next_run_of_a_thread_has_the_new_text_of_the_file() {
    let folder = notes();
    let server = ModelServer::new(&[Answer::Text("one"), Answer::Text("two")]);
    server.agent(folder.path(), "a.yaml", "system: first\n");
    assert_eq!(said(folder.path(), &["chat", "a.yaml"], "go\n").1, "one\n");
    server.agent(folder.path(), "a.yaml", "system: second\n");
    let (code, out, err) = said(folder.path(), &["chat", "a.yaml", "--thread", "helper-1"], "go on\n");
    assert_eq!((code, &*out), (Some(0), "two\n"), "{err}");
    assert_eq!(server.requests()[1].1["messages"][0]["content"], "second");
}

/// Starts a command and sends it SIGINT once it has written a text. Returns its exit code.
#[cfg(unix)]
fn interrupted(folder: &Path, args: &[&str], input: &str, (on_stdout, text): (bool, &str)) -> Option<i32> {
    let mut command = runstate(folder, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let from: &mut dyn Read = if on_stdout { &mut stdout } else { &mut stderr };
    let (mut said, mut buffer) = (String::new(), [0_u8; 1024]);
    while !said.contains(text) {
        let count = from.read(&mut buffer).unwrap();
        assert!(count > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    // Its input stays open: signals alone end it. The first one may come before the end of a run, which it cancels.
    for tenth in 0..400 {
        if tenth % 50 == 0 {
            rustix::process::kill_process(id, rustix::process::Signal::INT).ok();
        }
        thread::sleep(Duration::from_millis(100));
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
    }
    child.kill().unwrap();
    panic!("signals do not end the command");
}

#[cfg(unix)]
#[test]
fn signal_at_a_question_cancels_the_run() {
    let folder = notes();
    let server = ModelServer::new(&[delete()]);
    server.agent(folder.path(), "a.yaml", FILES);
    let code =
        interrupted(folder.path(), &["run", "a.yaml", "go", "--ask"], "", (false, "leave the call waiting"));
    assert_eq!(code, Some(1));
    let (_, runs, _) = output(folder.path(), &["runs", "--json"]);
    let runs: Value = serde_json::from_str(&runs).unwrap();
    assert_eq!(
        (&runs["runs"][0]["status"], &runs["runs"][0]["reason"]),
        (&json!("Done"), &json!("cancelled"))
    );
    assert!(folder.path().join("notes/old.txt").exists());
}

#[cfg(unix)]
#[test]
fn signal_between_two_messages_ends_the_chat() {
    let folder = notes();
    let read = Answer::Calls(vec![("r1", "read_file", json!({ "path": "old.txt" }))]);
    let server = ModelServer::new(&[read, Answer::Text("done")]);
    server.agent(folder.path(), "a.yaml", FILES);
    let code = interrupted(folder.path(), &["chat", "a.yaml"], "go\n", (true, "done"));
    assert_eq!(code, Some(130));
}

#[cfg(not(feature = "mcp"))]
#[test]
fn server_needs_the_feature_of_the_program() {
    let folder = notes();
    let text = "name: a\nmodel: {base_url: \"http://127.0.0.1:9/v1\", name: m}\ntools: {mcp: [{name: t, command: [x]}]}\n";
    std::fs::write(folder.path().join("a.yaml"), text).unwrap();
    let (code, _, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("built without MCP") && err.contains("--features mcp"), "{err}");
}

#[cfg(unix)]
#[test]
fn pipe_is_no_key_file() {
    let folder = notes();
    let made = Program::new("mkfifo").arg(folder.path().join("pipe")).output().unwrap();
    assert!(made.status.success());
    let model = "{base_url: \"http://127.0.0.1:9/v1\", name: m, key_file: pipe}";
    std::fs::write(folder.path().join("a.yaml"), format!("name: a\nmodel: {model}\n")).unwrap();
    let (code, _, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("cannot read the key of the model in"), "{err}");
}

#[test]
fn worker_refuses_a_folder_of_agents_that_is_missing() {
    let folder = notes();
    let (code, _, err) = output(folder.path(), &["worker", "--once", "--agents", "none"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--agents: none is no folder"), "{err}");
}

#[test]
fn approval_is_for_the_shown_change() {
    let folder = notes();
    let write = json!({ "path": "old.txt", "content": "buy milk\nbuy bread\n" });
    let write = Answer::Calls(vec![("w1", "write_file", write)]);
    let server = ModelServer::new(&[write, Answer::Text("Written.")]);
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    server.agent(&folder.path().join("agents"), "a.yaml", "tools: {files: {folder: ../notes}}\n");
    let (code, out, err) = output(folder.path(), &["run", "agents/a.yaml", "Note the bread."]);
    assert_eq!(code, Some(3), "{out} {err}");
    let (_, asked, _) = output(folder.path(), &["approvals"]);
    assert!(
        asked.contains("  preview\n    old.txt\n    @@ -1 +1,2 @@\n     buy milk\n    +buy bread\n"),
        "{asked}"
    );

    // The note changes between the approval and the execution: the approved change is not the one that would be made.
    std::fs::write(folder.path().join("notes/old.txt"), "the only copy\n").unwrap();
    let approve = ["approve", "w1", "--run", "helper-1", "--actor", "ada"];
    assert_eq!(output(folder.path(), &approve).0, Some(0));
    let worker = ["worker", "--once", "--agents", "agents"];
    let (code, out, err) = output(folder.path(), &worker);
    assert_eq!(code, Some(0), "{out} {err}");
    let (_, asked, _) = output(folder.path(), &["approvals"]);
    assert!(asked.contains("  changed     the call changed after an earlier approval"), "{asked}");
    assert!(asked.contains("    -the only copy\n    +buy milk\n    +buy bread\n"), "{asked}");
    let kept = std::fs::read_to_string(folder.path().join("notes/old.txt")).unwrap();
    assert_eq!(kept, "the only copy\n");

    let second = asked.lines().find_map(|line| line.strip_prefix("  suspension  ")).unwrap().to_owned();
    let (code, out, err) = output(folder.path(), &["approve", &second, "--actor", "ada"]);
    assert_eq!(code, Some(0), "{out} {err}");
    let (code, out, err) = output(folder.path(), &worker);
    assert_eq!(code, Some(0), "{out} {err}");
    let written = std::fs::read_to_string(folder.path().join("notes/old.txt")).unwrap();
    assert_eq!(written, "buy milk\nbuy bread\n");

    // The scenario repeats both previews, also where a text of them is replaced.
    for (redact, name) in [(&[][..], "plain"), (&["--redact", "the only copy"][..], "redacted")] {
        let path = format!("suite/{name}.yaml");
        let export = ["export", "helper-1", "--scenario", "--output", &path];
        let (code, out, err) = output(folder.path(), &[&export, redact].concat());
        assert_eq!(code, Some(0), "{out} {err}");
    }
    let mut test = Program::new(env!("CARGO_BIN_EXE_runstate"));
    let tested = test.args(["test", "suite"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(tested.status.code(), Some(0), "{tested:?}");
}

#[test]
fn question_shows_the_words_of_a_command() {
    let folder = notes();
    // Other lines mask what may be a password; a question shows all that executes.
    let call = Answer::Calls(vec![("c1", "count", json!({ "path": "a b'; rm -r x://u:$(y)@z" }))]);
    let server = ModelServer::new(&[call, Answer::Text("No.")]);
    let commands =
        "tools:\n  commands:\n    - {name: count, description: Counts., command: [wc, -w, \"{path}\"]}\n";
    server.agent(folder.path(), "a.yaml", commands);
    let (code, _, err) = said(folder.path(), &["run", "a.yaml", "go", "--ask"], "n\n");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains(r#"    wc -w 'a b'\''; rm -r x://u:$(y)@z'"#), "{err}");
}
