//! Calls without a decision in time: reading a store shows it, and a worker, a decision that comes too late and `runstate expire` give them
//! up.

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
    let past = "UPDATE calls SET lapses_at_ms = 1 WHERE open = 1";
    assert_eq!(stores::open(&session, RUNS).execute(past, []).unwrap(), 1);
    session
}

const GIVEN_UP: &str =
    "SELECT count(*) FROM decisions WHERE action = 'cancel' AND reason = 'no decision came in time'";

#[test]
fn a_decision_too_late_resume_expire_and_a_worker_give_it_up() {
    for (args, code) in [
        (&["approve", "pay-1/p/1"] as &[&str], 1),
        (&["deny", "pay-1/p/1", "--run", "pay-1"], 1),
        (&["resume", "pay-1"], 0),
        (&["expire"], 0),
        (&["worker", "--once"], 0),
    ] {
        let session = lapsed();
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        assert!(code == 0 || said.stdout.contains("expired"), "{}", said.shown());
        let store = stores::open(&session, RUNS);
        assert_eq!(stores::number(&store, GIVEN_UP), 1, "{}", said.shown());
        // The run goes on with it, though the time of the question is far ahead by the clock of the run.
        let worked = session.run(&["worker", "--once", "--state-dir", "runs"]);
        assert_eq!(worked.code, Some(0), "{}", worked.shown());
        assert_eq!(stores::text(&store, "SELECT status FROM runs").as_deref(), Some("Done"), "{args:?}");
    }
}

#[test]
fn read_commands_show_expiry_and_change_nothing() {
    let session = lapsed();
    for (args, shown) in [
        (&["approvals"] as &[&str], "expires     expired: a worker or `runstate expire` cancels the call"),
        (&["approvals", "--json"], "\"has_lapsed\":true,"),
        (&["show", "pay-1"], "waits    p, expired: may it be paid?"),
        (&["show", "pay-1", "--format", "json"], "Waiting"),
        (&["runs"], "Waiting"),
        (&["runs", "--json"], "\"undecided\":1"),
        (&["prune", "--older-than", "1d"], "0 runs removed"),
    ] {
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert!(said.stdout.replace(": ", ":").contains(&shown.replace(": ", ":")), "{}", said.shown());
        let store = stores::open(&session, RUNS);
        assert_eq!(stores::number(&store, "SELECT count(*) FROM decisions"), 0, "{}", said.shown());
        assert_eq!(stores::number(&store, "SELECT count(*) FROM calls WHERE open = 1"), 1);
    }
}

/// The same run with so many calls more.
fn lapsed_with(more: u32) -> Session {
    let session = lapsed();
    let many = "WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < ?1) \
         INSERT INTO calls SELECT run, name || '-' || value, id || '-' || value, step, ordinal + value, tool, \
         status, passes, open, suspension || '-' || value, action, question, expires_at_ms, arguments, \
         json_set(asked, '$.id', suspension || '-' || value), snapshot, lapses_at_ms \
         FROM calls, n WHERE open = 1";
    let made = stores::open(&session, RUNS).execute(many, [more]).unwrap();
    assert_eq!(made, more as usize);
    session
}

/// Also when there are more than are given up together.
#[test]
fn expire_cancels_every_expired_call() {
    let session = lapsed_with(2_049);
    for said in ["cancelled 2050 expired calls", "cancelled 0 expired calls"] {
        let expired = session.run(&["expire", "--state-dir", "runs"]);
        assert_eq!((expired.code, &*expired.stderr), (Some(0), ""), "{}", expired.shown());
        assert_eq!(expired.stdout.trim(), said);
        assert_eq!(stores::number(&stores::open(&session, RUNS), GIVEN_UP), 2_050);
    }
    let approvals = session.run(&["approvals", "--state-dir", "runs"]);
    assert_eq!(approvals.stdout.trim(), "no call waits for a decision", "{}", approvals.shown());
}

/// Lists are for seeing what is there, also when nothing can be written.
#[test]
fn runs_are_listed_though_an_expired_call_cannot_be_cancelled() {
    let session = lapsed();
    let store = stores::open(&session, RUNS);
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    for (args, listed) in [(["runs"], "Waiting"), (["approvals"], "may it be paid?")] {
        let said = session.run(&[&args as &[&str], &["--state-dir", "runs"]].concat());
        assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{}", said.shown());
        assert!(said.stdout.contains(listed), "{}", said.shown());
    }
    let said = session.run(&["expire", "--json", "--state-dir", "runs"]);
    assert_eq!((said.code, &*said.stdout), (Some(2), ""), "{}", said.shown());
    assert!(said.stderr.contains(" writes, and did not finish in time"), "{}", said.shown());
}
