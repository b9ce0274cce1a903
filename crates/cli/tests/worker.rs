//! Runs that a worker cannot drive: the store is changed, as if another program had made them.

use std::fs;

use crate::session::Session;
use crate::stores;

const RUNS: &str = "runs/runs.db";

const SLOW: &str = "\
name: slow
message: go
tools: {read: {}}
model:
  - calls: [{id: a, tool: read}]
  - text: done
";

fn detached(session: &Session, scenario: &str) {
    session.write("s.yaml", scenario);
    let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn undrivable_run_shows_its_problem_and_is_retried() {
    let session = Session::new();
    detached(&session, SLOW);
    {
        let store = stores::open(&session, RUNS);
        store.execute_batch("UPDATE specs SET json = '{\"kind\": \"batch\"}'").unwrap();
    }
    assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(1));
    let said = session.run(&["runs", "--state-dir", "runs"]);
    assert!(
        said.stdout.contains("problem: this program cannot drive the run \"slow-1\""),
        "{}",
        said.shown()
    );
    assert!(said.stdout.contains("tried again in"), "{}", said.shown());
}

/// It could go on again before the worker has looked for the next run.
#[test]
fn a_worker_that_ends_tries_a_run_that_cannot_be_driven_once() {
    let session = Session::new();
    detached(&session, SLOW);
    {
        let store = stores::open(&session, RUNS);
        store.execute_batch("UPDATE specs SET json = '{\"kind\": \"batch\"}'").unwrap();
    }
    detached(&session, SLOW);
    let said = session.run(&[
        "worker",
        "--once",
        "--retry-delay",
        "1ms",
        "--concurrency",
        "1",
        "--state-dir",
        "runs",
    ]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert_eq!(said.stdout.matches("slow-1 ").count(), 1, "{}", said.shown());
    assert!(said.stdout.contains("slow-2               continues"), "{}", said.shown());
}

#[test]
fn run_with_its_folder_elsewhere_waits_only_if_it_needs_it() {
    let session = Session::new();
    detached(&session, SLOW);
    detached(
        &session,
        "name: files\nmessage: go\nmodel:\n  - calls: [{id: l, tool: list_files}]\n  - text: done\n",
    );
    for run in ["slow-1", "files-1"] {
        fs::rename(session.path(&format!("runs/{run}")), session.path(run)).unwrap();
    }
    assert_eq!(session.run(&["worker", "--once", "--state-dir", "runs"]).code, Some(1));
    let store = stores::open(&session, RUNS);
    assert_eq!(
        stores::text(&store, "SELECT reason FROM runs WHERE id = 'slow-1'").as_deref(),
        Some("natural_end")
    );
    let problem = stores::text(&store, "SELECT problem FROM runs WHERE id = 'files-1'").unwrap();
    assert!(problem.contains("cannot open the run's folder "), "{problem}");
}

/// As it is behind two workers that ended with the run in hand.
#[test]
fn run_that_ended_its_workers_is_set_aside_until_resumed() {
    let session = Session::new();
    detached(&session, SLOW);
    detached(&session, "name: fine\nmessage: go\nmodel:\n  - text: done\n");
    let worker = || session.run(&["worker", "--once", "--state-dir", "runs"]);
    {
        let store = stores::open(&session, RUNS);
        let lost =
            "UPDATE runs SET fence = 2, lost = 1, holder = 'gone', held_until_ms = 1 WHERE id = 'slow-1'";
        store.execute_batch(lost).unwrap();
    }
    assert_eq!(worker().code, Some(1));
    let said = session.run(&["runs", "--state-dir", "runs"]);
    assert!(
        said.stdout.contains("problem: it is set aside: 2 processes in a row have ended")
            && !said.stdout.contains("tried again"),
        "{}",
        said.shown()
    );
    let reason = |run: &str| {
        let store = stores::open(&session, RUNS);
        stores::text(&store, &format!("SELECT reason FROM runs WHERE id = '{run}'"))
    };
    assert_eq!((reason("slow-1"), reason("fine-1").as_deref()), (None, Some("natural_end")));
    let said = session.run(&["resume", "slow-1", "--detach", "--state-dir", "runs"]);
    assert!(
        said.code == Some(0) && said.stdout.starts_with("slow-1 waits for a worker\n"),
        "{}",
        said.shown()
    );
    assert_eq!(worker().code, Some(0));
    assert_eq!(reason("slow-1").as_deref(), Some("natural_end"));
    let over = session.run(&["resume", "slow-1", "--detach", "--state-dir", "runs"]);
    assert_eq!(over.code, Some(2), "{}", over.shown());
}
