//! Runs whose processes are killed, wherever they are.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, files, governed, json, now, plan, run_id};
use crate::session::Session;

/// Killed again and again at whatever moment, approved from outside, recovered: it ends, in order, and no tool ran that was
/// not approved.
#[test]
fn a_run_that_is_killed_again_and_again_ends_in_order() {
    let session = Session::new();
    let script = "echo done >> index.html";
    plan(&session, &[("build", script), ("deploy", script), ("wait", script)], REVIEW);
    let text =
        session.read("plan.yaml").replace("]}\n  - {name: deploy", "], read_only: true}\n  - {name: deploy");
    session.write("plan.yaml", text);
    let rounds = std::env::var("GOVERNED_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3);
    let (mut killed, mut ends) = (0, std::collections::BTreeMap::<String, usize>::new());
    for round in 0..rounds {
        let mut run: Option<String> = None;
        // Each attempt lives a little longer than the one before, from nothing at all on, and the last ones as long as they
        // need on a slow machine.
        for attempt in 0..200_u64 {
            let args = match &run {
                None => vec!["governed", "run", "plan.yaml", "--state-dir", STATE_DIR],
                Some(run) => vec!["governed", "recover", run, "--state-dir", STATE_DIR],
            };
            let mut command = session.command(&args);
            command.stdout(session.kept()).stderr(session.kept());
            let mut child = command.spawn().unwrap();
            let life = Duration::from_micros(1_000 + 900 * attempt + 130 * round);
            let until = now() + if attempt < 190 { life } else { Duration::from_secs(60) };
            let code = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status.code();
                }
                if now() >= until {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    killed += 1;
                    break None;
                }
                std::thread::sleep(Duration::from_micros(100));
            };
            if run.is_none() {
                let begun = fs::read_dir(session.path(STATE_DIR)).ok().into_iter().flatten().flatten();
                let mut begun: Vec<String> = begun
                    .filter(|entry| {
                        entry.path().join("RUN_STATE.json").exists()
                            && entry.path().join("plan.yaml").exists()
                    })
                    .map(|entry| entry.file_name().into_string().unwrap())
                    .collect();
                begun.sort();
                run = begun
                    .into_iter()
                    .find(|run| !session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
            }
            let Some(run) = &run else { continue };
            if code == Some(3) {
                let approval = format!("{run}-A1");
                let mut child = session
                    .command(&["governed", "approve", &approval, "--by", "ada", "--state-dir", STATE_DIR])
                    .spawn()
                    .unwrap();
                std::thread::sleep(Duration::from_micros(500 * attempt));
                drop(child.kill());
                child.wait().unwrap();
            }
            if matches!(code, Some(0 | 1)) {
                break;
            }
        }
        let run = run.expect("a run was begun");
        let state: Value =
            serde_json::from_str(&session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"))).unwrap();
        let end = state["current_state"].as_str().unwrap().to_owned();
        // Killed while a tool that is not read-only was called, the run is in doubt.
        assert!(end == "COMPLETE" || end == "HALTED_UNSAFE", "{end}");
        let approved = state["approvals_granted"].as_array().unwrap().len();
        let deployed = state["runstate"]["notes"]["tools"].as_array().unwrap().iter();
        let deployed = deployed.filter(|report| report["tool"] == "deploy").count();
        assert!(deployed <= approved, "{state:#}");
        assert_in_order(&session, &run);
        *ends.entry(end).or_default() += 1;
    }
    println!("{killed} kills, {ends:?}");
    assert!(killed >= 10, "{killed} kills");
}

/// Killed while it begins, from its first write on: a folder without a state is no run and holds nothing, and each state ends by a command.
#[test]
fn a_run_that_is_killed_while_it_begins_ends_by_a_command() {
    let session = Session::new();
    plan(&session, &[("build", "true")], &format!("in_place: true\n{REVIEW}"));
    let runs = || -> Vec<String> {
        let entries = fs::read_dir(session.path(STATE_DIR)).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.starts_with("RUN-"))
            .collect()
    };
    let (mut seen, mut without_state, mut begun) = (0, 0, 0);
    for attempt in 0..150_u64 {
        let args = ["governed", "run", "plan.yaml", "--state-dir", STATE_DIR];
        let mut command = session.command(&args);
        let mut child = command.stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
        // Each second life is measured from the folder of the run on.
        let before = runs().len();
        while attempt % 2 == 1 && runs().len() == before && child.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_micros(if attempt % 2 == 1 {
            40 * attempt
        } else {
            300 * attempt
        }));
        drop(child.kill());
        child.wait().unwrap();
        for run in runs() {
            let file = |name: &str| session.path(&format!("{STATE_DIR}/{run}/{name}")).exists();
            if file("FINAL_REPORT.md") {
                continue;
            }
            seen += 1;
            if file("RUN_STATE.json") {
                begun += 1;
                assert!(file("plan.yaml"), "a state has a plan");
                let done = governed(&session, &["recover", &run, "--json"]);
                let status = json(&done)["status"].as_str().unwrap_or_default().to_owned();
                assert!(["COMPLETE", "HALTED_UNSAFE"].contains(&&*status), "{attempt}: {}", done.shown());
                assert_in_order(&session, &run);
            } else {
                without_state += 1;
                let swept = governed(&session, &["sweep"]);
                assert_eq!(swept.code, Some(0), "{attempt}: {}", swept.shown());
                assert!(
                    !session.path(&format!("{STATE_DIR}/{run}")).exists(),
                    "{attempt}: {}",
                    swept.shown()
                );
            }
        }
    }
    println!("{seen} cut short: {without_state} without a state, {begun} begun");
    assert!(without_state > 0 && begun > 0, "{without_state} without a state, {begun} begun");
    // What was left behind holds no folder.
    assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
}

