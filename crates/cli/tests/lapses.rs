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
        (&["approve", "p"], 1),
        (&["deny", "p", "--run", "pay-1"], 1),
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
