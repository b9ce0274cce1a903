//! Tools that put holes, links, second names and closed files into the place of the files of their run.

use std::fs;
use std::process::Command;

use super::{REVIEW, STATE_DIR, assert_in_order, files, governed, json, plan, run_id};
use crate::session::Session;

/// The run of one tool, which spoils something, and of one that a person approves behind it. Returns the run and all that was said.
fn complete(session: &Session, spoil: &str) -> (String, String) {
    plan(session, &[("build", spoil), ("deploy", "true")], REVIEW);
    let waiting = governed(session, &["run", "plan.yaml", "--json"]);
    assert_eq!(waiting.code, Some(3), "{spoil}: {}", waiting.shown());
    let run = run_id(&json(&waiting));
    let approved = governed(session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{spoil}: {}", approved.shown());
    let done = governed(session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["status"], "COMPLETE", "{spoil}: {}", done.shown());
    let said = [&waiting, &approved, &done].map(|said| said.stderr.clone()).concat();
    (run, said)
}

/// A hole of half a terabyte is not read: the ledger is set aside, and the next run has the new one.
#[test]
fn a_ledger_with_a_hole_is_set_aside() {
    let session = Session::new();
    let (run, said) = complete(&session, "truncate -s 500G ../../command-center/RUN_LEDGER.jsonl");
    assert!(said.contains("RUN_LEDGER.jsonl has more than 1 GiB: it is kept as "), "{said}");
    assert!(session.path(&format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl.damaged-1")).exists());
    let log = session.read(&format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl"));
    assert!(log.contains("RUN_LEDGER.jsonl.damaged-1") && log.contains("COMPLETE"), "{log}");
    let again = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&again)["repairs"]["ledger_lines"], 0, "{}", again.shown());
}

/// Links and second names are set aside, and nothing is written through them.
#[test]
fn links_in_the_state_folder_are_not_followed() {
    for spoil in [
        "rm ../RUN_LOG.jsonl; ln -s $OUT/o ../RUN_LOG.jsonl",
        "rm ../RUN_LOG.jsonl; ln $OUT/o ../RUN_LOG.jsonl",
        "cd ../../command-center; rm RUN_LEDGER.jsonl lock; ln -s $OUT/ledger RUN_LEDGER.jsonl; ln -s $OUT/lock lock",
        "cd ../../command-center; rm RUN_LEDGER.jsonl; ln $OUT/o RUN_LEDGER.jsonl",
        "rm -r ../../command-center; ln -s $OUT ../../command-center",
        "cd ../../command-center; rmdir PENDING APPROVED; ln -s $OUT PENDING; ln -s $OUT APPROVED",
        "ln ../RUN_STATE.json $OUT/state; ln -s $OUT/o ../RUN_STATE.json.new; echo o > $OUT/state",
    ] {
        let session = Session::new();
        session.write("out/o", "o\n");
        let out = session.path("out");
        let (run, said) = complete(&session, &spoil.replace("$OUT", &out.to_string_lossy()));
        let mut left = files(&session, "out");
        left.retain(|(name, _)| name != "state");
        assert_eq!(left, [("o".to_owned(), "o\n".to_owned())], "{spoil}: {said}");
        assert!(said.contains("it is kept as ") || spoil.contains("RUN_STATE"), "{spoil}: {said}");
        // The other file is no ledger.
        if !spoil.contains("ln $OUT/o RUN_LEDGER") {
            assert_in_order(&session, &run);
        }
    }
}

/// Nothing is written through a link in the place of the folder of a run.
#[test]
fn a_link_in_the_place_of_the_folder_of_a_run_is_not_followed() {
    let session = Session::new();
    session.write("out/o", "o\n");
    let spoil = format!(
        "cd ../..; mv $RUNSTATE_RUN moved; ln -s {} $RUNSTATE_RUN",
        session.path("out").to_string_lossy()
    );
    plan(&session, &[("build", &spoil)], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains(": expected a folder, got another kind"), "{}", said.shown());
    assert_eq!(files(&session, "out"), [("o".to_owned(), "o\n".to_owned())]);
}

/// A file that a tool closed to the user is opened in hand, and by the next command.
#[test]
fn files_that_a_tool_closed_are_opened_again() {
    for spoil in [
        "chmod 000 ../RUN_LOG.jsonl",
        "chmod 000 ../lock ../RUN_STATE.json",
        "cd ../../command-center; chmod 000 RUN_LEDGER.jsonl lock",
        "cd ../../command-center; chmod 000 PENDING APPROVED REJECTED",
        "rm ../RUN_LOG.jsonl; chmod 500 ..",
    ] {
        let session = Session::new();
        let (run, said) = complete(&session, spoil);
        let is_root = rustix::process::geteuid().is_root();
        assert!(
            is_root || said.contains("with which this command cannot use it: the mode is 0"),
            "{spoil}: {said}"
        );
        assert_in_order(&session, &run);
    }
}

/// A folder or a pipe in the place of the log is set aside while the run is driven.
#[test]
fn pipe_or_folder_in_place_of_an_open_log_is_set_aside() {
    for spoil in ["mkfifo ../RUN_LOG.jsonl", "mkdir ../RUN_LOG.jsonl"] {
        let session = Session::new();
        let (run, said) = complete(&session, &format!("rm ../RUN_LOG.jsonl; {spoil}"));
        assert_eq!(said.matches("RUN_LOG.jsonl is no file: it is kept as ").count(), 1, "{spoil}: {said}");
        let kept = session.path(&format!("{STATE_DIR}/{run}/RUN_LOG.jsonl.damaged-1"));
        assert!(fs::symlink_metadata(kept).is_ok(), "{spoil}");
        assert_in_order(&session, &run);
    }
}

/// The output of an earlier call is not taken for that of the next one.
#[test]
fn an_output_that_cannot_be_removed_fails_the_next_call() {
    if std::env::var_os("RUNSTATE_REQUIRE_MOUNTS").is_none() {
        return;
    }
    let session = Session::new();
    let pass = r#"echo '{"status": "pass", "evidence": ["x"]}' > $RUNSTATE_OUTPUT"#;
    let stays = format!("{pass}; mount --bind $RUNSTATE_OUTPUT $RUNSTATE_OUTPUT");
    plan(&session, &[("build", &stays), ("wait", r#"echo '{"status": "fail", "error": "no"}'"#)], REVIEW);
    let text = session.read("plan.yaml").replace("- {name:", "- {output: json, name:");
    session.write("plan.yaml", text);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&said));
    let output = session.path(&format!("{STATE_DIR}/{run}/output.json"));
    assert!(Command::new("umount").arg(output).status().unwrap().success(), "{}", said.shown());
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
    let why = json(&said)["why"].to_string();
    assert!(why.contains("output.json has an earlier output, which cannot be removed"), "{why}");
}

/// The message on an output that is no JSON says which output that was.
#[test]
fn an_output_that_is_no_json_is_named() {
    for (script, place) in [("echo x", "standard output"), ("echo x > $RUNSTATE_OUTPUT", "output.json")] {
        let session = Session::new();
        plan(&session, &[("build", script)], REVIEW);
        session.write("plan.yaml", session.read("plan.yaml").replace("- {name:", "- {output: json, name:"));
        let said = json(&governed(&session, &["run", "plan.yaml", "--json"]));
        let why = said["why"].to_string();
        assert!(why.contains(&format!("{place} is not the JSON of a tool's output")), "{why}");
    }
}
