//! Several rules as one.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use runstate_guardrails::*;

use super::cutting::{cases, cut, text_of};

fn rules() -> Rules {
    Rules::new()
        .with(Json::balanced())
        .with(ZeroOutput::new())
        .with(Patterns::builtin())
        .with(Latex::new())
        .with(Markdown::new())
}

fn names(said: &[Violation]) -> Vec<&str> {
    said.iter().map(|violation| violation.rule.as_str()).collect()
}

#[test]
fn rules_speak_in_their_order_and_each_has_a_result() {
    let mut rules = rules();
    assert_eq!(rules.names().collect::<Vec<_>>(), ["json", "zero-output", "patterns", "latex", "markdown"]);
    let text = "[INST] } \\end{x}\n```";
    let said = rules.streaming(text, text);
    assert_eq!(names(&said), ["json", "patterns", "latex"]);
    assert!(rules.streaming("", text).is_empty(), "each speaks once");

    let results = rules.complete(text, &OutputFacts::TEXT);
    assert_eq!(
        results.iter().map(|result| result.rule.as_str()).collect::<Vec<_>>(),
        rules.names().collect::<Vec<_>>()
    );
    assert_eq!(results.iter().map(RuleResult::passed).collect::<Vec<_>>(), [false, true, true, false, false]);
    // What was said while streaming is in the result, and is not fresh.
    assert_eq!(results.iter().map(|result| result.fresh().len()).collect::<Vec<_>>(), [0, 0, 0, 0, 1]);
    assert_eq!(results[0].violations, said[..1]);

    rules.reset();
    assert!(rules.complete("", &OutputFacts::default().with_tool_calls(1)).iter().all(RuleResult::passed));
}

#[test]
fn rule_with_only_warnings_passes() {
    let told = Custom::new("told").at_end(|_, _| vec![Violation::warning("told", "so-so")]);
    let failed = Custom::new("failed").at_end(|_, _| {
        vec![Violation::warning("failed", "so-so"), Violation::error("failed", "no").unrecoverable()]
    });
    let results = Rules::new().with(told).with(failed).complete("", &OutputFacts::TEXT);
    assert_eq!((results[0].passed(), results[0].worst()), (true, Some(Severity::Warning)));
    assert_eq!((results[1].passed(), results[1].worst()), (false, Some(Severity::Error)));
    assert!(!results[1].violations[1].recoverable);
    assert_eq!(results[1].fresh().len(), 2);
}

#[test]
fn checkpoint_is_checked_against_rules_before_continuation() {
    let mut rules = rules();
    assert!(rules.resume("[1, ").is_empty(), "an open bracket may still be closed");
    assert!(rules.streaming("2]", "[1, 2]").is_empty());
    assert_eq!(rules.resume("[1}"), [Violation::error("json", "'}' closes the '[' that is open").at(2)]);
    // What the checkpoint has open is known.
    rules.resume("[1, ");
    assert_eq!(names(&rules.streaming("}", "[1, }")), ["json"]);
    rules.reset();
    assert_eq!(rules.streaming("}", "}")[0].at, Some(0), "and forgotten");
}

#[test]
fn asked_at_every_third_token_rules_get_all_the_text() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let rule = Custom::new("noting").while_streaming(move |delta, so_far| {
        note.lock().unwrap().push((delta.to_owned(), so_far.to_owned()));
        None
    });
    let mut rules = Rules::new().with(rule).every(NonZeroU32::new(3).unwrap());
    let mut so_far = String::new();
    for token in ["a", "é", "", "b", "c"] {
        so_far.push_str(token);
        rules.streaming(token, &so_far);
    }
    rules.complete(&so_far, &OutputFacts::TEXT);
    let pair = |delta: &str, so_far: &str| (delta.to_owned(), so_far.to_owned());
    assert_eq!(*seen.lock().unwrap(), [pair("aé", "aé"), pair("bc", "aébc")]);
}

const PARTS: &[&str] =
    &["{", "}", "[INST]", " ", "\\begin{a}", "\\end{a}", "```\n", "x", "as an AI model", "\""];

proptest! {
    #![proptest_config(cases(500))]

    /// Asked seldom, rules say the same in the end, late at most by the tokens between.
    #[test]
    fn asked_seldom_rules_come_to_the_same(tokens in cut(text_of(PARTS, 12)), every in 1..6u32) {
        let every = NonZeroU32::new(every).unwrap();
        let (mut each, mut seldom) = (rules(), rules().every(every));
        let mut so_far = String::new();
        let mut due: Vec<(usize, Violation)> = vec![];
        let mut came: Vec<(usize, Violation)> = vec![];
        for (at, token) in tokens.iter().enumerate() {
            so_far.push_str(token);
            due.extend(each.streaming(token, &so_far).into_iter().map(|said| (at, said)));
            came.extend(seldom.streaming(token, &so_far).into_iter().map(|said| (at, said)));
        }
        for (at, said) in &came {
            let first = due.iter().find(|(_, other)| other.rule == said.rule).unwrap();
            prop_assert!(first.0 <= *at && (said.rule == "patterns" || *at < first.0 + every.get() as usize));
        }
        let (each, seldom) = (each.complete(&so_far, &OutputFacts::TEXT), seldom.complete(&so_far, &OutputFacts::TEXT));
        for (each, seldom) in each.iter().zip(&seldom) {
            prop_assert_eq!(&each.violations, &seldom.violations);
        }
        // Nothing is told twice, nothing is kept back.
        for result in &seldom {
            let told = came.iter().filter(|(_, said)| said.rule == result.rule).count();
            prop_assert_eq!(told + result.fresh().len(), result.violations.len());
        }
    }
}
