//! Governed runs whose files are under a key.

use std::fs;

use serde_json::Value;

use super::{REVIEW, governed, json, plan, run_id};
use crate::session::{Said, Session};

const KEY: &str = "k1 abababababababababababababababababababababababababababababababab";

/// A plan of a tool that needs no approval and one that does; the command with the key.
fn session() -> Session {
    let session = Session::new();
    plan(&session, &[("build", "env > env.txt"), ("deploy", "echo done > deployed.txt")], REVIEW);
    session.write("keys", KEY);
    session
}

fn keyed(session: &Session, args: &[&str]) -> Said {
    governed(session, &[args, &["--key-file", "keys"]].concat())
}

/// The run, at its approval.
fn waiting(session: &Session) -> String {
    let said = keyed(session, &["run", "plan.yaml", "--json"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    run_id(&json(&said))
}

#[test]
fn a_run_goes_its_way_by_the_file_and_by_the_variable() {
    let session = session();
    let run = waiting(&session);
    let by_variable = |args: &[&str]| {
        let args = [&["governed"], args, &["--state-dir", "runs"]].concat();
        session.said(&args, &session.command(&args).env("RUNSTATE_KEY", KEY).output().unwrap())
    };
    let approved = by_variable(&["approve", &format!("{run}-A1"), "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    let ended = by_variable(&["recover", &run]);
    assert_eq!(ended.code, Some(0), "{}", ended.shown());
    let sound = keyed(&session, &["verify-ledger"]);
    assert_eq!(sound.code, Some(0), "{}", sound.shown());
    // The form is one that `check` reads.
    let state = format!("runs/{run}/RUN_STATE.json");
    let log = format!("runs/{run}/RUN_LOG.jsonl");
    assert_eq!(session.run(&["check", &state, &log, "--complete"]).code, Some(0));
}

#[test]
fn a_tool_does_not_get_the_key() {
    let session = session();
    let args = ["governed", "run", "plan.yaml", "--json", "--state-dir", "runs"];
    let said = session.command(&args).env("RUNSTATE_KEY", KEY).output().unwrap();
    let run = run_id(&json(&session.said(&args, &said)));
    let env = fs::read_to_string(session.path(&format!("runs/{run}/work/env.txt"))).unwrap();
    assert!(env.contains("PATH=") && !env.contains("abab"), "{env}");
}

#[test]
fn the_commands_that_are_shown_name_the_key_file() {
    let session = session();
    let said = keyed(&session, &["run", "plan.yaml"]);
    let approve = said.stdout.lines().find(|line| line.contains("governed approve")).unwrap();
    assert!(approve.contains("--state-dir runs --key-file keys"), "{}", said.shown());
}

#[test]
fn nothing_goes_without_the_key() {
    let session = session();
    let run = waiting(&session);
    let approval = format!("{run}-A1");
    for args in [
        &["status", &run] as &[&str],
        &["recover", &run],
        &["approve", &approval, "--by", "ada"],
        &["reject", &approval, "--by", "ada"],
        &["sweep"],
        &["run", "plan.yaml"],
    ] {
        let said = governed(&session, args);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(
            said.stderr.contains("under the key \"k1\"") && said.stderr.contains("--key-file"),
            "{}",
            said.shown()
        );
    }
    let ledger = governed(&session, &["verify-ledger"]);
    assert_eq!(ledger.code, Some(1), "{}", ledger.shown());
    assert!(ledger.stdout.contains("line 1: it is stored under the key \"k1\""), "{}", ledger.shown());
    assert_eq!(fs::read_dir(session.path("runs")).unwrap().count(), 2, "no run was begun");
}

/// A tool that runs by itself rewrites the plan beside its folder, so that the tool behind the gate would run unasked.
#[test]
fn a_plan_that_a_tool_rewrites_is_refused() {
    let session = session();
    plan(
        &session,
        &[
            ("build", "sed -i 's/done/stolen/; s/\"auto\": \\[/\"auto\": [\"deploy\",/' ../plan.yaml"),
            ("deploy", "echo done > deployed.txt"),
        ],
        REVIEW,
    );
    let run = waiting(&session);
    let path = session.path(&format!("runs/{run}/plan.yaml"));
    assert!(fs::read_to_string(&path).unwrap().contains("stolen"), "the tool could");
    for args in [&["recover", &run] as &[&str], &["approve", &format!("{run}-A1"), "--by", "ada"]] {
        let said = keyed(&session, args);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.stderr.contains("plan.yaml: its tag does not fit"), "{}", said.shown());
    }
    // Without the comment it is any plan, and with that of another run it is that run's.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_once('\n').unwrap().1).unwrap();
    let said = keyed(&session, &["recover", &run]);
    assert!(said.stderr.contains("plan.yaml: it has no tag"), "{}", said.shown());
    let work = session.path(&format!("runs/{run}/work"));
    assert!(!work.join("deployed.txt").exists());
}

#[test]
fn a_state_that_was_edited_is_refused() {
    let session = session();
    let run = waiting(&session);
    let path = session.path(&format!("runs/{run}/RUN_STATE.json"));
    let mut state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    state["runstate"]["notes"]["plan"]["approved_by"] = "mallory".into();
    fs::write(&path, state.to_string()).unwrap();
    let said = keyed(&session, &["recover", &run]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(
        said.stderr
            .contains("RUN_STATE.json is not as it should be, and nothing was written: its tag does not fit"),
        "{}",
        said.shown()
    );
}

#[test]
fn a_key_file_in_the_folder_of_the_tools_is_refused() {
    let session = session();
    session.write("site/keys", KEY);
    let said = governed(&session, &["run", "plan.yaml", "--key-file", "site/keys"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("is in the working folder of tools"), "{}", said.shown());
    assert!(!session.path("runs").join("command-center").exists(), "no run was begun");
}
