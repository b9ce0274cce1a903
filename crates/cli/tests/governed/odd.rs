//! Files that are missing, or are no files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, plan, run_id};
use crate::session::Session;

#[test]
fn a_folder_of_runs_that_is_not_there_is_named() {
    let session = Session::new();
    for args in [&["status"][..], &["status", "--json"], &["approvals"], &["sweep"]] {
        let said = governed(&session, args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
        assert!(said.stderr.contains("cannot read the folder of runs runs:"), "{}", said.shown());
    }
    fs::create_dir(session.path(STATE_DIR)).unwrap();
    assert_eq!(governed(&session, &["status"]).code, Some(0), "it has no runs");
}

/// A pipe or a folder in the place of a log or of the ledger is set aside.
#[test]
fn pipe_or_folder_in_place_of_a_log_stops_no_run() {
    for (what, args) in [("folder", ["mkdir"]), ("pipe", ["mkfifo"])] {
        let session = Session::new();
        plan(&session, &[("build", "true"), ("deploy", "true")], REVIEW);
        let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
        let paths = [
            format!("{STATE_DIR}/{run}/RUN_LOG.jsonl"),
            format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl"),
        ];
        for path in &paths {
            fs::remove_file(session.path(path)).unwrap();
            assert!(Command::new(args[0]).arg(session.path(path)).status().unwrap().success());
        }
        let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
        assert_eq!(approved.code, Some(0), "{what}: {}", approved.shown());
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{what}: {}", done.shown());
        for path in &paths {
            assert!(session.path(&format!("{path}.damaged-1")).exists(), "{what}: {path}");
        }
        assert_in_order(&session, &run);
    }
}

/// A run that waits, with reports that were moved out of its state, and the file of those.
fn waiting_with_reports(session: &Session) -> (String, PathBuf) {
    let names: Vec<String> = (0..110).map(|number| format!("t{number}")).collect();
    let mut tools: Vec<_> = names.iter().map(|name| (name.as_str(), "true")).collect();
    tools.push(("deploy", "true"));
    plan(session, &tools, REVIEW);
    let gates = format!("gates: {{auto: [{}]}}", names.join(", "));
    let text = session.read("plan.yaml").replace("gates: {auto: []}", &gates);
    session.write("plan.yaml", text);
    let run = run_id(&json(&governed(session, &["run", "plan.yaml", "--json"])));
    let reports = session.path(&format!("{STATE_DIR}/{run}/RUN_REPORTS.jsonl"));
    (run, reports)
}

/// So it is with the reports that were moved out of the state: they are lost, and the run ends.
#[test]
fn reports_that_are_no_file_stop_no_run() {
    for program in ["mkdir", "mkfifo"] {
        let session = Session::new();
        let (run, reports) = waiting_with_reports(&session);
        fs::remove_file(&reports).unwrap();
        assert!(Command::new(program).arg(&reports).status().unwrap().success());
        let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
        assert_eq!(approved.code, Some(0), "{program}: {}", approved.shown());
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{program}: {}", done.shown());
    }
}

/// Reports that are fewer than the state says are set aside, by a message of their own.
#[test]
fn reports_that_are_cut_are_set_aside() {
    let session = Session::new();
    let (run, reports) = waiting_with_reports(&session);
    let text = fs::read(&reports).unwrap();
    fs::write(&reports, &text[..text.len() / 2]).unwrap();
    let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    let told = "RUN_REPORTS.jsonl is not the file that the run wrote: it is kept as ";
    assert!(approved.stderr.contains(told), "{}", approved.shown());
    assert!(approved.stderr.contains("the run has lost its reports of tools"), "{}", approved.shown());
    assert_eq!(fs::read(reports.with_extension("jsonl.damaged-1")).unwrap(), text[..text.len() / 2]);
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["status"], "COMPLETE", "{}", done.shown());
    let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
    assert!(report.contains(&format!("has {} bytes of {}: ", text.len() / 2, text.len())), "{report}");
}

/// A command that finds no lock does not get the run.
#[test]
fn a_lock_that_was_removed_still_holds() {
    let session = Session::new();
    plan(&session, &[("build", "rm ../lock ../../command-center/lock; touch ../removed; sleep 600")], REVIEW);
    let mut command = session.command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR]);
    let mut child = command.stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
    let run = || {
        let mut runs = fs::read_dir(session.path(STATE_DIR)).ok()?.flatten();
        let run = runs.find(|entry| entry.path().join("removed").exists())?;
        run.file_name().into_string().ok()
    };
    super::until("the tool never started", || run().is_some());
    let busy = governed(&session, &["recover", &run().unwrap()]);
    assert_eq!(busy.code, Some(2), "{}", busy.shown());
    assert!(busy.stderr.contains("another process holds run"), "{}", busy.shown());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn ended_run_is_listed_without_its_plan() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    fs::remove_file(session.path(&format!("{STATE_DIR}/{run}/plan.yaml"))).unwrap();
    for (args, expected) in
        [(["approvals"], "no action waits for an approval\n"), (["sweep"], ""), (["status"], run.as_str())]
    {
        let said = governed(&session, &args);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert!(said.stdout.starts_with(expected), "{}", said.shown());
    }
}

/// A question of another tool's run that left no record: no command could answer it.
#[test]
fn a_question_without_a_record_shows_no_command() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let run = run_id(&waiting);
    let path = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    let mut state: serde_json::Value = serde_json::from_str(&session.read(&path)).unwrap();
    state.as_object_mut().unwrap().remove("runstate");
    session.write(&path, state.to_string());
    let said = governed(&session, &["approvals"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.contains("has no record and cannot be answered"), "{}", said.shown());
    assert!(!said.stdout.contains("--digest"), "{}", said.shown());
}

/// Each ledger that was set aside is verified, however many there are.
#[test]
fn every_ledger_that_was_set_aside_is_verified() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let ledger = format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl");
    for _ in 0..3 {
        assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
        let text = session.read(&ledger);
        session.write(&ledger, text + "garbage\n");
    }
    assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
    let bad = |number: u32| format!("{ledger}.damaged-{number}");
    for number in [3, 2] {
        let verified = governed(&session, &["verify-ledger"]);
        assert_eq!(verified.code, Some(1), "{}", verified.shown());
        assert!(verified.stdout.contains(&format!("damaged-{number}: line ")), "{}", verified.shown());
        let text = session.read(&bad(number));
        session.write(&bad(number), text.trim_end().strip_suffix("garbage").unwrap());
    }
    let verified = governed(&session, &["verify-ledger"]);
    assert!(verified.stdout.contains("damaged-1: line "), "{}", verified.shown());
}

#[test]
fn progress_is_told_where_it_is_asked_for() {
    let session = Session::new();
    plan(&session, &[("build", "true"), ("wait", "exit 3")], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--progress"]);
    for line in [
        "build (1 of 2, try 1): runs",
        "build (1 of 2, try 1): passed, after ",
        "wait (2 of 2, try 3): failed",
    ] {
        assert!(said.stderr.contains(line), "{line}: {}", said.shown());
    }
    let said = governed(&session, &["run", "plan.yaml"]);
    assert!(!said.stderr.contains("build (1 of 2"), "{}", said.shown());
}
