//! Texts at the limits of the reader, and one above them.

use runstate_scenario::{Scenario, from_yaml};
use serde_json::Value;

fn refused(text: &str) -> String {
    from_yaml::<Value>(text).unwrap_err().to_string()
}

#[test]
fn values_nest_64_levels_and_no_more() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    from_yaml::<Value>(&nested(64)).unwrap();
    assert!(refused(&nested(65)).contains("values nest deeper than 64 levels"), "{}", refused(&nested(65)));
}

#[test]
fn a_text_has_100_anchors_and_no_more() {
    let anchors = |count: usize| (0..count).map(|number| format!("- &a{number} x\n")).collect::<String>();
    from_yaml::<Value>(&anchors(100)).unwrap();
    assert!(
        refused(&anchors(101)).contains("it has 101 anchors: expected at most 100"),
        "{}",
        refused(&anchors(101))
    );
}

#[test]
fn a_text_has_100_aliases_and_no_more() {
    let aliases = |count: usize| format!("- &a x\n{}", "- *a\n".repeat(count));
    from_yaml::<Value>(&aliases(100)).unwrap();
    assert!(
        refused(&aliases(101)).contains("it has 101 aliases: expected at most 100"),
        "{}",
        refused(&aliases(101))
    );
}

#[test]
fn a_text_has_200_000_values_and_no_more() {
    // The list is a value too.
    let values = |count: usize| "- 1\n".repeat(count - 1);
    from_yaml::<Value>(&values(200_000)).unwrap();
    let told = refused(&values(200_001));
    assert!(told.contains("it has more than 200000 values: split it"), "{told}");
}

#[test]
fn aliases_stand_for_10_000_events_and_no_more() {
    // A list is two events, and each value in it one.
    let list = |events: usize| format!("[{}]", vec!["1"; events - 2].join(","));
    let text =
        |last: usize| format!("- &a {}\n- &b {}\n{}- *b\n", list(100), list(last), "- *a\n".repeat(99));
    from_yaml::<Value>(&text(100)).unwrap();
    let told = refused(&text(101));
    assert!(told.contains("stand for more than 10000 events") && told.contains("write out"), "{told}");
}

#[test]
fn an_alias_within_its_own_value_is_refused() {
    let told = refused("a: &a [*a]\n");
    assert!(told.contains("a part of: write out the aliases"), "{told}");
}

#[test]
fn a_turn_has_10_000_calls_and_no_more() {
    let text = |calls: usize| {
        let calls: String = (0..calls).map(|number| format!("{{id: c{number}, tool: t}},")).collect();
        format!("name: a\nmessage: go\nmodel: [{{calls: [{calls}]}}, {{text: done}}]\ntools: {{t: {{}}}}\n")
    };
    Scenario::parse(&text(10_000)).unwrap();
    let told = Scenario::parse(&text(10_001)).unwrap_err().to_string();
    assert!(told.contains("expected at most 10000 calls in a turn, got 10001"), "{told}");
}

/// Each alias stands for ten of the one before it.
#[test]
fn aliases_of_aliases_are_refused() {
    let mut text = "a: &a0 [x]\n".to_owned();
    for level in 1..9 {
        let previous = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("b{level}: &a{level} [{previous}]\n"));
    }
    let told = refused(&text);
    assert!(!told.contains('{'), "{told}");
    Scenario::parse(&text).unwrap_err();
}

#[test]
fn question_expiry_is_limited_to_1e15_milliseconds() {
    let read = |ms: u64| {
        Scenario::parse(&format!(
            "name: s\nmessage: go\ntools: {{pay: {{}}}}\nplugins: [{{ask: {{tool: pay, ticket: {{message: pay, expires_after_ms: {ms}}}}}}}]\nmodel: [{{text: done}}]\n"
        ))
    };
    read(1_000_000_000_000_000).unwrap();
    let refused = read(1_000_000_000_000_001).unwrap_err().to_string();
    assert!(
        refused.contains("expected at most 1000000000000000 milliseconds, got 1000000000000001"),
        "{refused}"
    );
}
