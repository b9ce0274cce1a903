//! Exports with replaced texts, and records that are refused.

use super::*;

fn record<'r>(
    base: &'r Scenario,
    played: &'r Played,
    decisions: &'r BTreeMap<String, Decision>,
) -> Record<'r> {
    Record {
        base,
        state: &played.state,
        decisions,
        trace: &played.trace,
        events: &played.committed,
        live: &[],
    }
}

/// One line of a store without a tag.
#[test]
fn a_stored_number_makes_no_list_of_that_length() {
    let base = Scenario::parse("name: a\nmessage: go\nmodel: [{text: done}]\n").unwrap();
    let (played, decisions) = (play(&base, Options::default()).unwrap(), BTreeMap::new());
    let whole = record(&base, &played, &decisions);
    assert_eq!(export(&whole, "b").unwrap().scenario.name, "b");
    let mut events = played.committed.clone();
    let place =
        events.iter().position(|event| matches!(event.kind, EventKind::InferenceStarted { .. })).unwrap();
    let mut refused = |step| {
        events[place].kind = EventKind::InferenceStarted { step };
        export(&Record { events: &events, ..whole }, "b").unwrap_err()
    };
    let (at, above) = (refused(MOST_STEPS), refused(MOST_STEPS + 1));
    assert!(matches!(at, ExportError::Differs(_)), "{at}");
    assert!(matches!(above, ExportError::Steps { step } if step == MOST_STEPS + 1), "{above}");
}

#[test]
fn a_text_that_would_be_left_is_refused() {
    let said = "{text: bye ada, usage: {input_tokens: 47110815, output_tokens: 0}}";
    let base = Scenario::parse(&format!("name: a\nmessage: to Ada\nmodel: [{said}]\n")).unwrap();
    let (played, decisions) = (play(&base, Options::default()).unwrap(), BTreeMap::new());
    let exported = export(&record(&base, &played, &decisions), "b").unwrap();
    let redacted = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        exported.redacted(&texts)
    };
    assert_eq!(redacted(&["Ada", "ada"]).unwrap().scenario.message, "to redacted-1");
    assert!(matches!(redacted(&["Ada"]), Err(ExportError::Left { number: 1 })), "another case is left");
    assert!(
        matches!(redacted(&["none", "4711081"]), Err(ExportError::Left { number: 2 })),
        "a part of a number"
    );
    assert!(matches!(redacted(&["ada", "dacted"]), Err(ExportError::Word { number: 2, .. })));
}

#[test]
fn a_text_with_escapes_in_another_case_is_refused() {
    let base = "name: a\nmessage: \"key\\nABC\\\\DEF\"\nmodel: [{text: \"Key\\nabc\\\\def\"}]\n";
    let base = Scenario::parse(base).unwrap();
    let (played, decisions) = (play(&base, Options::default()).unwrap(), BTreeMap::new());
    let exported = export(&record(&base, &played, &decisions), "b").unwrap();
    let texts = ["key\nABC\\DEF".to_owned(), "Key\nabc\\def".to_owned()];
    assert!(matches!(exported.redacted(&texts[..1]), Err(ExportError::Left { number: 1 })));
    assert_eq!(exported.redacted(&texts).unwrap().scenario.message, "redacted-1");
}

#[test]
fn a_text_in_json_in_a_string_is_replaced() {
    let text = "KEY\nO\"Brien caf\u{e9}".to_owned();
    let once = serde_json::json!({"body": text}).to_string();
    let twice = serde_json::json!({"body": once}).to_string();
    let ascii = "KEY\\nO\\\"Brien caf\\u00e9";
    let said = format!("{once} {twice} {ascii}");
    let base = format!("name: a\nmessage: {}\nmodel: [{{text: done}}]\n", serde_json::json!(said));
    let base = Scenario::parse(&base).unwrap();
    let (played, decisions) = (play(&base, Options::default()).unwrap(), BTreeMap::new());
    let exported = export(&record(&base, &played, &decisions), "b").unwrap();
    let redacted = exported.redacted(&[text]).unwrap().scenario.message;
    assert_eq!(redacted.matches("redacted-1").count(), 3, "{redacted}");
    assert!(!redacted.contains("KEY") && !redacted.contains("Brien"), "{redacted}");
}

#[test]
fn digits_of_a_digest_are_no_text_of_the_run() {
    assert!(!redact::shows(&format!("digest: sha256:{}ada0 done", "0".repeat(60)), "ada"));
    assert!(redact::shows("ada sha256:ada of Ada", "ada"));
}

#[test]
fn a_short_number_is_replaced_in_each_of_its_forms() {
    let call = "{id: c, tool: pay, arguments: {a: 123, b: -123, c: 1.23e2, d: \"n 123\", e: 1234}}";
    let base =
        format!("name: a\nmessage: go\ntools: {{pay: {{}}}}\nmodel: [{{calls: [{call}]}}, {{text: done}}]\n");
    let base = Scenario::parse(&base).unwrap();
    let (played, decisions) = (play(&base, Options::default()).unwrap(), BTreeMap::new());
    let exported = export(&record(&base, &played, &decisions), "b").unwrap();
    let redacted = exported.redacted(&["123".to_owned()]).unwrap();
    let expected = serde_json::json!({
        "a": "redacted-1", "b": "redacted-1", "c": "redacted-1", "d": "n redacted-1", "e": 1234,
    });
    assert_eq!(redacted.scenario.model[0].calls[0].arguments, *expected.as_object().unwrap());
}
