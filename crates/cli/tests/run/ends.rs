//! How a run ends, and a process before it.

use std::io::{Read, Write};
use std::process::Stdio;
#[cfg(unix)]
use std::process::{ChildStderr, ChildStdin};

use serde_json::Value;

use super::UNDECIDED;
#[cfg(unix)]
use crate::place::Ended;
#[cfg(unix)]
use crate::program::Scanned;
use crate::session::{Session, assert_harmless};
use crate::stores;

/// Reads what the process says until it asks.
fn read_until(from: &mut impl Read, end: &str) -> String {
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(end.as_bytes()) {
        assert_eq!(from.read(&mut byte).unwrap(), 1, "ended with {:?}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    let said = String::from_utf8(said).unwrap();
    assert_harmless("run --ask", &said);
    said
}

#[test]
fn a_run_that_was_killed_while_a_call_is_suspended_goes_on() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    let mut child = session
        .command(&["run", "s.yaml", "--state-dir", "runs", "--ask", "--lease", "5s"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let asked = read_until(&mut stderr, "leave the call waiting: ");
    assert!(asked.contains("rm_a waits: delete_file"), "{asked}");

    // Another process cannot drive the run meanwhile.
    let meanwhile = session.run(&["resume", "undecided-1", "--state-dir", "runs", "--approve", "rm_a"]);
    assert_eq!(meanwhile.code, Some(2));
    assert!(
        meanwhile.stderr.contains("another process drives the run \"undecided-1\": "),
        "{}",
        meanwhile.stderr
    );

    child.kill().unwrap();
    child.wait().unwrap();
    let resumed =
        session.run(&["resume", "undecided-1", "--state-dir", "runs", "--approve", "rm_a", "--deny", "rm_b"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.shown());
    session.assert_complete("undecided-1", &["--state-dir", "runs"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_run_and_its_end_is_committed() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: endless
message: go
tools: {slow: {does: [{takes_ms: 3600000, progress: [{at_ms: 1, value: 1}]}]}}
model:
  - calls: [{id: a, tool: slow}]
  - text: done
",
    );
    let args = ["run", "s.yaml", "--state-dir", "runs", "--real-time"];
    let mut child = session.command(&args).stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
    // The store says when the tool has been started.
    stores::wait_for(&session, "runs/runs.db", "SELECT status FROM calls WHERE name = 'a'", "Running");
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(1));
    let said = session.run(&["resume", "endless-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("is over: expected"), "{}", said.shown());
}

/// A process that asks about the first call, and its input, on which nobody says anything.
#[cfg(unix)]
fn asking(session: &Session) -> (Ended, ChildStdin, Scanned<ChildStderr>) {
    session.write("s.yaml", UNDECIDED);
    let args = ["run", "s.yaml", "--state-dir", "runs", "--ask", "--lease", "10m"];
    let mut child = session.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let (stdin, mut stderr) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let asking = Ended(Some(child));
    read_until(&mut stderr, "leave the call waiting: ");
    (asking, stdin, stderr)
}

/// An open prompt does not hold up a run that another process has decided.
#[cfg(unix)]
#[test]
fn a_decision_of_another_process_ends_the_asking() {
    let session = Session::new();
    let (asking, mut stdin, mut stderr) = asking(&session);
    let decide =
        |args: &[&str]| session.run(&[args, &["--run", "undecided-1", "--state-dir", "runs"]].concat());
    assert_eq!(decide(&["approve", "rm_a", "--actor", "ada"]).code, Some(0));
    // The second question is asked now, and the first one is not asked again.
    let said = read_until(&mut stderr, "leave the call waiting: ");
    assert!(said.starts_with('\n') && said.contains("ada            approves rm_a"), "{said:?}");
    assert!(said.contains("rm_b waits: delete_file") && !said.contains("rm_a waits"), "{said:?}");
    // The line that was waited for is the answer to the question that is shown.
    stdin.write_all(b"n keep it\n").unwrap();
    assert_eq!(asking.ends(), Some(0));
    let store = stores::open(&session, "runs/runs.db");
    let status =
        |call: &str| stores::text(&store, &format!("SELECT status FROM calls WHERE name = '{call}'"));
    assert_eq!(
        (status("rm_a").as_deref(), status("rm_b").as_deref()),
        (Some("Succeeded"), Some("Cancelled"))
    );
}

#[cfg(unix)]
#[test]
fn interrupt_at_a_prompt_cancels_the_run() {
    let session = Session::new();
    let (asking, stdin, _stderr) = asking(&session);
    asking.signal("-INT");
    assert_eq!(asking.ends(), Some(1));
    // It was open until then.
    drop(stdin);
    let store = stores::open(&session, "runs/runs.db");
    let ended = "SELECT reason FROM runs WHERE holder IS NULL";
    assert_eq!(stores::text(&store, ended).as_deref(), Some("cancelled"));
}

#[cfg(unix)]
#[test]
fn interrupt_at_a_prompt_exits_though_the_end_is_uncommitted() {
    let session = Session::new();
    let (asking, stdin, mut stderr) = asking(&session);
    // As another process does that believes that this one is gone.
    let taken = "UPDATE runs SET fence = fence + 1, holder = 'ada', held_until_ms = 9999999999999";
    let store = stores::open(&session, "runs/runs.db");
    store.execute(taken, []).unwrap();
    asking.signal("-INT");
    assert_eq!(asking.ends(), Some(2));
    drop(stdin);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_harmless("run --ask", &said);
    assert!(said.contains("the process that took the run drives it"), "{said}");
    assert_eq!(stores::text(&store, "SELECT holder FROM runs").as_deref(), Some("ada"));
}

/// It reads once; its process is gone in the midst of that.
const CRASHING: &str = "\
name: crashing
message: go
tools: {read: {effect: repeatable, does: [{takes_ms: 50}]}}
model:
  - calls: [{id: a, tool: read}]
  - text: done
outside:
  - {when: {at_ms: 20}, do: crash}
";

#[test]
fn scenario_crash_ends_the_process_and_the_run_resumes() {
    let session = Session::new();
    session.write("s.yaml", CRASHING);
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stderr.contains("it crashed, as its scenario says"), "{}", said.shown());
    let said = session.run(&["resume", "crashing-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

/// However long it took until somebody drove it: what comes from outside comes no sooner for that.
#[test]
fn the_times_of_a_scenario_count_from_when_it_is_first_driven() {
    let session = Session::new();
    session.write("s.yaml", CRASHING);
    session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    let store = stores::open(&session, "runs/runs.db");
    store.execute_batch("UPDATE runs SET created_at_ms = created_at_ms - 60000").unwrap();
    let said = session.run(&["resume", "crashing-1", "--state-dir", "runs"]);
    assert!(said.stderr.contains("it crashed, as its scenario says"), "{}", said.shown());
    assert!(stores::number(&store, "SELECT version FROM runs") > 0, "it crashed before it had begun");
    let said = session.run(&["resume", "crashing-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn mistakes_of_the_model_are_answered_and_the_run_goes_on() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: mistakes
message: go
model:
  - calls:
      - {id: unknown, tool: format_disk}
      - {id: wrong, tool: read_file, arguments: {file: x}}
      - {id: outside, tool: read_file, arguments: {path: ../../secret}}
      - {id: fine, tool: list_files}
  - text: done
",
    );
    let said = session.run(&["run", "s.yaml", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let statuses: Vec<&str> =
        json["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["Failed", "Failed", "Failed", "Succeeded"]);
}

#[test]
fn a_run_that_does_not_end_naturally_exits_with_1() {
    let session = Session::new();
    let stopped = "name: stopped\nmessage: go\nmodel:\n  - calls: [{id: a, tool: list_files}]\nlimits: {max_rounds: 1}\n";
    session.write("s.yaml", stopped);
    let said = session.run(&["run", "s.yaml"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stdout.starts_with("stopped-1 is done: stopped:max_rounds"), "{}", said.stdout);
}
