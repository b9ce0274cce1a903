//! A token costs the same wherever in the stream it comes.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::*;

use super::cutting::{cases, cut, text_of};

fn each_rule() -> Vec<Box<dyn Guardrail>> {
    vec![
        Box::new(Json::balanced()),
        Box::new(Json::strict()),
        Box::new(Markdown::new()),
        Box::new(Latex::new()),
        Box::new(ZeroOutput::new()),
        Box::new(Patterns::builtin()),
        Box::new(Repetition::new()),
    ]
}

const PARTS: &[&str] = &[
    "{\"a\": ",
    "\"",
    "[1, ",
    "]",
    "}",
    "\\begin{a}",
    "\\end{a}",
    "```\n",
    "I can't ",
    "help with ",
    "no no no no ",
    "é",
    " ",
];

proptest! {
    #![proptest_config(cases(300))]

    /// What a rule says does not change when it is shown nothing but the token: it never reads the text again. One of patterns reads the
    /// sentence again that has one.
    #[test]
    fn no_rule_looks_back_while_the_text_streams(tokens in cut(text_of(PARTS, 24))) {
        let rules = each_rule().into_iter().zip(each_rule()).filter(|(rule, _)| rule.name() != "patterns");
        for (mut seeing, mut blind) in rules {
            let mut so_far = String::new();
            for token in &tokens {
                so_far.push_str(token);
                prop_assert_eq!(seeing.streaming(token, &so_far), blind.streaming(token, ""));
            }
        }
    }
}

/// What a thousand tokens cost at least, at the beginning and after two hundred thousand.
fn early_and_late(mut check: impl FnMut(&str), token: impl Fn(usize) -> String) -> (Duration, Duration) {
    let mut cheapest = |from: usize, to: usize| {
        let tokens: Vec<String> = (from..to).map(&token).collect();
        let time = |tokens: &[String]| {
            #[expect(clippy::disallowed_methods, reason = "measures what a check costs")]
            let began = Instant::now();
            tokens.iter().for_each(|token| check(token));
            began.elapsed()
        };
        tokens.chunks(1_000).map(time).min().unwrap_or_default()
    };
    let early = cheapest(2_000, 12_000);
    cheapest(12_000, 200_000);
    (early, cheapest(200_000, 210_000))
}

#[test]
#[ignore = "measures; by hand: cargo test --release -p runstate-guardrails --test lib flat -- --ignored --nocapture"]
fn per_token_cost_of_each_rule_is_measured() {
    let json = |at: usize| match at {
        2_000 => "[1".to_owned(),
        _ => [", {\"key\": ", "\"some text\"", ", \"n\\u00e9\":", " 12.5}"][at % 4].to_owned(),
    };
    let prose = |at: usize| {
        let number = at.wrapping_mul(0x9E37_79B9) % 9_973;
        let words = ["the ", "and so", ", it ", "## item\n", "- ", "perhaps ", "found. ", "\n"];
        format!("{}w{number}", words[at % 8])
    };
    for mut rule in each_rule() {
        let name = rule.name().to_owned();
        let check = |token: &str| drop(rule.streaming(token, token));
        let (early, late) =
            if name.starts_with("json") { early_and_late(check, json) } else { early_and_late(check, prose) };
        println!("{name}: {early:?} for a thousand tokens at first, {late:?} at last");
    }
    let mut drift = DriftDetector::new().from_confidence(2.0);
    let (early, late) = early_and_late(|token| drop(drift.token(token)), prose);
    println!("drift: {early:?} for a thousand tokens at first, {late:?} at last");
}
