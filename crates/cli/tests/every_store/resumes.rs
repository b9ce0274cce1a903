//! Going on with a run by hand.

use super::in_every_store;
use crate::place::{Ended, Place};
use crate::run::UNDECIDED;
use crate::session::assert_shown;

in_every_store! {
    a_run_without_decisions_parks_and_is_resumed_call_by_call,
    decision_on_an_undriven_run_is_taken_by_resume,
    one_that_is_driven_elsewhere_is_not_taken_in_hand,
    resume_leaves_an_open_question_to_its_store,
    real_time_run_ends_when_its_question_expires_in_the_store,
}

fn a_run_without_decisions_parks_and_is_resumed_call_by_call(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", UNDECIDED);
    let mut shown = place.does(&["run", "s.yaml"], 3).untimed().shown();
    let again = place.does(&["resume", "undecided-1", "--json"], 3);
    let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["waiting"][0]["call"], "rm_a", "nothing was decided");
    for (more, code) in [
        (["--approve", "undecided-1/rm_a/1"], 3),
        (["--deny", "rm_b"], 0),
        // It is over.
        (["--approve", "undecided-1/rm_b/1"], 2),
    ] {
        shown.push('\n');
        shown.push_str(
            &place
                .does(&[&["resume", "undecided-1", "--actor", "tester"] as &[&str], &more].concat(), code)
                .untimed()
                .shown(),
        );
    }
    assert_shown("resume", &shown);
    assert!(!place.session.path("runs/undecided-1/work/a.txt").exists());
    place.conforms("undecided-1", &["--complete"]);
}

fn decision_on_an_undriven_run_is_taken_by_resume(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", UNDECIDED);
    place.does(&["run", "s.yaml"], 3);
    place.does(&["approve", "undecided-1/rm_a/1", "--actor", "tester"], 0);
    place.does(&["deny", "undecided-1/rm_b/1", "--actor", "ada"], 0);
    let said = place.does(&["resume", "undecided-1"], 0);
    assert!(said.stderr.contains("tester         approves rm_a"), "{}", said.shown());
    assert!(said.stderr.contains("ada            denies rm_b"), "{}", said.shown());
    assert_eq!(place.executions("undecided-1"), 2);
}

fn one_that_is_driven_elsewhere_is_not_taken_in_hand(place: &dyn Fn() -> Place) {
    let place = place();
    let slow = "name: slow\nmessage: go\ntools: {read: {does: [{takes_ms: 3600000}]}}\nmodel:\n  - calls: [{id: a, tool: read}]\n";
    place.session.write("s.yaml", slow);
    let driven = Ended(Some(place.command(&["run", "s.yaml", "--real-time"]).spawn().unwrap()));
    place.wait_for_call("slow-1", "a", "Running");
    let refused = place.does(&["resume", "slow-1"], 2);
    assert!(refused.stderr.contains("another process drives the run \"slow-1\": "), "{}", refused.shown());
    assert_eq!(place.field("slow-1", "status"), "Running");
    drop(driven);
}

/// A question with more than an hour left. The scripted cancellation comes later.
const LONG: &str = "\
name: long
message: go
plugins:
  - ask: {tool: pay, ticket: {message: 'may it be paid?', expires_after_ms: 4000000}}
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay}]
  - text: done
outside:
  - {when: {at_ms: 5000000}, do: cancel}
";

fn resume_leaves_an_open_question_to_its_store(place: &dyn Fn() -> Place) {
    // A worker, or a first drive, has asked.
    for is_driven in [true, false] {
        let place = place();
        place.detached(LONG);
        if is_driven {
            place.work();
        }
        for _ in 0..2 {
            place.does(&["resume", "long-1"], 3);
            let stands = place.stands("long-1").unwrap();
            assert_eq!(
                (&stands["status"], &stands["decisions"]),
                (&"Waiting".into(), &serde_json::json!([]))
            );
            assert_eq!(place.call("long-1", "p"), "Suspended");
        }
        place.does(&["resume", "long-1", "--approve", "long-1/p/1"], 0);
        assert_eq!(place.call("long-1", "p"), "Succeeded");
        place.conforms("long-1", &["--complete"]);
    }
}

fn real_time_run_ends_when_its_question_expires_in_the_store(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", LONG.replace("4000000", "700"));
    place.does(&["run", "s.yaml", "--real-time"], 0);
    assert_eq!(place.call("long-1", "p"), crate::decide::expired());
    let stands = place.stands("long-1").unwrap();
    assert_eq!(stands["decisions"][0]["decision"]["reason"], "no decision came in time", "{stands}");
    place.conforms("long-1", &["--complete"]);
}
