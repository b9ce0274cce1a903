//! Logs and ledgers of whoever wrote them, looked at without a run: each line that tells of no legal transition is named.

use runstate::governed_run::GovernedRunStatus;
use runstate_governed::{LogReport, check_log, check_state};
use serde_json::{Value, json};

use super::rows::assert_told;
use super::world::{Answer, RUN, Reply, Script, T, Tool, World, folders};

fn checked(log: &str) -> LogReport {
    check_log(log.as_bytes(), Some(T + 3_600_000), |_| ()).unwrap()
}

fn faults(log: &str) -> Vec<u64> {
    checked(log).faults.iter().map(|fault| fault.line).collect()
}

async fn log_of(script: Script) -> String {
    let mut world = World::new(script);
    let (run, _) = world.live().await;
    world.file(folders().log(&run))
}

/// The same log in the words of document 001, with what another tool may add.
fn in_other_words(log: &str) -> String {
    let lines = log.lines().enumerate().map(|(i, line)| {
        let ours: Value = serde_json::from_str(line).unwrap();
        let theirs = match i % 3 {
            0 => json!({
                "run_id": ours["run"], "previous_state": ours["from"], "current_state": ours["to"],
                "updated_at": ours["at"], "host": {"name": "a"}, "seq": "one",
            }),
            1 => json!({"run_id": ours["run"], "state": ours["to"], "entered_at": ours["at"], "exited_at": null}),
            _ => json!({"event": "MOVED", "run": ours["run"], "to": ours["to"], "timestamp": ours["at"]}),
        };
        format!("{theirs}\n{{\"event\": \"looked\", \"state\": \"ok\", \"to\": \"ada\"}}\n")
    });
    lines.collect()
}

fn scripts() -> Vec<Script> {
    vec![
        Script::default(),
        Script { plan_asks: true, ..Script::default() },
        Script { answers: vec![Answer::Reject], ..Script::default() },
        Script { verify: vec![Reply::Fail], ..Script::default() },
        Script { tools: vec![Tool::new("build", [Reply::Halt])], ..Script::default() },
    ]
}

#[tokio::test(start_paused = true)]
async fn logs_of_both_formats_are_checked_alike() {
    for script in scripts() {
        let ours = log_of(script).await;
        let theirs = in_other_words(&ours);
        let mut told = [Vec::new(), Vec::new()];
        for (log, told) in [&ours, &theirs].into_iter().zip(&mut told) {
            let report = check_log(log.as_bytes(), Some(T), |step| told.push((step.from, step.to, step.at)));
            let report = report.unwrap();
            assert_eq!(report.faults, [], "{log}");
            assert_eq!(report.steps, ours.lines().count() as u64);
            assert_eq!(report.runs.len(), 1);
            assert_eq!(report.runs[0].run.as_deref(), Some(RUN));
            assert_eq!(report.runs[0].state, Some(told.last().unwrap().1));
        }
        assert_eq!(told[0], told[1]);
    }
}

/// A line taken out, and the one that no longer follows is named; wherever it is, in both forms.
#[tokio::test(start_paused = true)]
async fn log_without_a_line_is_faulted_at_that_line() {
    for script in scripts() {
        let ours = log_of(script).await;
        let lines: Vec<&str> = ours.lines().collect();
        for gone in 0..lines.len() - 1 {
            let mut left = lines.clone();
            left.remove(gone);
            let ours: String = left.iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(faults(&ours).first(), Some(&(gone as u64 + 1)), "{ours}");
            // Where the line does not say where it comes from, the step that is left may be a legal one. That a run begins in
            // INIT need not be told, but in a trace.
            let state = |line: &str| -> String {
                let line: Value = serde_json::from_str(line).unwrap();
                line["to"].as_str().unwrap().to_owned()
            };
            let may_step = gone == 0 || gone % 3 != 0 && is_legal(&state(left[gone - 1]), &state(left[gone]));
            let theirs = in_other_words(&ours);
            let expected = (!may_step).then_some(2 * gone as u64 + 1);
            assert_eq!(faults(&theirs).first().copied(), expected, "{theirs}");
        }
    }
}

