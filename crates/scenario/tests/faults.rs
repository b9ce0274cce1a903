//! What is said about a scenario that cannot be played.

use runstate_scenario::Scenario;

const GOOD: &str = "\
name: good
message: hello
approve: [delete_file]
tools:
  send: {does: [{takes_ms: 5, gives: {success: sent}}]}
model:
  - calls:
      - {id: a, tool: send}
  - text: done
plugins:
  - ask: {tool: send}
outside:
  - when: {at_ms: 5}
    do: {decide: [{id: d, call: a, action: approve}]}
";

/// The refusal of the good scenario with one thing changed.
fn but(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    Scenario::parse(&GOOD.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn scenario_faults_are_reported_with_line_and_column() {
    Scenario::parse(GOOD).unwrap();
    for (refused, expected) in [
        (but("name: good", "name: Good"), "line 1, column 7: expected a name of"),
        (but("[delete_file]", "[post]"), "line 3, column 11: there is no tool \"post\": expected one of"),
        (
            but("{takes_ms: 5,", "{takes_ms: 5, progress: [{at_ms: 9, value: 1}],"),
            "line 5, column 41: expected progress within the 5 ms",
        ),
        (but("id: a, tool", "id: a b, tool"), "line 8, column 14: expected a call id"),
        (
            but("tool: send}\n  - text", "tool: send, raw: x, arguments: {n: 1}}\n  - text"),
            "line 8, column 34: expected either arguments or raw",
        ),
        (
            but("ask: {tool: send}", "ask: {tool: send, times: 0}"),
            "line 11, column 30: expected times of at least 1, got 0",
        ),
        (
            but(
                "ask: {tool: send}",
                "ask: {tool: send, times: 2, ticket: {resume_mode: use_decision_as_tool_result}}",
            ),
            "line 11, column 41: several people approve the execution",
        ),
        (
            but(
                "ask: {tool: send}",
                "ask: {tool: send, times: 2, ticket: {resume_mode: pass_decision_to_tool}}",
            ),
            "line 11, column 41: several people approve the execution",
        ),
        (
            but("ask: {tool: send}", "ask: {tool: send}\n  - gate: {call: a, asked: 1, says: {ask: {}}}"),
            "line 12, column 18: the call \"a\" is of the tool \"send\", which is asked about already",
        ),
        (
            but("ask: {tool: send}", "end_run: {at: {phase: run_start}, reason: suspended}"),
            "line 11, column 47: a run that ends as 'suspended' is not over",
        ),
        (
            but("{at_ms: 5}\n    do", "{event: {type: sneezed}}\n    do"),
            "line 13, column 26: there is no event \"sneezed\": expected one of run_started,",
        ),
        (
            but("{at_ms: 5}\n    do", "{before_commit: 0}\n    do"),
            "line 13, column 11: commits are counted from 1",
        ),
        (
            but("[{id: d, call: a, action: approve}]", "[]"),
            "line 14, column 18: expected at least one decision",
        ),
        (
            but("outside:", "commits: {fail: [1, 0]}\noutside:"),
            "line 12, column 21: commits are counted from 1, got 0",
        ),
        (
            but("outside:", "stop: [{type: max_rounds, rounds: 0}]\noutside:"),
            "line 12, column 7: stop condition 1, max_rounds",
        ),
        (
            but("outside:", "decisions: [{call: b, action: deny}]\noutside:"),
            "line 12, column 20: the model makes no call \"b\"",
        ),
        (
            but("do: {decide: [{id: d, call: a, action: approve}]}", "do: explode"),
            "line 14, column 9: unknown variant `explode`",
        ),
    ] {
        assert!(refused.starts_with(expected), "expected {expected}\n     got {refused}");
    }
}

#[test]
fn constructed_scenario_is_checked_like_a_parsed_one() {
    let mut scenario = Scenario::parse(GOOD).unwrap();
    scenario.check().unwrap();
    scenario.limits.max_rounds = 0;
    let refused = scenario.check().unwrap_err();
    assert_eq!(refused.to_string(), "limits.max_rounds: expected max_rounds of at least 1, got 0");
    assert_eq!(refused.span(), None);
    (scenario.limits.max_rounds, scenario.limits.max_file_bytes) = (1, 64 << 20);
    scenario.check().unwrap();
    scenario.limits.max_file_bytes += 1;
    let refused = scenario.check().unwrap_err().to_string();
    assert_eq!(
        refused,
        "limits.max_file_bytes: expected max_file_bytes of at most 67108864 (64 MiB), got 67108865"
    );
}

#[test]
fn an_id_has_as_many_lives_as_it_was_used() {
    let twice =
        "name: x\nmessage: y\nmodel: [{calls: [{id: a, tool: t}]}, {calls: [{id: a, tool: t}]}, {text: z}]\n";
    Scenario::parse(&format!("{twice}decisions: [{{call: 'a#2', action: deny}}]\n")).unwrap();
    for wrong in ["a#3", "a#0", "a#", "b#1"] {
        let refused =
            Scenario::parse(&format!("{twice}decisions: [{{call: '{wrong}', action: deny}}]\n")).unwrap_err();
        assert!(refused.message().starts_with("the model makes no call"), "{refused}");
    }
}
