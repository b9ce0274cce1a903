//! Workers: processes of their own, ended by their ids.

use std::process::{Child, Command};

use crate::session::Session;
use crate::stores;

const RUNS: &str = "runs/runs.db";

/// Calls that take a moment, one after the other. That each was begun is durable before it executes.
const SLOW: &str = "\
name: slow
message: go
tools: {read: {does: [{takes_ms: 300}]}}
model:
  - calls: [{id: a, tool: read}]
  - calls: [{id: b, tool: read}]
  - calls: [{id: c, tool: read}]
  - text: done
";

/// Two calls that wait for people.
const ASKING: &str = "\
name: asking
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 7}}]
  - text: done
decisions:
  - {call: p, action: approve}
outside:
  - {when: {at_ms: 0}, do: cancel}
";

fn detached(session: &Session, scenario: &str) {
    session.write("s.yaml", scenario);
    let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

fn worker(session: &Session, more: &[&str]) -> Child {
    let args = [&["worker", "--state-dir", "runs", "--lease", "1s"], more].concat();
    session.command(&args).spawn().unwrap()
}

/// A worker that is ended should an assertion fail.
struct Ended(Option<Child>);

impl Ended {
    fn signal(&self, signal: &str) {
        let id = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    fn wait(mut self) -> (Option<i32>, String) {
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

#[test]
fn once_drives_what_can_go_on_and_leaves_people_their_decisions() {
    let session = Session::new();
    detached(&session, ASKING);
    let said = session.run(&["worker", "--once", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let store = stores::open(&session, RUNS);
    // Neither the scenario's own decision nor what it lets come from outside has happened.
    assert_eq!(stores::text(&store, "SELECT status FROM runs").as_deref(), Some("Waiting"));
    assert_eq!(stores::number(&store, "SELECT waiting FROM runs"), 2);
    for args in [["approve", "p"], ["deny", "q"]] {
        let said = session.run(&[&args as &[&str], &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
    }
    assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(0));
    assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("natural_end"));
    session.assert_complete("asking-1", &["--state-dir", "runs"]);
}

#[test]
fn a_decision_of_another_process_wakes_a_worker() {
    let session = Session::new();
    detached(&session, ASKING);
    let worker = Ended(Some(worker(&session, &[])));
    stores::wait_for(&session, RUNS, "SELECT status FROM runs", "Waiting");
    for call in ["p", "q"] {
        assert_eq!(session.run(&["approve", call, "--state-dir", "runs"]).code, Some(0));
    }
    stores::wait_for(&session, RUNS, "SELECT reason FROM runs", "natural_end");
    drop(worker);
    let store = stores::open(&session, RUNS);
    assert_eq!(stores::executions(&store), 2);
    session.assert_complete("asking-1", &["--state-dir", "runs"]);
}

#[test]
fn a_run_is_cancelled_from_another_process() {
    let session = Session::new();
    detached(&session, &SLOW.replace("300", "3600000"));
    let worker = Ended(Some(worker(&session, &[])));
    stores::wait_for(&session, RUNS, "SELECT status FROM calls WHERE name = 'a'", "Running");
    let said = session.run(&["cancel", "slow-1", "--state-dir", "runs", "--reason", "by mistake"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    stores::wait_for(&session, RUNS, "SELECT reason FROM runs", "cancelled");
    drop(worker);
    let again = session.run(&["cancel", "slow-1", "--state-dir", "runs"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), "slow-1 is over: cancelled\n"));
}

#[cfg(unix)]
#[test]
fn another_worker_goes_on_with_the_runs_of_one_that_was_killed() {
    let session = Session::new();
    detached(&session, &SLOW.replace("{read: {", "{read: {effect: repeatable, "));
    let first = Ended(Some(worker(&session, &[])));
    stores::wait_for(&session, RUNS, "SELECT status FROM calls WHERE name = 'a'", "Succeeded");
    first.signal("-KILL");
    assert_eq!(first.wait().0, None, "killed");
    let store = stores::open(&session, RUNS);
    assert!(stores::text(&store, "SELECT holder FROM runs").is_some(), "nobody gave it back");
    let second = Ended(Some(worker(&session, &[])));
    stores::wait_for(&session, RUNS, "SELECT reason FROM runs", "natural_end");
    drop(second);
    assert_eq!(stores::number(&store, "SELECT fence FROM runs"), 2);
    session.assert_conforms("slow-1", &["--state-dir", "runs"]);
}

#[cfg(unix)]
#[test]
fn a_worker_that_is_to_end_gives_its_runs_back() {
    for (signal, more) in [("-TERM", &[] as &[&str]), ("-INT", &["--once"])] {
        let session = Session::new();
        detached(&session, SLOW);
        let drained = Ended(Some(worker(&session, more)));
        stores::wait_for(&session, RUNS, "SELECT status FROM calls WHERE name = 'a'", "Running");
        drained.signal(signal);
        let (code, stderr) = drained.wait();
        assert_eq!(code, Some(0), "{stderr}");
        let store = stores::open(&session, RUNS);
        assert_eq!(stores::text(&store, "SELECT holder FROM runs"), None);
        assert_eq!(stores::text(&store, "SELECT status FROM runs").as_deref(), Some("Running"));
        // What executed was let go on: it is not in doubt.
        assert_eq!(
            stores::text(&store, "SELECT status FROM calls WHERE name = 'a'").as_deref(),
            Some("Succeeded")
        );
        assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(0));
        assert_eq!(stores::executions(&store), 3);
        session.assert_conforms("slow-1", &["--state-dir", "runs"]);
    }
}

#[cfg(unix)]
#[test]
fn the_second_signal_ends_a_worker_at_once() {
    let session = Session::new();
    detached(&session, &SLOW.replace("300", "3600000"));
    let ended = Ended(Some(worker(&session, &[])));
    stores::wait_for(&session, RUNS, "SELECT status FROM calls WHERE name = 'a'", "Running");
    // Signals of one kind that come together are one: so of each kind one.
    ended.signal("-TERM");
    ended.signal("-INT");
    let (code, stderr) = ended.wait();
    assert!(matches!(code, Some(130 | 143)), "{code:?} {stderr}");
}

#[test]
fn two_workers_share_twenty_runs_and_each_is_driven_once() {
    let session = Session::new();
    session.write("s.yaml", SLOW.replace("300", "20"));
    for _ in 0..20 {
        assert_eq!(session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]).code, Some(0));
    }
    // Leases that are not over before the runs are, on however slow a machine.
    let worker = || {
        let args = ["worker", "--state-dir", "runs", "--at-once", "3", "--lease", "10m"];
        Ended(Some(session.command(&args).spawn().unwrap()))
    };
    let workers = [worker(), worker()];
    stores::wait_until("20 runs are done", || {
        stores::number(
            &stores::open(&session, RUNS),
            "SELECT count(*) FROM runs WHERE reason = 'natural_end'",
        ) == 20
    });
    drop(workers);
    let store = stores::open(&session, RUNS);
    assert_eq!(stores::executions(&store), 60);
    assert_eq!(stores::number(&store, "SELECT max(fence) FROM runs"), 1, "each was claimed once");
}

#[test]
fn what_cannot_be_driven_says_why_and_is_tried_again() {
    let session = Session::new();
    detached(&session, SLOW);
    {
        let store = stores::open(&session, RUNS);
        store.execute_batch("UPDATE specs SET json = '{\"kind\": \"batch\"}'").unwrap();
    }
    assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(0));
    let said = session.run(&["runs", "--state-dir", "runs"]);
    assert!(
        said.stdout.contains("problem: this program cannot drive the run \"slow-1\""),
        "{}",
        said.shown()
    );
    assert!(said.stdout.contains("tried again in"), "{}", said.shown());
}

#[test]
fn a_run_whose_folder_is_elsewhere_waits_for_its_machine_only_if_it_needs_it() {
    let session = Session::new();
    detached(&session, SLOW);
    detached(
        &session,
        "name: files\nmessage: go\nmodel:\n  - calls: [{id: l, tool: list_files}]\n  - text: done\n",
    );
    {
        let store = stores::open(&session, RUNS);
        store.execute_batch("UPDATE specs SET json = json_set(json, '$.folder', '/nowhere/work')").unwrap();
    }
    assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(0));
    let store = stores::open(&session, RUNS);
    assert_eq!(
        stores::text(&store, "SELECT reason FROM runs WHERE id = 'slow-1'").as_deref(),
        Some("natural_end")
    );
    let problem = stores::text(&store, "SELECT problem FROM runs WHERE id = 'files-1'").unwrap();
    assert!(problem.contains("cannot open the run's folder /nowhere/work"), "{problem}");
}