/// "Valid Transitions" and "Timeout Rules" of document 001, and B2.
const WAYS: [(&str, &[&str]); 9] = [
    ("INIT", &["PLANNING", "HALTED_UNSAFE"]),
    ("PLANNING", &["EXECUTING", "HALTED_UNSAFE"]),
    ("EXECUTING", &["AWAITING_APPROVAL", "VERIFYING", "HALTED_UNSAFE", "ROLLED_BACK"]),
    ("AWAITING_APPROVAL", &["EXECUTING", "ROLLED_BACK", "HALTED_UNSAFE"]),
    ("VERIFYING", &["AUDITING", "ROLLED_BACK"]),
    ("AUDITING", &["COMPLETE", "ROLLED_BACK"]),
    ("COMPLETE", &[]),
    ("ROLLED_BACK", &[]),
    ("HALTED_UNSAFE", &[]),
];

fn is_legal(from: &str, to: &str) -> bool {
    WAYS.iter().any(|(state, ways)| *state == from && ways.contains(&to))
}

/// Every pair of states, told of as a step: those of the document's list pass, the others are named.
#[test]
fn checked_log_allows_only_the_documented_steps() {
    let to = |state: &str| -> Vec<&str> {
        match state {
            "INIT" => vec![],
            "PLANNING" => vec!["INIT"],
            "EXECUTING" => vec!["INIT", "PLANNING"],
            "AWAITING_APPROVAL" | "VERIFYING" | "ROLLED_BACK" | "HALTED_UNSAFE" => {
                vec!["INIT", "PLANNING", "EXECUTING"]
            }
            "AUDITING" => vec!["INIT", "PLANNING", "EXECUTING", "VERIFYING"],
            _ => vec!["INIT", "PLANNING", "EXECUTING", "VERIFYING", "AUDITING"],
        }
    };
    for (from, legal) in WAYS {
        for (next, _) in WAYS {
            let mut log = String::new();
            let mut before = Value::Null;
            for state in to(from).into_iter().chain([from, next]) {
                log.push_str(&format!("{}\n", json!({"previous_state": before, "current_state": state})));
                before = state.into();
            }
            let expected = if legal.contains(&next) { vec![] } else { vec![log.lines().count() as u64] };
            assert_eq!(faults(&log), expected, "{from} --> {next}");
        }
    }
}

#[test]
fn faults_of_hostile_logs_are_reported_by_line() {
    let at = |second: u32| format!("2026-01-31T12:00:0{second}Z");
    let theirs = |state: &str, second: u32| {
        format!("{}\n", json!({"run_id": RUN, "state": state, "entered_at": at(second)}))
    };
    let begun = theirs("INIT", 0) + &theirs("PLANNING", 1);
    let ours = |seq: u32, event: &str, from: Value, to: &str| {
        let line = json!({
            "seq": seq, "at_ms": T, "run": RUN, "lifecycle": "governed_run", "instance": RUN,
            "event": event, "from": from, "to": to, "at": at(0),
        });
        format!("{line}\n")
    };
    let made = ours(1, "create", Value::Null, "INIT");
    let cases = [
        ("impossible history", begun.clone() + &theirs("COMPLETE", 2) + &theirs("EXECUTING", 3)),
        ("begins in the middle", theirs("EXECUTING", 0)),
        ("begins behind its making", ours(1, "plan", "INIT".into(), "PLANNING")),
        ("made twice", made.clone() + &ours(2, "create", Value::Null, "INIT")),
        ("another state before", made.clone() + &ours(2, "execute", "PLANNING".into(), "EXECUTING")),
        ("a step to itself", made.clone() + &ours(2, "plan", "INIT".into(), "INIT")),
        ("another event", made.clone() + &ours(2, "halt", "INIT".into(), "PLANNING")),
        ("numbers that stand still", made.clone() + &ours(1, "plan", "INIT".into(), "PLANNING")),
        ("two times", made.replace("12:00:00Z", "12:00:07Z")),
        ("back in time", theirs("INIT", 5) + &theirs("PLANNING", 4)),
        ("in the future", theirs("INIT", 0).replace("2026", "2062")),
        ("no such day", theirs("INIT", 0).replace("01-31", "02-31")),
        ("no such state", begun.clone() + &theirs("FLYING", 2)),
        (
            "no such state, and a jump behind it",
            begun.clone() + &theirs("FLYING", 2) + &theirs("VERIFYING", 3) + &theirs("INIT", 4),
        ),
        ("goes to no state", begun.clone() + &format!("{}\n", json!({"run": RUN, "to": "FLYING"}))),
        ("a number for a state", format!("{}\n", json!({"run_id": RUN, "current_state": 5}))),
        ("no run id", theirs("INIT", 0).replace("RUN-PROJECT", "run")),
        ("a list for a run id", format!("{}\n", json!({"run_id": [], "current_state": "INIT"}))),
        ("garbage between", theirs("INIT", 0) + "garbage\n[1]\n\u{0}\u{1}\n" + &theirs("PLANNING", 1)),
        ("cut short", begun.clone() + &theirs("EXECUTING", 2)[..40]),
        ("deep", "{\"a\":".repeat(100_000) + "\n" + &begun),
    ];
    let mut said = String::new();
    for (name, log) in cases {
        let report = checked(&log);
        said.push_str(&format!("{name}: {} transitions\n", report.steps));
        report.faults.iter().for_each(|fault| said.push_str(&format!("  {fault}\n")));
        assert!(!report.faults.is_empty(), "{name}");
    }
    assert_told("hostile_logs_checked", &said);
}

