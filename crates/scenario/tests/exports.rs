//! Exports of recorded runs: limits of time, and ends.

use runstate_scenario::export::{ExportError, Exported, Record, export};
use runstate_scenario::{Options, Played, Scenario, play};

/// Plays a scenario, and exports the run with that base.
fn recorded(scenario: &Scenario, base: &Scenario) -> (Played, Result<Exported, ExportError>) {
    let played = play(scenario, Options::default()).unwrap();
    let decisions = played.stored.as_ref().unwrap().decisions();
    let (state, trace, events) = (&played.state, &played.trace, &played.committed);
    let record = Record { base, state, decisions, trace, events, live: &[] };
    let exported = export(&record, "exported");
    (played, exported)
}

/// Plays a scenario with commits that take that time, and exports the run with the scenario as its base.
fn exported(yaml: &str, commit_ms: u64) -> (Played, Result<Exported, ExportError>) {
    let base = Scenario::parse(yaml).unwrap();
    let mut slow = base.clone();
    slow.commits.takes_ms = commit_ms;
    recorded(&slow, &base)
}

/// Plays a scenario, and exports the run with the answers of the record alone, as that of a live model.
fn of_live_model(yaml: &str) -> (Played, Exported) {
    let scenario = Scenario::parse(yaml).unwrap();
    let base = Scenario { model: Vec::new(), ..scenario.clone() };
    let (played, exported) = recorded(&scenario, &base);
    let exported = exported.unwrap_or_else(|error| panic!("{error}"));
    (played, exported)
}

/// The reason of the end of a run.
fn reason(played: &Played) -> String {
    played.committed.last().map(|event| format!("{:?}", event.kind)).unwrap()
}

const LOOKS: &str = "
name: looks
message: go
stop: [{type: timeout, seconds: 1}]
tools: {read: {effect: repeatable, does: [{takes_ms: 200}]}}
model:
  - {after_ms: 40, calls: [{id: a, tool: read, arguments: {n: 1}}]}
  - {after_ms: 40, calls: [{id: b, tool: read, arguments: {n: 2}}]}
  - {after_ms: 40, calls: [{id: c, tool: read, arguments: {n: 3}}]}
  - {after_ms: 40, calls: [{id: d, tool: read, arguments: {n: 4}}]}
  - {after_ms: 40, calls: [{id: e, tool: read, arguments: {n: 5}}]}
  - {after_ms: 40, calls: [{id: f, tool: read, arguments: {n: 6}}]}
  - {text: never said}
";

#[test]
fn run_stopped_by_its_time_limit_is_exported() {
    // In the step that the limit stops anyway, one step sooner, and several steps sooner.
    for commit_ms in [0, 1, 10, 40, 300] {
        let (recorded, exported) = exported(LOOKS, commit_ms);
        assert!(reason(&recorded).contains("timeout"), "{}", reason(&recorded));
        let exported = exported.unwrap_or_else(|error| panic!("commits of {commit_ms} ms: {error}"));
        assert_eq!(exported.played.trace.len(), recorded.trace.len());
        assert_eq!(reason(&exported.played).split("used").next(), reason(&recorded).split("used").next());
    }
}

#[test]
fn run_stopped_while_a_decision_was_late_is_exported() {
    let asks = LOOKS.replace("message: go", "message: go\napprove: [read]")
        + "
outside:
  - {when: {event: {type: tool_call_suspended, call: a, after_ms: 150}}, do: {decide: [{id: d1, call: a, action: approve}]}}
  - {when: {event: {type: tool_call_suspended, call: b, after_ms: 700}}, do: {decide: [{id: d2, call: b, action: approve}]}}
";
    let (recorded, exported) = exported(&asks, 13);
    assert!(reason(&recorded).contains("timeout"), "{}", reason(&recorded));
    let exported = exported.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(exported.played.trace.len(), recorded.trace.len());
}

#[test]
fn question_that_expired_is_exported() {
    let asks = "
name: expires
message: go
plugins: [{ask: {tool: read, ticket: {action: approve, expires_after_ms: 100}}}]
tools: {read: {}}
model:
  - {calls: [{id: a, tool: read}]}
  - {text: done}
";
    for commit_ms in [0, 13] {
        let (recorded, exported) = exported(asks, commit_ms);
        let expired = format!("{:?}", recorded.committed);
        assert!(expired.contains("Expired"), "{expired}");
        let exported = exported.unwrap_or_else(|error| panic!("commits of {commit_ms} ms: {error}"));
        assert_eq!(exported.played.trace.len(), recorded.trace.len());
    }
}

#[test]
fn cancellation_during_an_answer_behind_a_decision_is_exported() {
    let yaml = "
name: cancelled
message: go
approve: [read]
tools: {read: {}}
model:
  - {calls: [{id: a, tool: read}]}
  - {after_ms: 5, pauses_ms: [100], text: hm, ends: never}
outside:
  - {when: {event: {type: run_finished, after_ms: 4}}, do: {decide: [{id: d, call: a, action: approve}]}}
  - {when: {event: {type: inference_started, nth: 2, after_ms: 6}}, do: cancel}
";
    let (recorded, exported) = of_live_model(yaml);
    assert!(reason(&recorded).contains("Cancelled"), "{}", reason(&recorded));
    assert_eq!(exported.played.trace.len(), recorded.trace.len());
}

#[test]
fn tokens_of_an_answer_that_failed_behind_a_crash_are_exported() {
    let yaml = "
name: tokens
message: go
tools: {read: {effect: repeatable}}
model:
  - {calls: [{id: a, tool: read}], usage: {input_tokens: 70, output_tokens: 7}}
  - {text: hm, usage: {input_tokens: 50, output_tokens: 5}, ends: {error: no capacity}}
outside:
  - {when: {after_commit: 2}, do: crash}
";
    let (recorded, exported) = of_live_model(yaml);
    assert!(reason(&recorded).contains("no capacity"), "{}", reason(&recorded));
    assert_eq!(reason(&exported.played), reason(&recorded));
}
