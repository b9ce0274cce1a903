//! Sixty kinds of answer that servers, proxies and portals give, byte by byte, each with its outcome.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use runstate_stream::StreamEvent;

use crate::server::{Act, events_head, finish, of, send, text};

fn head(status: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}\r\n")
}

fn whole(status: &str, kind: &str, body: &str) -> Vec<Act> {
    let length = format!("Content-Length: {}", body.len());
    vec![send(head(status, &[kind, &length]) + body)]
}

fn json(status: &str, body: &str) -> Vec<Act> {
    whole(status, "Content-Type: application/json", body)
}

fn events(said: &str) -> Vec<Act> {
    vec![events_head(), send(said)]
}

fn chunked(pieces: &[&str], end: &str) -> Vec<Act> {
    let pieces: String = pieces.iter().map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).collect();
    let headers = ["Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
    vec![send(head("200 OK", &headers) + &pieces + end)]
}

fn answers() -> Vec<(&'static str, Vec<Act>)> {
    let well = || text("well") + &finish("stop") + "data: [DONE]\n\n";
    let ok = |fields: &str| format!("data: {{{fields}}}\n\n");
    vec![
        ("the connection closes at once", vec![]),
        ("the connection is reset at once", vec![Act::Cut]),
        ("no HTTP", vec![send("SSH-2.0-OpenSSH_9.6\r\n")]),
        ("a TLS alert", vec![Act::Send(vec![0x15, 3, 1, 0, 2, 2, 70])]),
        ("a status line that is cut", vec![send("HTTP/1.1 20")]),
        ("headers that are cut", vec![send("HTTP/1.1 200 OK\r\nContent-Type: text/ev")]),
        ("another version of HTTP", vec![send("HTTP/9.9 200 OK\r\n\r\n")]),
        ("a status that is no number", vec![send("HTTP/1.1 abc OK\r\n\r\n")]),
        ("200 headers", {
            let more: Vec<String> = (0..200).map(|number| format!("X-{number}: 1")).collect();
            vec![send(head("200 OK", &more.iter().map(String::as_str).collect::<Vec<_>>()))]
        }),
        ("a header of 1 MiB", vec![send(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20)))]),
        ("two lengths", vec![send(head("200 OK", &["Content-Length: 2", "Content-Length: 3"]) + "{}{")]),
        ("a length that is no number", vec![send(head("200 OK", &["Content-Length: -1"]))]),
        (
            "a body shorter than its length",
            vec![send(
                head("200 OK", &["Content-Type: application/json", "Content-Length: 99"]) + "{\"choices\":[]",
            )],
        ),
        (
            "events shorter than their length",
            vec![send(
                head("200 OK", &["Content-Type: text/event-stream", "Content-Length: 9999"]) + &text("we"),
            )],
        ),
        (
            "a chunk whose length is no number",
            vec![send(
                head("200 OK", &["Content-Type: text/event-stream", "Transfer-Encoding: chunked"]) + "zz\r\n",
            )],
        ),
        ("chunks without their end", chunked(&[&text("we")], "")),
        ("chunks with their end, and an answer without one", chunked(&[&text("we")], "0\r\n\r\n")),
        ("chunks and trailers", chunked(&[&well()], "0\r\nX-Sum: 1\r\n\r\n")),
        ("204", vec![send(head("204 No Content", &[]))]),
        ("206", json("206 Partial Content", r#"{"choices":[{"message":{"content":"we"}}]}"#)),
        ("100 before the answer", vec![send("HTTP/1.1 100 Continue\r\n\r\n"), events_head(), send(well())]),
        (
            "103 before the answer",
            vec![send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), events_head(), send(well())],
        ),
        (
            "a switch of protocols",
            vec![send(head("101 Switching Protocols", &["Connection: Upgrade", "Upgrade: websocket"]))],
        ),
        (
            "a redirection",
            vec![send(head(
                "307 Temporary Redirect",
                &["Location: http://127.0.0.1:9/", "Content-Length: 0"],
            ))],
        ),
        (
            "a proxy that asks for a password",
            whole("407 Proxy Authentication Required", "Content-Type: text/html", "<h1>Proxy</h1>"),
        ),
        (
            "a portal's page",
            whole("200 OK", "Content-Type: text/html", "<html><body>Sign in to the Wi-Fi</body></html>"),
        ),
        (
            "a gateway's page",
            whole(
                "502 Bad Gateway",
                "Content-Type: text/html",
                "<html><h1>502 Bad Gateway</h1><hr>nginx</html>",
            ),
        ),
        (
            "a gateway's limit of time",
            whole("504 Gateway Timeout", "Content-Type: text/plain", "upstream request timeout"),
        ),
        (
            "a CDN's own status",
            whole("522 Connection Timed Out", "Content-Type: text/plain", "error code: 522"),
        ),
        ("a refusal without a body", json("400 Bad Request", "")),
        (
            "a refusal of 1 MiB",
            json("400 Bad Request", &format!(r#"{{"error":{{"message":"{}"}}}}"#, "x".repeat(1 << 20))),
        ),
        (
            "a refusal with control characters",
            json("400 Bad Request", r#"{"error":{"message":"a\u001b[2Jb\u202ec"}}"#),
        ),
        (
            "a refusal that is a list",
            json(
                "429 Too Many Requests",
                r#"[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]"#,
            ),
        ),
        ("an error with the status 200", json("200 OK", r#"{"error":{"message":"no credit","code":402}}"#)),
        ("an answer of null", json("200 OK", "null")),
        ("an answer without choices", json("200 OK", r#"{"choices":[]}"#)),
        ("JSON of 100,000 brackets", json("200 OK", &"[".repeat(100_000))),
        (
            "compressed although nothing was asked for",
            vec![send(
                head("200 OK", &["Content-Type: text/event-stream", "Content-Encoding: gzip"])
                    + "\u{1f}\u{8b}",
            )],
        ),
        (
            "a whole answer in the type of events",
            whole(
                "200 OK",
                "Content-Type: text/event-stream",
                r#"{"choices":[{"message":{"content":"well"},"finish_reason":"stop"}]}"#,
            ),
        ),
        ("events in the type of text", whole("200 OK", "Content-Type: text/plain", &well())),
        ("events without a type", whole("200 OK", "X-Type: none", &well())),
        ("a byte order mark", events(&format!("\u{feff}{}", well()))),
        ("line ends of carriage returns", events(&well().replace('\n', "\r"))),
        ("fields without a space", events(&well().replace("data: ", "data:"))),
        (
            "several data lines in an event",
            events(
                "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"well\"},\"finish_reason\":\"stop\"}]}\n\n",
            ),
        ),
        ("ids and times to try again", events(&well().replace("data: ", "id: 7\nretry: 1\ndata: "))),
        (
            "unknown fields and events",
            events(&format!("event: ping\ndata: {{\"type\":\"ping\"}}\n\n{}", well())),
        ),
        (
            "a text of a NUL and half a surrogate",
            events(&(ok(r#""choices":[{"delta":{"content":"a\u0000\ud83d"}}]"#) + &finish("stop"))),
        ),
        ("more after [DONE]", events(&(well() + &text(" again")))),
        ("[DONE] alone", events("data: [DONE]\n\n")),
        ("a finish and no word", events(&finish("stop"))),
        ("an unknown reason to finish", events(&(text("well") + &finish("eos_token")))),
        (
            "two answers side by side",
            events(
                &(ok(
                    r#""choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"well"}}]"#,
                ) + &finish("stop")),
            ),
        ),
        ("a negative index", events(&ok(r#""choices":[{"index":-1,"delta":{"content":"well"}}]"#))),
        (
            "a content that is a number",
            events(&(ok(r#""choices":[{"delta":{"content":7}}]"#) + &finish("stop"))),
        ),
        (
            "a call without a name",
            events(
                &(ok(r#""choices":[{"delta":{"tool_calls":[{"index":0,"id":"c"}]}}]"#)
                    + &finish("tool_calls")),
            ),
        ),
        (
            "a call that is cut",
            events(&ok(
                r#""choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"rm","arguments":"{\"path\":\"/"}}]}}]"#,
            )),
        ),
        (
            "calls with indices far apart",
            events(
                &(ok(
                    r#""choices":[{"delta":{"tool_calls":[{"index":9007199254740993,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]"#,
                ) + &finish("tool_calls")),
            ),
        ),
        ("an error event without data", events("event: error\n\n")),
        (
            "an error in the midst",
            events(&(text("we") + &ok(r#""error":{"message":"overloaded","type":"overloaded_error"}"#))),
        ),
    ]
}

/// Tokens and other events in a line, or the failure.
fn told(events: &[StreamEvent]) -> String {
    let mut line = String::new();
    for event in events {
        match event {
            StreamEvent::Alive => continue,
            StreamEvent::Token(text) => write!(line, "{text:?} ").unwrap(),
            StreamEvent::Finish(reason) => write!(line, "finish:{reason} ").unwrap(),
            StreamEvent::Complete => line.push_str("complete "),
            StreamEvent::ToolCall(call) => write!(line, "call:{}({}) ", call.name, call.arguments).unwrap(),
            other => write!(line, "{other:?} ").unwrap(),
        }
    }
    line.trim_end().to_owned()
}

fn without_port(said: &str) -> String {
    let Some((before, after)) = said.split_once("127.0.0.1:") else { return said.to_owned() };
    format!("{before}127.0.0.1:PORT{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[tokio::test]
async fn each_kind_of_answer_is_an_answer_or_a_failure_that_says_why() {
    let mut shown = String::new();
    assert!(answers().len() >= 40);
    for (kind, script) in answers() {
        let asked = tokio::time::timeout(Duration::from_secs(20), of(script)).await;
        let (events, failure) = asked.unwrap_or_else(|_| panic!("{kind}: no end"));
        let events = told(&events);
        assert!(failure.is_some() != events.ends_with("complete"), "{kind}: {events} {failure:?}");
        let failure = failure.map(|failure| format!("{}: {}", failure.kind(), failure.message()));
        assert!(failure.as_ref().is_none_or(|said| said.len() < 2_000), "{kind}");
        let failure = failure.map(|said| without_port(&said.replace(&"x".repeat(900), "…")));
        let end = failure.map(|failure| format!(" ! {failure}")).unwrap_or_default();
        writeln!(shown, "{kind}\n    {events}{end}").unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    settings.set_snapshot_path(root.canonicalize().unwrap().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("openai__kinds_of_answers", shown));
}
