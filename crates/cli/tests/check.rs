use serde_json::Value;

use crate::session::{Session, assert_shown};
use crate::traces::{bad, good, line, parked, violating};

fn traces() -> Session {
    let session = Session::new();
    session.write("good.jsonl", good()).write("parked.jsonl", parked()).write("bad.jsonl", violating());
    session
}

#[test]
fn the_verdict_is_the_exit_code() {
    let session = traces();
    let code = |args: &[&str]| session.run(args).code;
    assert_eq!(code(&["check", "good.jsonl"]), Some(0));
    assert_eq!(code(&["check", "good.jsonl", "--complete"]), Some(0));
    assert_eq!(code(&["check", "parked.jsonl"]), Some(0));
    assert_eq!(code(&["check", "parked.jsonl", "--complete"]), Some(1));
    assert_eq!(code(&["check", "bad.jsonl"]), Some(1));
    assert_eq!(code(&["check", "good.jsonl", "bad.jsonl"]), Some(1), "the worst of all traces counts");
    assert_eq!(code(&["check", "bad.jsonl", "absent.jsonl"]), Some(2));
    assert_eq!(code(&["check", "bad.jsonl", "--lifecycle", "run"]), Some(0), "the run itself conforms");
    assert_eq!(code(&["check", "good.jsonl", "--min-coverage", "30"]), Some(0));
    assert_eq!(code(&["check", "good.jsonl", "--min-coverage", "90"]), Some(1));
    assert_eq!(code(&["check", "good.jsonl", "--require-edge", "Suspended:Resuming"]), Some(0));
    assert_eq!(code(&["check", "good.jsonl", "--require-edge", "tool_call/Suspended:Cancelled"]), Some(1));
}

#[test]
fn check_shows_its_findings_as_text_and_junit() {
    let session = traces();
    let mut shown = String::new();
    for args in [
        &["check", "good.jsonl", "parked.jsonl"] as &[&str],
        &["check", "bad.jsonl"],
        &["check", "good.jsonl", "--coverage", "--min-coverage", "90", "--require-edge", "Running:Failed"],
        &["check", "good.jsonl", "--lifecycle", "tool_call"],
        &[
            "check",
            "good.jsonl",
            "parked.jsonl",
            "bad.jsonl",
            "--format",
            "junit",
            "--complete",
            "--min-coverage",
            "90%",
        ],
    ] {
        shown.push_str(&session.run(args).shown());
        shown.push('\n');
    }
    assert_shown("check", &shown);
}

