//! Stored plans that a tool changed so that no governor takes them: their runs end by a command, and at their limit.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, plan, run_id, until, within_a_limit};
use crate::session::{Said, Session};

type Change = fn(&mut Value);

/// The changes of a stored plan, with a part of the message on each.
const CHANGES: [(&str, Change); 6] = [
    ("\"quality\" is listed twice", |plan| twice(plan, "audit")),
    ("two tools have the name \"deploy\"", |plan| twice(plan, "tools")),
    ("a reviewer needs a name", |plan| plan["audit"][0]["reviewer"] = " ".into()),
    ("`verify` is empty", |plan| plan["verify"] = Value::Array(Vec::new())),
    ("limits_seconds", |plan| plan["limits_seconds"]["COMPLETE"] = 5.into()),
    ("unknown field `tolls`", |plan| plan["tolls"] = 1.into()),
];

fn twice(plan: &mut Value, field: &str) {
    let list = plan[field].as_array_mut().unwrap();
    list.push(list[0].clone());
}

/// Begins a run that waits for an approval, or one whose command was killed during a tool. `None` if its limit came first.
fn begun(session: &Session, is_killed: bool) -> Option<String> {
    if !is_killed {
        let said = governed(session, &["run", "plan.yaml", "--json"]);
        return (said.code == Some(3)).then(|| run_id(&json(&said)));
    }
    let before = runs(session);
    let args = ["governed", "run", "plan.yaml", "--state-dir", STATE_DIR];
    let mut child = session.command(&args).stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
    let of = |name: &str| {
        let new = runs(session).into_iter().find(|run| !before.contains(run))?;
        session.path(&format!("{STATE_DIR}/{new}/{name}")).exists().then_some(new)
    };
    until("the tool did not begin", || of("begun").or_else(|| of("FINAL_REPORT.md")).is_some());
    let is_over = of("FINAL_REPORT.md").is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    of("begun").filter(|_| !is_over)
}

fn runs(session: &Session) -> Vec<String> {
    let entries = fs::read_dir(session.path(STATE_DIR)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("RUN-")).collect()
}

fn change(session: &Session, run: &str, by: Change) {
    let path = format!("{STATE_DIR}/{run}/plan.yaml");
    let mut plan = serde_json::from_str(&session.read(&path)).unwrap();
    by(&mut plan);
    session.write(&path, plan.to_string());
}

/// A session with a plan for such runs. The gate holds the tool of a run that waits.
fn planned(is_killed: bool, limits: &str) -> Session {
    let session = Session::new();
    let (name, script) =
        if is_killed { ("build", "echo > ../begun; exec sleep 600") } else { ("deploy", "touch ../done") };
    plan(
        &session,
        &[(name, script), ("deploy", "touch ../done")][..1 + usize::from(is_killed)],
        &format!("{limits}{REVIEW}"),
    );
    session
}

fn assert_halted(said: &Said, run: &str) {
    let is_halted = said.code == Some(0) && said.stdout.starts_with(&format!("{run} is HALTED_UNSAFE\n"));
    assert!(is_halted, "{}", said.shown());
}

#[test]
fn a_run_whose_stored_plan_no_governor_takes_is_halted_by_a_command() {
    for is_killed in [false, true] {
        let session = planned(is_killed, "");
        for (message, by) in CHANGES {
            let run = begun(&session, is_killed).expect("it has hours");
            change(&session, &run, by);
            let refused = governed(&session, &["recover", &run]);
            // The tool that is doubled is the first one.
            let message = if is_killed { message.replace("deploy", "build") } else { message.to_owned() };
            let is_refused = refused.code == Some(2) && refused.stderr.contains("or halt the run");
            assert!(is_refused && refused.stderr.contains(&message), "{}", refused.shown());
            let readable = governed(&session, &["halt", &run, "--by", "ada", "--unreadable"]);
            assert!(readable.stderr.contains("halt it instead"), "{}", readable.shown());
            assert_halted(&governed(&session, &["halt", &run, "--by", "ada"]), &run);
            assert!(!session.path(&format!("{STATE_DIR}/{run}/done")).exists());
            assert_in_order(&session, &run);
        }
        // The state is damaged too.
        let run = begun(&session, is_killed).expect("it has hours");
        change(&session, &run, CHANGES[0].1);
        session.write(&format!("{STATE_DIR}/{run}/RUN_STATE.json"), "{");
        let ended = governed(&session, &["halt", &run, "--by", "ada", "--unreadable"]);
        assert!(ended.code == Some(0) && ended.stdout.contains("is over"), "{}", ended.shown());
    }
}

#[test]
fn a_run_whose_stored_plan_no_governor_takes_ends_at_its_limit() {
    for is_killed in [false, true] {
        within_a_limit(|limit| {
            let s = limit.as_secs();
            let session =
                planned(is_killed, &format!("limits_seconds: {{AWAITING_APPROVAL: {s}, EXECUTING: {s}}}\n"));
            let mut begun_runs = Vec::new();
            for (_, by) in CHANGES {
                let Some(run) = begun(&session, is_killed) else { return false };
                change(&session, &run, by);
                begun_runs.push(run);
            }
            std::thread::sleep(limit + Duration::from_millis(100));
            let swept = governed(&session, &["sweep"]);
            assert_eq!(swept.code, Some(0), "{}", swept.shown());
            for run in &begun_runs {
                assert!(swept.stdout.contains(&format!("{run}: HALTED_UNSAFE\n")), "{}", swept.shown());
                assert_in_order(&session, run);
            }
            true
        });
    }
}