/// Empty lines, a byte order mark, carriage returns, no line feed at the end: none of that is a fault.
#[test]
fn log_may_have_bom_crlf_and_empty_lines() {
    let log = "\u{feff}{\"state\":\"INIT\"}\r\n\r\n{\"state\":\"INIT\",\"tool\":\"build\"}\n{\"state\":\"PLANNING\"}";
    let report = checked(log);
    assert_eq!((report.lines, report.steps, report.faults), (4, 2, vec![]));
    assert_eq!(report.runs[0].run, None);
    let nothing = checked("");
    assert_eq!((nothing.lines, nothing.steps, nothing.runs), (0, 0, vec![]));
}

/// Document 001 asks for no line of the making: a run begins in INIT.
#[test]
fn log_may_begin_without_a_line_for_init() {
    for log in [
        json!({"run_id": RUN, "previous_state": "INIT", "current_state": "PLANNING"}),
        json!({"run_id": RUN, "state": "PLANNING"}),
    ] {
        let mut told = Vec::new();
        let log = format!("{log}\n");
        let report = check_log(log.as_bytes(), None, |step| told.push((step.from, step.to))).unwrap();
        let (init, planning) = (GovernedRunStatus::Init, GovernedRunStatus::Planning);
        assert_eq!((report.faults, report.steps), (vec![], 1));
        assert_eq!(told, [(None, init), (Some(init), planning)]);
    }
}

/// Several runs in one file, as in a ledger, each for itself.
#[test]
fn runs_of_one_log_are_checked_separately() {
    let line = |run: u32, state: &str| {
        format!("{}\n", json!({"run_id": format!("RUN-A-20260131-12000{run}"), "state": state}))
    };
    let log = line(1, "INIT") + &line(2, "INIT") + &line(2, "PLANNING") + &line(1, "EXECUTING");
    let report = checked(&log);
    assert_eq!((report.faults.len(), report.faults[0].line, report.runs.len()), (1, 4, 2));
}

#[test]
fn a_line_of_a_log_has_1_mib_and_no_more() {
    for (bytes, steps, faults) in [(1 << 20, 2, 0), ((1 << 20) + 1, 1, 1)] {
        let line = format!("{{\"state\":\"PLANNING\",\"x\":\"{}\"}}\n", "x".repeat(bytes - 27));
        let line = line.replacen("x\"}", &format!("{}\"}}", "x".repeat(bytes + 2 - line.len())), 1);
        assert_eq!(line.len(), bytes + 1);
        let report = checked(&("{\"state\":\"INIT\"}\n".to_owned() + &line));
        assert_eq!((report.steps, report.faults.len()), (steps, faults), "{bytes}: {:?}", report.faults);
    }
}

