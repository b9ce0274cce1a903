//! `runstate check` on the files of governed runs.

use std::fs;

use super::{REVIEW, STATE_DIR, governed, json, plan, run_id};
use crate::session::{Session, assert_shown};

/// `check` reads the files of governed runs as they are, ours and other tools'.
#[test]
fn check_reads_states_and_logs() {
    let session = Session::new();
    let entry = |state: &str, from: u32, to: Option<u32>| {
        let to = to.map_or("null".to_owned(), |to| format!("\"2026-01-31T12:00:0{to}Z\""));
        format!(
            "{{\"state\": \"{state}\", \"entered_at\": \"2026-01-31T12:00:0{from}Z\", \"exited_at\": {to}}}"
        )
    };
    let file = |history: &[String], previous: &str, current: &str| {
        format!(
            "{{\"run_id\": \"RUN-A-20260131-120000\", \"project_id\": \"A\", \"current_state\": \"{current}\", \
             \"previous_state\": \"{previous}\", \"state_history\": [{}], \"tools_planned\": [], \
             \"tools_completed\": [], \"tools_remaining\": [], \"current_tool\": null, \"approvals_pending\": [], \
             \"approvals_granted\": [], \"created_at\": \"2026-01-31T12:00:00Z\", \
             \"updated_at\": \"2026-01-31T12:00:09Z\", \"theirs\": 1}}",
            history.join(", ")
        )
    };
    let sound = [entry("INIT", 0, Some(1)), entry("PLANNING", 1, None)];
    session.write("RUN_STATE.json", file(&sound, "INIT", "PLANNING"));
    let jumps = [
        entry("INIT", 0, Some(1)),
        entry("EXECUTING", 1, Some(2)),
        entry("COMPLETE", 2, Some(3)),
        entry("PLANNING", 3, None),
    ];
    session.write("jumps.json", file(&jumps, "COMPLETE", "PLANNING"));
    fs::create_dir(session.path("bad")).unwrap();
    session.write("bad/RUN_STATE.json", "{\"run_id\": 5}");
    let mut shown = String::new();
    for (args, code) in [
        (&["check", "RUN_STATE.json"] as &[&str], 0),
        (&["check", "RUN_STATE.json", "--complete"], 1),
        (&["check", "jumps.json"], 1),
        (&["check", "jumps.json", "--format", "json"], 1),
        (&["check", "bad/RUN_STATE.json"], 2),
        (&["check", "RUN_STATE.json", "jumps.json", "--format", "junit"], 1),
        (&["check", "RUN_STATE.json", "--complete", "--format", "junit"], 1),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("check_run_state", &shown);
}

/// A state and the logs that tell of its run are held against each other.
#[test]
fn check_holds_a_state_against_its_log() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let state = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    let log = format!("{STATE_DIR}/{run}/RUN_LOG.jsonl");
    let ledger = format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl");
    let check = |files: &[&str]| session.run(&[&["check"], files].concat());
    let said = check(&[&state, &log, &ledger]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    // The last line is lost: each file is sound by itself, and the two do not tell the same.
    let whole = session.read(&log);
    let lines: Vec<&str> = whole.lines().collect();
    session.write(&log, lines[..lines.len() - 1].join("\n") + "\n");
    assert_eq!([check(&[&state]).code, check(&[&log]).code], [Some(0), Some(0)]);
    let said = check(&[&state, &log, &ledger]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    let differs =
        "RUN_LOG.jsonl: entry 6 of state_history is COMPLETE, the log has no transition after line 5";
    assert!(said.stdout.contains(differs), "{}", said.shown());
    let said = check(&[&state, &log, "--format", "junit"]);
    assert!(said.stdout.contains("failures=\"1\"") && said.stdout.contains(differs), "{}", said.shown());
    // A log of another run says nothing of it, and nothing was held against the state.
    session.write("other/RUN_LOG.jsonl", whole.replace(&run, "RUN-SITE-20260131-120000"));
    let said = check(&[&state, "other/RUN_LOG.jsonl"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
}

/// `check` reads the logs of governed runs, ours and other tools', and names every line that is no legal transition.
#[test]
fn check_names_the_lines_of_a_log_that_are_no_legal_transition() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let log =
        session.read(&format!("{STATE_DIR}/{run}/RUN_LOG.jsonl")).replace(&run, "RUN-SITE-20260131-120000");
    let without = |gone: &[usize]| -> String {
        let lines = log.lines().enumerate().filter(|(i, _)| !gone.contains(i));
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    for folder in ["ours", "bad", "named"] {
        fs::create_dir(session.path(folder)).unwrap();
    }
    session.write("ours/RUN_LOG.jsonl", &log).write("bad/RUN_LOG.jsonl", without(&[1, 3]));
    // The documented words, with unknown fields, and lines of other programs.
    let theirs = |states: &[&str]| -> String {
        let line = |(i, state): (usize, &&str)| {
            format!(
                "{{\"run_id\": \"RUN-A-20260131-120000\", \"state\": \"{state}\", \
                 \"entered_at\": \"2026-01-31T12:00:0{i}Z\", \"host\": {{\"name\": \"a\"}}}}\n\
                 {{\"event\": \"tool_started\", \"tool\": \"tool_browser\"}}\n"
            )
        };
        states.iter().enumerate().map(line).collect()
    };
    session
        .write("theirs.jsonl", theirs(&["INIT", "PLANNING", "EXECUTING"]))
        .write("jumps.jsonl", theirs(&["INIT", "EXECUTING", "COMPLETE", "PLANNING"]))
        .write("named/RUN_LOG.jsonl", "{\"event\": \"tool_started\"}\n")
        .write("named/RUN_LEDGER.jsonl", format!("{}garbage\n{}", without(&[4, 5]), theirs(&["INIT"])));
    let mut shown = String::new();
    for (args, code) in [
        (&["check", "ours/RUN_LOG.jsonl", "--complete"] as &[&str], 0),
        (&["check", "bad/RUN_LOG.jsonl"], 1),
        (&["check", "theirs.jsonl"], 0),
        (&["check", "theirs.jsonl", "--complete"], 1),
        (&["check", "jumps.jsonl"], 1),
        (&["check", "jumps.jsonl", "--format", "json"], 1),
        (&["check", "theirs.jsonl", "jumps.jsonl", "--format", "junit", "--complete"], 1),
        (&["check", "theirs.jsonl", "--require-edge", "PLANNING:EXECUTING"], 0),
        (&["check", "theirs.jsonl", "--require-edge", "VERIFYING:AUDITING"], 1),
        (&["check", "named/RUN_LEDGER.jsonl"], 2),
        (&["check", "named/RUN_LOG.jsonl"], 2),
        // Where another diagram is asked for, it is a trace like any other.
        (&["check", "ours/RUN_LOG.jsonl", "--lifecycle", "run"], 2),
        (&["check", "absent/RUN_LOG.jsonl"], 2),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("check_run_log", &shown);
}
