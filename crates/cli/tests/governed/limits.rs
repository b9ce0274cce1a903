//! Time limits.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, now, plan, run_id, until, within_a_limit};
use crate::session::Session;

/// A run that is past its limit goes where its timeout leads, by a sweep or by whoever looks.
#[test]
fn a_sweep_halts_what_is_past_its_limit() {
    within_a_limit(|limit| {
        let session = Session::new();
        let limits = format!("limits_seconds: {{AWAITING_APPROVAL: {}}}", limit.as_secs());
        plan(&session, &[("deploy", "true")], &format!("{limits}\n{REVIEW}"));
        // Says of a run what it says while it is not over.
        let begun = || {
            let began = now();
            let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
            (began.elapsed() < limit).then_some(waiting)
        };
        let Some(waiting) = begun() else { return false };
        let run = run_id(&waiting);
        std::thread::sleep(limit + Duration::from_millis(100));
        let approval = waiting["waits"]["approval"].as_str().unwrap();
        let late = governed(&session, &["approve", approval, "--by", "ada"]);
        assert_eq!(late.code, Some(2));
        assert!(late.stderr.contains("expired at"), "{}", late.shown());
        let swept = governed(&session, &["sweep"]);
        assert_eq!((swept.code, swept.stdout.as_str()), (Some(0), ""), "the late answer saw to it");

        let Some(waiting) = begun() else { return false };
        std::thread::sleep(limit + Duration::from_millis(100));
        let swept = governed(&session, &["sweep"]);
        assert_eq!(swept.stdout, format!("{}: HALTED_UNSAFE\n", run_id(&waiting)));
        let status = governed(&session, &["status", "--json"]);
        let states: Vec<Value> =
            json(&status).as_array().unwrap().iter().map(|run| run["state"].clone()).collect();
        assert_eq!(states, ["HALTED_UNSAFE", "HALTED_UNSAFE"]);
        assert_in_order(&session, &run);
        true
    });
}

/// A run that a stopped process holds is past its limit, and stays: the sweep names it.
#[test]
fn a_sweep_names_an_expired_run_that_another_process_holds() {
    within_a_limit(|limit| {
        let session = Session::new();
        let limits = format!("limits_seconds: {{EXECUTING: {}}}", limit.as_secs());
        plan(&session, &[("build", "echo > ../begun; sleep 600")], &format!("{limits}\n{REVIEW}"));
        let args = ["governed", "run", "plan.yaml", "--state-dir", STATE_DIR];
        let mut child = session.command(&args).stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
        let with = |name: &str| {
            let runs = fs::read_dir(session.path(STATE_DIR)).into_iter().flatten().flatten();
            runs.map(|run| run.path()).find(|run| run.join(name).exists())
        };
        until("the tool did not begin", || with("begun").or_else(|| with("FINAL_REPORT.md")).is_some());
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(process, Signal::STOP).unwrap();
        let is_in_time = with("FINAL_REPORT.md").is_none();
        if is_in_time {
            let run = with("begun").unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            std::thread::sleep(limit + Duration::from_millis(100));
            let swept = governed(&session, &["sweep"]);
            let told =
                format!("{run}: expired, and another process holds it: end that process, and sweep again\n");
            assert_eq!((swept.code, &swept.stdout), (Some(0), &told), "{}", swept.shown());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        is_in_time
    });
}

/// Killed before it had a plan, a run can do nothing but expire.
#[test]
fn a_run_without_a_plan_expires() {
    let session = Session::new();
    let run = "RUN-A-20260131-120000";
    fs::create_dir_all(session.path(&format!("{STATE_DIR}/{run}"))).unwrap();
    let file = |state: &str, previous: &str| {
        let left = if previous == "null" {
            String::new()
        } else {
            format!(
                "{{\"state\": {previous}, \"entered_at\": \"2026-01-31T12:00:00Z\", \
                 \"exited_at\": \"2026-01-31T12:00:00Z\"}}, "
            )
        };
        format!(
            "{{\"run_id\": \"{run}\", \"project_id\": \"A\", \"current_state\": \"{state}\", \
             \"previous_state\": {previous}, \"state_history\": [{left}{{\"state\": \"{state}\", \
             \"entered_at\": \"2026-01-31T12:00:00Z\", \"exited_at\": null}}], \"tools_planned\": [], \
             \"tools_completed\": [], \"tools_remaining\": [], \"current_tool\": null, \
             \"approvals_pending\": [], \"approvals_granted\": [], \
             \"created_at\": \"2026-01-31T12:00:00Z\", \"updated_at\": \"2026-01-31T12:00:00Z\"}}"
        )
    };
    let state = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    session.write(&state, file("PLANNING", "\"INIT\""));
    for written in [file("PLANNING", "\"INIT\""), file("INIT", "null")] {
        session.write(&state, written);
        let said = governed(&session, &["sweep"]);
        assert!(said.stderr.contains("plan.yaml: No such file"), "{}", said.shown());
        assert_eq!((said.code, said.stdout), (Some(0), format!("{run}: HALTED_UNSAFE\n")));
        assert!(session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
    }
}
