//! Decisions from processes other than the one that drives the run.

use std::process::Child;

use serde_json::Value;

use crate::session::{Said, Session, assert_shown};
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

#[test]
fn the_first_decision_wins_and_is_kept() {
    let session = parked(SCENARIO);
    let mut shown = say(&session, &["approvals"]).shown();
    for (args, code) in [
        (&["approve", "p", "--actor", "ada", "--reason", "it is due"] as &[&str], 0),
        // The same again, after a reply that was lost.
        (&["approve", "p", "--run", "pay-1", "--actor", "ada", "--reason", "it is due"], 0),
        (&["approve", "p", "--run", "pay-1", "--actor", "grace"], 1),
        (&["deny", "p", "--run", "pay-1", "--actor", "ada"], 1),
        (&["deny", "pay-1/p/1", "--run", "pay-1"], 1),
        (&["deny", "p"], 1),
        (&["approvals"], 0),
        (&["runs"], 0),
    ] {
        let said = say(&session, args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push('\n');
        shown.push_str(&said.shown());
    }
    work(&session);
    assert_eq!(executions(&session), 1);
    // It is over: what is said now changes nothing.
    for (args, code) in [
        (&["deny", "p", "--run", "pay-1"] as &[&str], 1),
        (&["approve", "p", "--run", "pay-1", "--actor", "ada", "--reason", "it is due"], 0),
        (&["show", "pay-1"], 0),
    ] {
        let said = say(&session, args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push('\n');
        shown.push_str(&said.shown());
    }
    assert_shown("decide", &shown);
    let store = stores::open(&session, RUNS);
    let decision: Value =
        serde_json::from_str(&stores::text(&store, "SELECT json FROM decisions").unwrap()).unwrap();
    assert_eq!((&decision["actor"], &decision["action"]), (&Value::from("ada"), &Value::from("resume")));
    assert!(decision["args_digest"].as_str().unwrap().starts_with("sha256:"));
    assert!(decision["decided_at_ms"].as_u64().unwrap() > 0);
    assert_eq!(stores::number(&store, "SELECT count(*) FROM decisions"), 1);
}

#[test]
fn of_decisions_that_come_together_one_is_accepted() {
    let session = parked(SCENARIO);
    let decide = |number: usize| -> Child {
        let (word, actor) =
            (if number.is_multiple_of(2) { "approve" } else { "deny" }, format!("person {number}"));
        let args = [word, "p", "--run", "pay-1", "--json", "--actor", &actor, "--state-dir", "runs"];
        session.command(&args).spawn().unwrap()
    };
    let together: Vec<Child> = (0..8).map(decide).collect();
    let codes = together.into_iter().map(|child| child.wait_with_output().unwrap().status.code());
    let codes: Vec<Option<i32>> = codes.collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(1)).count(), 7, "{codes:?}");
    work(&session);
    assert_eq!(say(&session, &["approvals"]).stdout, "nothing waits for a decision\n");
}