/// A line of 100 MB is passed over, and the next one is read; faults are listed up to a number.
#[test]
fn logs_of_any_size_are_checked_in_bounded_memory() {
    use std::io::{BufReader, Read};
    let long = std::io::repeat(b'x').take(100_000_000);
    let log = b"{\"state\":\"INIT\"}\n".chain(long).chain(&b"\n{\"state\":\"PLANNING\"}\n"[..]);
    let report = check_log(BufReader::new(log), None, |_| ()).unwrap();
    assert_eq!((report.lines, report.steps), (3, 2));
    assert_eq!(report.faults[0].to_string(), "line 2: it is longer than 1048576 bytes");
    let many = "garbage\n".repeat(5_000);
    assert_eq!((checked(&many).faults.len(), checked(&many).more_faults), (1_000, 4_000));
}

/// Of a file of another version each entry is judged, whatever states it names.
#[test]
fn a_state_that_there_is_not_hides_no_step_behind_it() {
    let states = ["INIT", "PLANNING", "REVIEWING", "EXECUTING", "COMPLETE", "FLYING"];
    let at = |second: usize| format!("2026-01-31T12:00:0{second}Z");
    let entry = |(i, state): (usize, &&str)| {
        let exited = (i + 1 < states.len()).then(|| at(i + 1));
        json!({"state": state, "entered_at": at(i), "exited_at": exited})
    };
    let file = json!({
        "run_id": RUN, "project_id": "project", "current_state": "FLYING", "previous_state": "COMPLETE",
        "state_history": states.iter().enumerate().map(entry).collect::<Vec<_>>(),
        "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
        "approvals_pending": [], "approvals_granted": [], "created_at": at(0), "updated_at": at(9),
    });
    let report = check_state(file.to_string().as_bytes(), None).unwrap();
    assert_eq!(report.status, None);
    insta::assert_snapshot!(report.faults.join("\n"), @r#"
    state_history, entry 3 ("REVIEWING"): there is no such state of a governed run
    state_history, entry 5 (COMPLETE): no legal transition: EXECUTING --> COMPLETE; from EXECUTING a run can go to AWAITING_APPROVAL, VERIFYING, HALTED_UNSAFE, ROLLED_BACK
    state_history, entry 6 ("FLYING"): there is no such state of a governed run
    current_state is "FLYING": there is no such state of a governed run
    "#);
}

/// Of another version a state may have any name.
#[test]
fn a_state_that_there_is_not_is_a_fault_however_it_is_written() {
    let faults = |line: Value| {
        let line = format!("{}\n{line}\n", json!({"run_id": RUN, "state": "INIT"}));
        let report = check_log(line.as_bytes(), None, |_| ()).unwrap();
        (report.faults.len(), report.unreadable)
    };
    for state in ["FLYING", "Flying", "REVIEW2", "AWAITING_REVIEW_2", "Awaiting-Review"] {
        assert_eq!(faults(json!({"run_id": RUN, "to": state})), (1, 0), "{state}");
        assert_eq!(faults(json!({"run_id": RUN, "state": state})), (1, 0), "{state}");
    }
    for state in
        ["überprüft", "完了", "ＣＯＭＰＬＥＴＥ", "СОМРLЕТЕ", " COMPLETE", "COMPLETE.", "rolled back"]
    {
        assert_eq!(faults(json!({"run_id": RUN, "state": state})), (1, 0), "{state}");
    }
    for line in [
        json!({"run_id": RUN, "to": "rolled back"}),
        json!({"run_id": RUN, "tool_id": null, "to": "done"}),
        json!({"run_id": RUN, "toolbox": "t", "callback": "c", "state": "done"}),
        json!({"run_id": RUN, "from": "planing", "to": "flying"}),
        json!({"run_id": RUN, "to": "complete"}),
        json!({"run_id": RUN, "state": "END"}),
        json!({"run_id": RUN, "from": "PLANNING", "to": null}),
        json!({"run_id": RUN, "previous_state": null, "state": null}),
        json!({"run_id": RUN, "current_state": null}),
        json!({"run_id": RUN, "tool": "build", "to": "FLYING"}),
        json!({"run_id": RUN, "call": "c", "from": "planning", "to": "flying"}),
        json!({"seq": 2, "run": RUN, "instance": RUN, "lifecycle": "governed_run", "event": "x", "from": "INIT", "to": null}),
        // It is no line of a log, and would be looked at by nothing.
        json!({"seq": 2, "run": RUN, "instance": "c", "lifecycle": "tool_call", "event": "x", "from": null, "to": "New"}),
    ] {
        let (found, unreadable) = faults(line.clone());
        assert!(found > 0 && unreadable == 0, "{line}");
    }
    // These are words of other things.
    for line in [
        json!({"run_id": RUN, "to": "ada@example.com"}),
        json!({"state": "done", "to": "ada"}),
        json!({"run_id": RUN, "state": null}),
        json!({"run_id": RUN, "tool": "build", "state": "Running"}),
        json!({"run_id": RUN, "call": "c", "to": "done"}),
        json!({"run_id": RUN, "lifecycle": "container", "state": "up"}),
    ] {
        assert_eq!(faults(line.clone()), (0, 0), "{line}");
    }
    assert_eq!(faults(json!(["no object"])), (1, 1));
    let twice = format!("{{\"run_id\":\"{RUN}\",\"state\":\"INIT\",\"state\":\"PLANNING\"}}\n");
    let report = check_log(twice.as_bytes(), None, |_| ()).unwrap();
    assert!(report.faults[0].to_string().contains("the field `state` stands twice"), "{:?}", report.faults);
}

/// A state and its log tell of the same steps, or the first that differs is named.
#[test]
fn log_that_differs_from_its_state_file_is_faulted() {
    let line = |state: &str| format!("{}\n", json!({"run_id": RUN, "state": state}));
    let state = |states: &[&str]| {
        let at = "2026-01-31T12:00:00Z";
        let entry = |(i, state): (usize, &&str)| json!({"state": state, "entered_at": at, "exited_at": (i + 1 < states.len()).then_some(at)});
        let file = json!({
            "run_id": RUN, "project_id": "PROJECT", "current_state": states.last(),
            "previous_state": states.len().checked_sub(2).map(|i| states[i]),
            "state_history": states.iter().enumerate().map(entry).collect::<Vec<_>>(),
            "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
            "approvals_pending": [], "approvals_granted": [], "created_at": at, "updated_at": at,
        });
        check_state(file.to_string().as_bytes(), None).unwrap()
    };
    let against = |states: &[&str], log: &[&str]| {
        let mut steps = Vec::new();
        let log: String = log.iter().map(|state| line(state)).collect();
        check_log(log.as_bytes(), None, |step| steps.push(step.clone())).unwrap();
        state(states).against_log(&steps)
    };
    assert_eq!(against(&["INIT", "PLANNING"], &["INIT", "PLANNING"]), None);
    assert_eq!(against(&["INIT", "PLANNING"], &["PLANNING"]), None);
    // A name that is no state is a fault of each file, and no difference.
    assert_eq!(against(&["INIT", "FLYING", "PLANNING"], &["INIT", "FLYING", "PLANNING"]), None);
    assert_eq!(state(&["INIT", "FLYING"]).state, "\"FLYING\"");
    let differences = [
        against(&["INIT", "PLANNING"], &["INIT", "HALTED_UNSAFE"]),
        against(&["INIT", "PLANNING"], &["INIT", "PLANNING", "EXECUTING"]),
        against(&["INIT", "PLANNING", "EXECUTING"], &["INIT", "PLANNING"]),
        against(&["INIT"], &[]),
    ];
    insta::assert_snapshot!(differences.map(Option::unwrap).join("\n"), @"
    entry 2 of state_history is PLANNING, line 2 of the log enters HALTED_UNSAFE
    state_history ends with PLANNING, line 3 of the log enters EXECUTING
    entry 3 of state_history is EXECUTING, the log has no transition after line 2
    the log has no transition of it
    ");
}
