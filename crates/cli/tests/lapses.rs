//! Calls that nobody decided about in time: whoever looks sees to it that they are given up.

use crate::session::Session;
use crate::stores;

const RUNS: &str = "runs/runs.db";

/// A run whose call waited until long ago.
fn lapsed() -> Session {
    let session = Session::new();
    let scenario = "\
name: pay
message: go
plugins:
  - ask: {tool: pay, ticket: {message: 'may it be paid?', expires_after_ms: 4000000000000}}
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay}]
  - text: done
";
    session.write("s.yaml", scenario);
    let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let said = session.run(&["worker", "--once", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    // As if all that time had gone by.
    let past =
        "UPDATE calls SET expires_at_ms = 1, asked = json_set(asked, '$.expires_at_ms', 1) WHERE open = 1";
    assert_eq!(stores::open(&session, RUNS).execute(past, []).unwrap(), 1);
    session
}

#[test]
fn whoever_looks_at_a_run_gives_up_what_lapsed() {
    for (args, code) in [
        (&["show", "pay-1"] as &[&str], 0),
        (&["approve", "pay-1/p/1"], 1),
        (&["deny", "pay-1/p/1", "--run", "pay-1"], 1),
        (&["resume", "pay-1"], 0),
        (&["runs"], 0),
        (&["approvals"], 0),
    ] {
        let session = lapsed();
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        assert!(code == 0 || said.stdout.contains("expired"), "{}", said.shown());
        let store = stores::open(&session, RUNS);
        let given_up = "SELECT reason FROM decisions WHERE call = 'p' AND action = 'cancel'";
        let reason = stores::text(&store, given_up);
        assert_eq!(reason.as_deref(), Some("nobody decided in time"), "{}", said.shown());
    }
}

/// The same run with so many calls more.
fn lapsed_with(more: u32) -> Session {
    let session = lapsed();
    let many = "WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < ?1) \
         INSERT INTO calls SELECT run, name || '-' || value, id || '-' || value, step, ordinal + value, tool, \
         status, passes, open, suspension || '-' || value, action, question, expires_at_ms, arguments, \
         json_set(asked, '$.id', suspension || '-' || value), snapshot \
         FROM calls, n WHERE open = 1";
    let made = stores::open(&session, RUNS).execute(many, [more]).unwrap();
    assert_eq!(made, more as usize);
    session
}

/// Also when there are more than are given up together.
#[test]
fn of_many_that_lapsed_none_is_listed_as_waiting() {
    let session = lapsed_with(249);
    let said = session.run(&["approvals", "--state-dir", "runs"]);
    assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{}", said.shown());
    assert!(!said.stdout.contains("may it be paid?"), "{}", said.shown());
    let store = stores::open(&session, RUNS);
    assert_eq!(stores::number(&store, "SELECT count(*) FROM decisions WHERE action = 'cancel'"), 250);
}

#[test]
fn of_very_many_that_lapsed_those_that_are_left_are_told() {
    let session = lapsed_with(2_000);
    let store = stores::open(&session, RUNS);
    let left = "SELECT count(*) FROM calls WHERE open = 1";
    for (open, is_told) in [(1, true), (0, false)] {
        let said = session.run(&["runs", "--state-dir", "runs"]);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert_eq!(said.stderr.contains("warning: more calls lapsed"), is_told, "{}", said.shown());
        assert_eq!(stores::number(&store, left), open);
    }
}

/// Lists are for seeing what is there, also when nothing can be written.
#[test]
fn runs_are_listed_though_what_lapsed_cannot_be_given_up() {
    let session = lapsed();
    let store = stores::open(&session, RUNS);
    store
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON decisions BEGIN SELECT RAISE(ABORT, 'no room'); END",
        )
        .unwrap();
    for (args, listed) in [(["runs"], "Waiting"), (["approvals"], "may it be paid?")] {
        let said = session.run(&[&args as &[&str], &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert!(said.stdout.contains(listed), "{}", said.shown());
        assert!(
            said.stderr.contains("warning: calls that nobody decided in time still wait"),
            "{}",
            said.shown()
        );
    }
}
