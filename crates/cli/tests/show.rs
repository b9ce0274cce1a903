use serde_json::Value;

use crate::session::{Session, assert_shown};
use crate::traces::{bad, good, violating};

#[test]
fn a_trace_is_shown_as_text_as_a_table_and_as_a_diagram() {
    let session = Session::new();
    session.write("good.jsonl", good()).write("bad.jsonl", violating());
    let mut shown = String::new();
    for args in [
        &["show", "good.jsonl"] as &[&str],
        &["show", "good.jsonl", "--format", "timeline"],
        &["show", "good.jsonl", "--format", "mermaid"],
        &["show", "bad.jsonl", "--format", "mermaid", "--lifecycle", "tool_call"],
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(0));
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("show", &shown);
    // A diagram that is shown is one that can be read.
    session.write("shown.md", session.run(&["show", "good.jsonl", "--format", "mermaid"]).stdout);
    let read = session.run(&["diagram", "shown.md#tool_call", "--format", "json"]);
    assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""), "{}", read.shown());
}

#[test]
fn json_keeps_every_event() {
    let session = Session::new();
    let trace = good().replace("\"seq\":3,", "\"seq\":3,\"cost\":1.50,");
    let said = session.run_with(&["show", "-", "--format", "json"], &trace);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json["events"], Value::from(events));
    assert_eq!(json["report"]["verdict"], "conforms");
}

#[test]
fn what_is_no_trace_is_bad_input() {
    let session = Session::new();
    for (case, content) in bad() {
        // One of them is 17 MB long, and is read in the same way for each.
        let formats = if content.len() > 1 << 20 {
            &["text"] as &[&str]
        } else {
            &["text", "timeline", "mermaid", "json"]
        };
        session.write("trace.jsonl", &content);
        for format in formats {
            let said = session.run(&["show", "trace.jsonl", "--format", format]);
            assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case} {format}: {}", said.shown());
            assert!(said.stderr.starts_with("error: trace.jsonl:"), "{case}: {}", said.stderr);
        }
    }
    session.write(
        "trace.jsonl",
        good().replace("tool_call", "door").replace("\"lifecycle\":\"run\"", "\"lifecycle\":\"gate\""),
    );
    let said = session.run(&["show", "trace.jsonl", "--format", "mermaid"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
}
