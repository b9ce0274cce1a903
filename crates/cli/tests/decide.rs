//! Decisions and the time: the stores' own times are changed, as if it had gone by.

use crate::place::Ended;
use crate::session::{ROOT, Said, Session};
use crate::stores;

const RUNS: &str = "runs/runs.db";

const SCENARIO: &str = "\
name: pay
message: go
plugins:
  - ask: {tool: pay, ticket: {message: 'may it be paid?'}}
tools: {pay: {}, ship: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]
  - text: done
";

/// A run that waits.
fn parked(scenario: &str) -> Session {
    let session = Session::new();
    session.write("s.yaml", scenario);
    let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    work(&session);
    session
}

fn work(session: &Session) {
    let said = session.run(&["worker", "--once", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

fn say(session: &Session, args: &[&str]) -> Said {
    session.run(&[args, &["--state-dir", "runs"]].concat())
}

fn executions(session: &Session) -> i64 {
    stores::executions(&stores::open(session, RUNS))
}

/// The state of a call with an expired question, as the scenario of an expiry has it.
pub(crate) fn expired() -> String {
    let trace = std::fs::read_to_string(format!("{ROOT}/scenarios/expiry.trace")).unwrap();
    let left = |line: &str| {
        let (_, after) = line.split_once(" tool_call ")?.1.split_once("Suspended --> ")?;
        after.split(' ').next().map(str::to_owned)
    };
    trace.lines().find_map(left).unwrap()
}

#[test]
fn expired_call_cannot_be_approved_and_is_cancelled() {
    let session = parked(&SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 3600000, "));
    // As if the hour had gone by.
    let store = stores::open(&session, RUNS);
    store
        .execute_batch("UPDATE calls SET lapses_at_ms = 1, asked = json_set(asked, '$.expires_at_ms', 1000)")
        .unwrap();
    let late = say(&session, &["approve", "pay-1/p/1", "--run", "pay-1"]);
    assert_eq!(late.code, Some(1), "{}", late.shown());
    assert!(late.stdout.ends_with("expired: the suspension was past its deadline\n"), "{}", late.shown());
    // The decision that came too late has given it up.
    let listed = say(&session, &["approvals"]);
    assert_eq!(listed.stdout, "no call waits for a decision\n");
    let later = say(&session, &["approve", "pay-1/p/1", "--run", "pay-1"]);
    assert_eq!((later.code, &*later.stdout), (Some(1), "expired: the suspension was past its deadline\n"));
    // The machine has the time, too: the hour has gone by for the decision that gave the call up.
    store
        .execute_batch("UPDATE decisions SET json = json_set(json, '$.decided_at_ms', 4102444800000)")
        .unwrap();
    work(&session);
    assert_eq!(stores::text(&store, "SELECT status FROM calls").as_deref(), Some(&*expired()));
    assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("natural_end"));
    assert_eq!(executions(&session), 0);
}

#[test]
fn approval_before_expiry_counts_when_taken_late() {
    let session = parked(&SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 60000, "));
    assert_eq!(say(&session, &["approve", "pay-1/p/1"]).code, Some(0));
    // As if two minutes had gone by before anybody drove the run.
    let store = stores::open(&session, RUNS);
    store
        .execute_batch("UPDATE trace SET json = json_set(json, '$.at_ms', (json ->> '$.at_ms') + 120000)")
        .unwrap();
    let said = say(&session, &["resume", "pay-1"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert_eq!(stores::text(&store, "SELECT status FROM calls").as_deref(), Some("Succeeded"));
}

/// The clock of the run is ahead of the store's: no clock of a client expires a question.
#[test]
fn resume_with_a_clock_ahead_leaves_a_question_open() {
    let session = parked(&SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 4000000, "));
    let store = stores::open(&session, RUNS);
    let ahead = "UPDATE trace SET json = json_set(json, '$.at_ms', (json ->> '$.at_ms') + 172800000)";
    store.execute_batch(ahead).unwrap();
    let said = say(&session, &["resume", "pay-1"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());

    let waits = session.command(&["resume", "pay-1", "--real-time", "--state-dir", "runs"]).spawn().unwrap();
    let waits = Ended(Some(waits));
    let is_held = || stores::number(&store, "SELECT count(*) FROM runs WHERE holder IS NOT NULL") == 1;
    stores::wait_until("the run is resumed", is_held);
    let said = say(&session, &["approve", "pay-1/p/1", "--run", "pay-1"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let (code, stderr) = waits.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stores::text(&store, "SELECT status FROM calls").as_deref(), Some("Succeeded"));
}
