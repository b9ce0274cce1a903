//! A server for tests, with hostile tools. The test program starts itself as the server: see [`command`].
//!
//! | variable | effect |
//! |---|---|
//! | `MCP_MODE` | `new` speaks 2026-07-28; anything else is refused there, and speaks 2025-11-25 |
//! | `MCP_NAMES` | `odd`: a name with a control character; `twins`: two names that are one for a model |
//!
//! Each message of the client is appended to `log.jsonl` of its working folder. A file `changed` there changes the schema of
//! `write`.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

/// The variable that makes the test program a server.
const SERVES: &str = "MCP_TEST_SERVER";

/// The command of the server, and the variables that it needs.
pub fn command() -> (Vec<String>, Vec<(&'static str, &'static str)>) {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let test = format!("{}::serves_if_it_is_asked_to", module_path!().split_once("::").unwrap().1);
    (
        vec![program, test, "--exact".into(), "--nocapture".into(), "--test-threads=1".into()],
        vec![(SERVES, "1")],
    )
}

/// The server itself, if this process is one. Otherwise there is nothing to do.
#[test]
fn serves_if_it_is_asked_to() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    // The harness has written the begin of a line.
    say("");
    let mut server = Mcp::new(Path::new("."));
    let mut lines = stdin().lock().lines().map_while(Result::ok);
    while let Some(line) = lines.next() {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        server.take(&message, &mut |message| say(&message.to_string()), &mut || lines.next());
    }
    std::process::exit(0);
}

fn say(line: &str) {
    let mut out = stdout().lock();
    // A client that has gone reads nothing.
    writeln!(out, "{line}").and_then(|()| out.flush()).ok();
}

/// The state of a server.
pub struct Mcp {
    folder: std::path::PathBuf,
    is_new: bool,
    names: String,
}

impl Mcp {
    pub fn new(folder: &Path) -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        Mcp { folder: folder.to_owned(), is_new: variable("MCP_MODE") == "new", names: variable("MCP_NAMES") }
    }

    fn note(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{text}").unwrap();
    }

    fn tools(&self) -> Value {
        let text = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let tool = |name: &str| json!({ "name": name, "description": "For tests.", "inputSchema": text });
        let hinted = |name: &str, hint: &str| {
            let mut tool = tool(name);
            tool["annotations"] = json!({ hint: true });
            tool
        };
        let mut write = tool("write");
        if self.folder.join("changed").exists() {
            write["inputSchema"]["properties"]["to"] = json!({ "type": "string" });
        }
        let mut tools =
            vec![hinted("read", "readOnlyHint"), write, hinted("ask", "idempotentHint"), tool("ask_once")];
        let others =
            ["env", "die", "hang", "slow", "huge", "monster", "garbage", "fail", "image", "change", "refuse"];
        tools.extend(others.map(tool));
        match self.names.as_str() {
            "odd" => tools.push(tool("re\u{202e}ad\n")),
            "twins" => tools.extend([tool("a.b"), tool("a/b")]),
            _ => {}
        }
        tools.into()
    }

    /// Answers a message. `next` reads the next line of the client.
    pub fn take(
        &mut self,
        message: &Value,
        send: &mut dyn FnMut(Value),
        next: &mut dyn FnMut() -> Option<String>,
    ) {
        self.note("log.jsonl", &message.to_string());
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()).cloned() else { return };
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let error = |code: i32, text: &str| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } });
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.is_new => send(answer(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "ttlMs": 0,
                "cacheScope": "private",
            }))),
            "initialize" => send(answer(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "test", "version": "1" },
            }))),
            "tools/list" if self.is_new => send(answer(json!({
                "resultType": "complete", "tools": self.tools(), "ttlMs": 3_600_000, "cacheScope": "private",
            }))),
            "tools/list" => send(answer(json!({ "tools": self.tools() }))),
            "tools/call" => self.call(&message["params"], &id, send, next),
            _ => send(error(-32601, "method not found")),
        }
    }

    fn call(
        &mut self,
        params: &Value,
        id: &Value,
        send: &mut dyn FnMut(Value),
        next: &mut dyn FnMut() -> Option<String>,
    ) {
        let given = params["arguments"]["text"].as_str().unwrap_or_default().to_owned();
        let is_new = self.is_new;
        let give = |send: &mut dyn FnMut(Value), mut result: Value| {
            if is_new {
                result["resultType"] = json!("complete");
            }
            send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        };
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        match params["name"].as_str().unwrap_or_default() {
            "read" => give(send, text(&given)),
            "write" => {
                self.note("written", &given);
                give(send, text("written"));
            }
            "env" => {
                let variables: serde_json::Map<String, Value> =
                    std::env::vars().map(|(name, value)| (name, value.into())).collect();
                give(send, json!({ "content": [], "structuredContent": variables }));
            }
            "die" => {
                eprintln!("\u{1b}[31mout of paper");
                std::process::exit(3);
            }
            "hang" => {}
            "slow" => {
                for step in 1..=8 {
                    sleep(Duration::from_millis(100));
                    let token = &params["_meta"]["progressToken"];
                    let progress = json!({ "progressToken": token, "progress": step, "total": 8 });
                    send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress }));
                }
                give(send, text("done"));
            }
            "huge" => give(send, text(&"x".repeat(200_000))),
            "monster" => give(send, text(&"x".repeat(17 << 20))),
            "garbage" => {
                say("this is no JSON");
                say("{\"jsonrpc\": \"2.0\", \"id\": 9999, \"result\": {}}");
                say("[1, 2");
                say("{\"jsonrpc\": \"2.0\", \"method\": 7}");
                say("\u{0}\u{7f}");
                give(send, text("after the garbage"));
            }
            "fail" => {
                let mut failed = text("no such file");
                failed["isError"] = json!(true);
                give(send, failed);
            }
            "image" => give(
                send,
                json!({ "content": [{ "type": "image", "data": "AAAAAA==", "mimeType": "image/png" }] }),
            ),
            "change" => {
                self.note("changed", "");
                send(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                give(send, text("changed"));
            }
            name @ ("ask" | "ask_once") => {
                if let Some(answer) = self.ask(params, id, send, next) {
                    self.note("asked", name);
                    give(send, text(&format!("{given}: {answer}")));
                }
            }
            _ => send(
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "re\u{1b}fused\nhere" } }),
            ),
        }
    }

    /// The answer of the person. A new server returns the question, and an old one waits for the answer.
    fn ask(
        &self,
        params: &Value,
        id: &Value,
        send: &mut dyn FnMut(Value),
        next: &mut dyn FnMut() -> Option<String>,
    ) -> Option<String> {
        let schema =
            json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
        let question = json!({ "mode": "form", "message": "which name?", "requestedSchema": schema });
        if self.is_new {
            let state = params["requestState"].as_str();
            if state == Some("state-7") {
                return Some(params["inputResponses"]["q"].to_string());
            }
            let asked = json!({ "q": { "method": "elicitation/create", "params": question } });
            let result =
                json!({ "resultType": "input_required", "inputRequests": asked, "requestState": "state-7" });
            send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            return None;
        }
        send(json!({ "jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create", "params": question }));
        loop {
            let line = next()?;
            self.note("log.jsonl", &line);
            let message: Value = serde_json::from_str(&line).ok()?;
            if message["id"] == "q-1" {
                return Some(message["result"].to_string());
            }
            if message["method"] == "notifications/cancelled" {
                return None;
            }
        }
    }
}

/// The messages that a server read, by their method.
pub fn log(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("log.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