#[test]
fn an_approval_is_for_the_arguments_that_were_shown() {
    let session = parked(SCENARIO);
    let listed = say(&session, &["approvals", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let digest = listed["approvals"][0]["args_digest"].as_str().unwrap();
    let other = digest.replace(|c: char| c.is_ascii_digit(), "f");
    let stale = say(&session, &["approve", "p", "--digest", &other]);
    assert_eq!(stale.code, Some(1), "{}", stale.shown());
    assert!(stale.stdout.contains("stale"), "{}", stale.shown());
    let said = say(&session, &["approve", "p", "--digest", &digest[..23]]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn what_lapsed_lapses_without_a_process_and_cannot_be_approved() {
    let session = parked(&SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 3600000, "));
    // As if the hour had gone by.
    let store = stores::open(&session, RUNS);
    store
        .execute_batch(
            "UPDATE calls SET expires_at_ms = 1000, asked = json_set(asked, '$.expires_at_ms', 1000)",
        )
        .unwrap();
    let late = say(&session, &["approve", "p", "--run", "pay-1"]);
    assert_eq!(late.code, Some(1), "{}", late.shown());
    assert!(late.stdout.ends_with("expired: the suspension had lapsed\n"), "{}", late.shown());
    // Nobody need have waited for the time: who looks gives it up.
    let listed = say(&session, &["approvals"]);
    assert_eq!(listed.stdout, "nothing waits for a decision\n");
    let later = say(&session, &["approve", "p", "--run", "pay-1"]);
    assert_eq!((later.code, &*later.stdout), (Some(1), "expired: the suspension had lapsed\n"));
    work(&session);
    assert_eq!(stores::text(&store, "SELECT status FROM calls").as_deref(), Some("Cancelled"));
    assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("natural_end"));
    assert_eq!(executions(&session), 0);
}

#[test]
fn a_run_that_was_cancelled_takes_no_approval() {
    let session = parked(SCENARIO);
    assert_eq!(say(&session, &["cancel", "pay-1"]).code, Some(0));
    assert_eq!(say(&session, &["cancel", "pay-1"]).stdout, "pay-1 is to be cancelled already\n");
    work(&session);
    let said = say(&session, &["approve", "p", "--run", "pay-1"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert_eq!(executions(&session), 0);
    let store = stores::open(&session, RUNS);
    assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("cancelled"));
}

#[test]
fn a_process_that_waits_with_a_run_takes_what_comes_meanwhile() {
    for (say_it, code, heard) in
        [(&["approve", "p"] as &[&str], 0, "approves p"), (&["cancel", "pay-1"], 1, "cancel")]
    {
        let session = Session::new();
        // In real time it waits for the call to lapse.
        session.write("s.yaml", SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 3600000, "));
        let args = ["run", "s.yaml", "--state-dir", "runs", "--real-time"];
        let child = session.command(&args).spawn().unwrap();
        stores::wait_for(&session, RUNS, "SELECT status FROM runs", "Waiting");
        let said = say(&session, say_it);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(heard), "{stderr}");
        session.assert_complete("pay-1", &["--state-dir", "runs"]);
    }
}

#[test]
fn what_was_decided_while_nobody_drove_is_taken_by_resume() {
    let session = parked(SCENARIO);
    assert_eq!(say(&session, &["approve", "p"]).code, Some(0));
    let said = say(&session, &["resume", "pay-1"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stderr.contains("tester         approves p"), "{}", said.shown());
    assert_eq!(executions(&session), 1);
}

#[test]
fn an_approval_that_came_in_time_counts_however_late_it_is_taken() {
    let session = parked(&SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 60000, "));
    assert_eq!(say(&session, &["approve", "p"]).code, Some(0));
    // As if two minutes had gone by before anybody drove the run.
    let store = stores::open(&session, RUNS);
    store
        .execute_batch("UPDATE trace SET json = json_set(json, '$.at_ms', (json ->> '$.at_ms') + 120000)")
        .unwrap();
    let said = say(&session, &["resume", "pay-1"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert_eq!(stores::text(&store, "SELECT status FROM calls").as_deref(), Some("Succeeded"));
}

#[test]
fn a_result_is_held_against_what_was_asked_for() {
    let scenario = "\
name: ask
message: go
plugins:
  - ask: {tool: price, ticket: {action: price, response_schema: {type: number}, resume_mode: use_decision_as_tool_result}}
tools: {price: {}}
model:
  - calls: [{id: a, tool: price}, {id: b, tool: price}]
  - text: done
";
    let session = parked(scenario);
    let mut shown = String::new();
    for (args, code) in [
        (&["approve", "a", "--result", "\"cheap\""] as &[&str], 1),
        (&["approve", "a", "--result", "{"], 2),
        (&["approve", "a", "--result", "12"], 0),
        (&["approve", "price"], 1),
        (&["deny", "ask-1/b/1", "--json"], 0),
    ] {
        let said = say(&session, args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("decide_result", &shown);
    work(&session);
    let store = stores::open(&session, RUNS);
    assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("natural_end"));
    let result = "SELECT json FROM messages WHERE role = 'result' AND json LIKE '%\"a\"%'";
    let result: Value = serde_json::from_str(&stores::text(&store, result).unwrap()).unwrap();
    assert!(result.to_string().contains("12"), "the decision was the result: {result}");
}

#[test]
fn a_name_that_several_calls_have_is_refused_with_their_suspensions() {
    let session = parked(SCENARIO);
    assert_eq!(say(&session, &["run", "--detach", "s.yaml"]).code, Some(0));
    work(&session);
    let said = say(&session, &["approve", "p"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("say which: pay-1/p/1, pay-2/p/1"), "{}", said.shown());
    assert_eq!(say(&session, &["approve", "pay-2/p/1"]).code, Some(0));
}

#[test]
fn a_call_in_doubt_is_seen_and_answered() {
    let session = Session::new();
    // It is durable that the call was begun, and no more.
    let crashes = "outside:\n  - {when: {after_commit: 3}, do: crash}\n";
    session.write(
        "s.yaml",
        format!("{}{crashes}", SCENARIO.replace("  - ask: {tool: pay, ", "  - ask: {tool: ship, ")),
    );
    let crashed = say(&session, &["run", "s.yaml"]);
    assert_eq!(crashed.code, Some(1), "{}", crashed.shown());
    work(&session);
    let runs = say(&session, &["runs"]);
    assert!(runs.stdout.contains("1, 1 in doubt"), "{}", runs.shown());
    let listed = say(&session, &["approvals"]);
    assert!(listed.stdout.contains("in doubt    it may have executed already"), "{}", listed.shown());
    assert_eq!(say(&session, &["approve", "p"]).code, Some(0));
    work(&session);
    session.assert_conforms("pay-1", &["--state-dir", "runs"]);
    assert_eq!(executions(&session), 1, "it had not executed");
    assert_eq!(
        stores::text(&stores::open(&session, RUNS), "SELECT reason FROM runs").as_deref(),
        Some("natural_end")
    );
}
