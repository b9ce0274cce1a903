//! Regular expressions, held against a search of the whole text after every token.

use proptest::prelude::*;
use regex::Regex;
use runstate_guardrails::{Forbidden, ForbiddenError, Guardrail, Severity};

use super::cutting::{at_end, cases, cut, speaks_with, text_of, whole};

const PARTS: &[&str] = &["a", "b", "ab", "A", " ", "\n", "é", "日本", "12", "3", ".", "-", "x", "aaa"];

const BOUNDED: &[&str] = &[
    "ab{2,4}",
    r"\bab\b",
    r"\d{2}-\d{1,3}",
    "(?i)AB.x",
    r"\Bb",
    r"ab\B",
    "a$",
    "(?m)^b",
    "(?s)a.b",
    "日.",
    r"\w{3}\W",
    "x|^$",
    "(?-u:a)é?",
    "^a",
];

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn forbidden_pattern_is_reported_at_its_completing_token(
        tokens in cut(text_of(PARTS, 16)), expression in prop::sample::select(BOUNDED)
    ) {
        let regex = Regex::new(expression).unwrap();
        let mut rule = Forbidden::new("no", expression).unwrap();
        let first = |text: &str| regex.find(text).map(|found| found.start());
        speaks_with(&mut rule, &tokens, first);
        let mut told = tokens.iter().scan(String::new(), |text, token| {
            text.push_str(token);
            Some(first(text))
        });
        // What was said while streaming is said again, even where more text has unmade the match.
        let expected = told.find_map(|found| found).or(first(&tokens.concat()));
        prop_assert_eq!(at_end(&mut rule, &tokens), Vec::from_iter(expected));
    }
}

#[test]
fn matches_of_any_length_say_how_far_to_look_back() {
    let error = Forbidden::new("no", "ab*").unwrap_err();
    assert!(matches!(error, ForbiddenError::Unbounded { .. }));
    assert!(error.to_string().contains("Forbidden::within"), "{error}");
    assert!(matches!(Forbidden::new("no", "a{5000}"), Err(ForbiddenError::Unbounded { .. })));
    assert!(matches!(Forbidden::new("no", "a("), Err(ForbiddenError::Syntax(_))));
    assert!(matches!(Forbidden::within("no", "a(", 1), Err(ForbiddenError::Syntax(_))));

    for every in ["a|", "b{0,3}", "$", ""] {
        let error = Forbidden::new("no", every).unwrap_err();
        assert!(matches!(error, ForbiddenError::MatchesAll { .. }), "{every}");
        assert!(error.to_string().contains("and so every text; leave out the empty alternative"), "{error}");
    }
    assert!(matches!(Forbidden::within("no", "a*", 9), Err(ForbiddenError::MatchesAll { .. })));

    let mut rule = Forbidden::within("no", "<b>.*</b>", 10).unwrap().severity(Severity::Fatal);
    assert_eq!(whole(&mut rule, "<b>1</b>"), (Some(0), vec![0]));
    rule.reset();
    let mut so_far = String::new();
    for token in ["<b>", "a long ", "text", "</b>"] {
        so_far.push_str(token);
        assert_eq!(rule.streaming(token, &so_far), None, "longer than is looked back");
    }
    assert_eq!(at_end(&mut rule, &[so_far]), [0], "the end shows it");
}