/// Killed again and again while it rolls back: it goes on where it was, and the folder is as it was before the run.
#[test]
fn a_rollback_that_is_killed_again_and_again_is_finished() {
    let session = Session::new();
    let build = "for i in $(seq 250); do echo new > file$i; done; rm keep.txt; mkdir made; echo x > made/x";
    plan(&session, &[("build", build), ("deploy", "false")], &format!("in_place: true\n{REVIEW}"));
    for i in 1..=250 {
        session.write(&format!("site/file{i}"), format!("old {i}\n"));
    }
    let before = files(&session, "site");
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let (run, id) = (run_id(&waiting), waiting["waits"]["approval"].as_str().unwrap().to_owned());
    let state = || -> Value {
        serde_json::from_str(&session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"))).unwrap()
    };
    let is_rolling_back = || state()["runstate"]["notes"]["standing"]["at"] == "rolling_back";
    let mut cut_short = 0;
    for attempt in 0..400_u64 {
        let args = match is_rolling_back() {
            false => vec!["governed", "reject", &id, "--by", "ada", "--state-dir", STATE_DIR],
            true => vec!["governed", "recover", &run, "--state-dir", STATE_DIR],
        };
        let mut command = session.command(&args);
        let mut child = command.stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
        if attempt < 390 {
            std::thread::sleep(Duration::from_micros(1_000 + 500 * attempt));
            drop(child.kill());
        }
        child.wait().unwrap();
        if state()["current_state"] == "ROLLED_BACK" {
            break;
        }
        cut_short += u32::from(is_rolling_back());
    }
    assert_eq!(state()["current_state"], "ROLLED_BACK");
    assert!(cut_short > 0, "it was never killed on the way");
    assert_eq!(state()["runstate"]["state"]["rollback"]["rollback"], "complete");
    // What a kill kept from being written is mended once, whoever comes next.
    governed(&session, &["recover", &run]);
    assert_eq!(files(&session, "site"), before);
    assert_in_order(&session, &run);
}