#[test]
fn check_reports_traces_and_coverage_as_json() {
    let session = traces();
    let said = session.run(&["check", "good.jsonl", "bad.jsonl", "absent.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&json["verdict"], &json["exit"]), (&"violates".into(), &2.into()));
    assert_eq!(json["traces"][0]["report"]["verdict"], "conforms");
    assert_eq!(json["traces"][1]["report"]["violation"]["line"], 6);
    assert!(json["traces"][2]["error"].as_str().unwrap().contains("No such file"), "{json:#}");
    assert_eq!(json["coverage"][0]["lifecycle"], "run");
}

#[test]
fn standard_input_is_read_and_runs_may_be_interleaved() {
    let session = traces();
    let other = good().replace("\"r\"", "\"s\"");
    let mixed: String =
        good().lines().zip(other.lines()).map(|(one, two)| format!("{one}\n{two}\n")).collect();
    let said = session.run_with(&["check", "-", "--complete"], mixed);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.starts_with("<stdin>: conforms: 18 events, 4 instances"), "{}", said.stdout);
    assert_eq!(session.run(&["check", "-", "-"]).code, Some(2));
}

#[test]
fn a_violation_shows_the_place_whatever_it_is() {
    let session = Session::new();
    let start = line(1, "a", "create", None, "New");
    let cases = [
        ("unknown state", start.clone() + &line(2, "a", "start", Some("New"), "Executing")),
        ("unknown lifecycle", start.replace("tool_call", "door")),
        ("wrong event", start.clone() + &line(2, "a", "suspend", Some("New"), "Running")),
        ("no creation", line(1, "a", "start", Some("New"), "Running")),
        ("after the end", good() + &line(10, "a", "start", Some("Succeeded"), "Running")),
        ("seq", start.clone() + &line(1, "a", "start", Some("New"), "Running")),
        ("garbage", good() + "what is this\n"),
        ("cut", good() + "{\"seq\":10,\"at"),
        ("control characters", start + &line(2, "a\\u001b[31m", "start", Some("New"), "\\u0007")),
    ];
    let mut shown = String::new();
    for (case, trace) in cases {
        session.write("trace.jsonl", trace);
        let said = session.run(&["check", "trace.jsonl"]);
        let code = if matches!(case, "garbage" | "cut") { 2 } else { 1 };
        assert_eq!(said.code, Some(code), "{case}: {}", said.shown());
        assert!(!said.stdout.contains(['\u{1b}', '\u{7}']), "{case}");
        shown.push_str(&format!("== {case}\n{}\n", said.stdout));
    }
    assert_shown("check_violations", &shown);
}

const SHOP: &str = "# Shop\n\n```mermaid\nstateDiagram-v2\n    [*] --> Cart\n    Cart --> Paid : pay\n    Paid --> [*]\n```\n";

#[test]
fn any_trace_is_held_against_any_diagram() {
    let session = Session::new();
    let of = |seq, event: &str, from, to: &str| line(seq, "a", event, from, to).replace("tool_call", "order");
    let good = of(1, "create", None, "Cart") + &of(2, "pay", Some("Cart"), "Paid");
    session.write("shop.md", SHOP).write("good.jsonl", &good);
    session
        .write("event.jsonl", good.replace("pay", "steal"))
        .write("state.jsonl", good.replace("Paid", "Gone"));
    session.write("mixed.jsonl", line(1, "r", "create", None, "Running").replace("\"r\"", "\"s\"") + &good);
    let mut shown = String::new();
    for (args, code) in [
        (&["check", "good.jsonl", "--diagram", "shop.md", "--complete", "--coverage"] as &[&str], 0),
        (&["check", "good.jsonl", "--diagram", "shop.md#shop", "--lifecycle", "order"], 0),
        (&["check", "event.jsonl", "--diagram", "shop.md"], 1),
        (&["check", "state.jsonl", "--diagram", "shop.md"], 1),
        (&["check", "mixed.jsonl", "--diagram", "shop.md", "--lifecycle", "order"], 0),
        (&["check", "good.jsonl", "--diagram", "shop.md", "--require-edge", "Cart:Paid"], 0),
        (&["check", "good.jsonl", "--diagram", "shop.md", "--require-edge", "Cart:Gone"], 2),
        (&["check", "good.jsonl", "--diagram", "shop.md#returns"], 2),
        (&["check", "good.jsonl", "--diagram", "absent.md"], 2),
        (&["show", "event.jsonl", "--format", "mermaid", "--diagram", "shop.md"], 0),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("check_diagram", &shown);
}

#[test]
fn malformed_trace_is_bad_input() {
    let session = Session::new();
    let mut shown = String::new();
    for (case, content) in bad() {
        session.write("trace.jsonl", content);
        let said = session.run(&["check", "trace.jsonl"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case}: {}", said.shown());
        assert!(said.stderr.len() < 1_000, "{case}: {} bytes", said.stderr.len());
        shown.push_str(&format!("== {case}\n{}\n", said.stderr));
    }
    for args in [
        &["check"] as &[&str],
        &["check", "."],
        &["check", "t", "--lifecycle", "door"],
        &["check", "t", "--min-coverage", "101"],
        &["check", "t", "--min-coverage", "NaN"],
        &["check", "t", "--require-edge", "New->Running"],
        &["check", "t", "--require-edge", "New:Done"],
        &["check", "t", "--require-edge", "run/New:Running"],
    ] {
        let said = session.run(args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{args:?}: {}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("check_errors", &shown);
}

/// Each command that reads a file names the one that may be meant.
#[test]
fn missing_file_error_suggests_the_closest_file_name() {
    let session = Session::new();
    session.write("trace.jsonl", "").write("flow.mmd", "stateDiagram-v2\n  A --> B\n");
    for (args, near) in [
        (&["check", "trcae.jsonl"] as &[&str], "did you mean trace.jsonl?"),
        (&["diff", "flwo.mmd", "flow.mmd"], "did you mean flow.mmd?"),
        (&["diagram", "flwo.mmd"], "did you mean flow.mmd?"),
        (&["show", "trcae.jsonl"], "did you mean trace.jsonl?"),
        (&["show", "trace.jsnol"], "did you mean trace.jsonl?"),
        (&["check", "trace.jsnol"], "did you mean trace.jsonl?"),
        (&["show", "."], "there is no file \".\", which is a folder; "),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.shown().contains(near), "{}", said.shown());
    }
}

#[test]
fn a_summary_in_markdown_has_verdicts_violations_and_missed_edges() {
    let session = Session::new();
    session.write("good.jsonl", good()).write("bad.jsonl", violating()).write("empty.jsonl", "");
    let args =
        ["check", "good.jsonl", "bad.jsonl", "empty.jsonl", "--format", "markdown", "--min-coverage", "90"];
    let said = session.run(&args);
    assert_shown("check_markdown", &said.shown());
    assert_eq!(said.code, Some(2));
    let said = session.run(&["check", "good.jsonl", "--format", "markdown"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{}", said.shown());
    // An instance that has not ended is a failure where it must end.
    let open: String = good().lines().take(4).map(|line| format!("{line}\n")).collect();
    session.write("open.jsonl", open);
    for (more, row) in [(&[] as &[&str], "⚠ incomplete"), (&["--complete"], "❌ incomplete")] {
        let said = session.run(&[&["check", "open.jsonl", "--format", "markdown"], more].concat());
        assert!(said.stdout.contains(row), "{}", said.shown());
        assert!(said.stdout.contains(" since line "), "{}", said.shown());
    }
}
