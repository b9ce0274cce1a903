//! Brackets, and the whole grammar.

use proptest::prelude::*;
use runstate_guardrails::{Guardrail, Json, OutputFacts};
use serde::de::IgnoredAny;

use super::cutting::{at_end, cases, cut, speaks_with, text_of, whole};

const PARTS: &[&str] = &[
    "{", "}", "[", "]", "\"", "\"a\"", "\"a\": ", "\\", "\\\"", "\\\\", "\\u00e9", "\\uD8", "\\n", ":", ",",
    ", ", " ", "\n", "\t", "0", "12", "-", "1.5", ".", "e", "E+", "true", "tru", "false", "null", "n", "é",
    "日本", "x", "\u{1}", "//", "'",
];

/// Texts that are JSON for a good part.
fn nearly_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        (-1000i32..1000).prop_map(|n| n.to_string()),
        (-10.0..10.0f64).prop_map(|n| n.to_string()),
        "[a\"\\\\\n é{}]{0,6}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let value = leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(inner, 0..4).prop_map(|items| {
                let members: Vec<_> = items.iter().map(|item| format!("\"k\\u0041\" : {item}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    // One part put in somewhere, or nothing, and the end cut off, or not.
    (value, prop::sample::select(PARTS), any::<prop::sample::Index>(), 0..3u8).prop_map(
        |(text, part, place, how)| {
            let mut place = place.index(text.len() + 1);
            while !text.is_char_boundary(place) {
                place -= 1;
            }
            match how {
                0 => text,
                1 => format!("{}{part}{}", &text[..place], &text[place..]),
                _ => text[..place].to_owned(),
            }
        },
    )
}

/// The first place from which no JSON goes on: where `serde_json` says of a beginning that it is wrong rather than short. It says
/// so of a lone minus too, which a digit mends.
fn wrong_syntax(text: &str) -> Option<usize> {
    let reads = |text: &str| match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    };
    let begins = |end: usize| reads(&text[..end]) || reads(&format!("{}0", &text[..end]));
    // Each byte that JSON looks at is a character of its own.
    text.char_indices().find(|(at, c)| !begins(at + c.len_utf8())).map(|(at, _)| at)
}

/// The first bracket that closes what is not open, by taking pairs out of the text until none is left.
fn wrong_bracket(text: &str) -> Option<usize> {
    let mut open = vec![];
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if !open.is_empty() => loop {
                match chars.next()?.1 {
                    '\\' => {
                        chars.next()?;
                    }
                    '"' => break,
                    _ => {}
                }
            },
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.pop() != Some(c) => return Some(at),
            _ => {}
        }
    }
    None
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn strict_json_rule_reports_at_the_first_wrong_token(tokens in cut(prop_oneof![text_of(PARTS, 16), nearly_json()])) {
        let mut rule = Json::strict();
        speaks_with(&mut rule, &tokens, wrong_syntax);
        let text = tokens.concat();
        let parses = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert_eq!(at_end(&mut rule, &tokens).is_empty(), parses, "{:?}", text);
    }

    #[test]
    fn balanced_json_rule_reports_at_the_wrong_bracket(tokens in cut(prop_oneof![text_of(PARTS, 16), nearly_json()])) {
        let mut rule = Json::balanced();
        speaks_with(&mut rule, &tokens, wrong_bracket);
        // What is JSON is balanced, unless it is a lone string: quotes in prose begin none.
        let text = tokens.concat();
        if serde_json::from_str::<IgnoredAny>(&text).is_ok() && !text.trim_start().starts_with('"') {
            prop_assert!(at_end(&mut rule, &tokens).is_empty());
        }
    }
}

#[test]
fn unclosed_bracket_at_the_end_is_reported_with_its_place() {
    for (text, place) in
        [("[1, {\"a\": 2}", 0), ("[1, {\"a\": ", 4), ("{\"a\": \"x]}", 6), ("so [", 3), ("[\"\\\"", 1)]
    {
        assert_eq!(whole(&mut Json::balanced(), text), (None, vec![place]), "{text}");
    }
    for text in ["", "no brackets", "say \"[\"]", "[]{}", "{\"a\": [\"]\"]}"] {
        let (_, at_end) = whole(&mut Json::balanced(), text);
        assert_eq!(at_end.is_empty(), text != "say \"[\"]", "{text}");
    }
}

#[test]
fn strict_reads_the_whole_at_the_end() {
    for text in ["", " ", "[1", "{\"a\"", "\"x", "-", "1e", "tru", "[1e999]", "\"\\ud800\""] {
        let mut rule = Json::strict();
        assert_eq!(whole(&mut rule, text), (None, vec![text.len()]), "{text}");
    }
    for text in ["1", " null ", "[]", "{\"a\": [1.5e3, \"\\ud83d\\ude00\"]}\n"] {
        assert_eq!(whole(&mut Json::strict(), text), (None, vec![]), "{text}");
    }
    // What was said while streaming is said at the end again.
    assert_eq!(whole(&mut Json::strict(), "Sure! {}"), (Some(0), vec![0]));
    assert_eq!(whole(&mut Json::strict(), "{} {}"), (Some(3), vec![3]));
}

#[test]
fn both_refuse_what_nests_deeper_than_can_be_read() {
    for (bracket, end) in [("[", "]"), ("{\"a\":", "}")] {
        let readable = bracket.repeat(126) + "[]" + &end.repeat(126);
        let too_deep = bracket.repeat(127) + "[]" + &end.repeat(127);
        assert!(serde_json::from_str::<serde_json::Value>(&readable).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&too_deep).is_err());
        for mut rule in [Json::balanced(), Json::strict()] {
            assert_eq!(whole(&mut rule, &readable), (None, vec![]));
            let place = bracket.len() * 127;
            assert_eq!(whole(&mut rule, &too_deep), (Some(place), vec![place]));
            // A million of them cost no stack and no memory.
            assert_eq!(whole(&mut rule, &bracket.repeat(1_000_000)).0, Some(place));
        }
    }
}

#[test]
fn a_tool_call_without_text_need_not_be_json() {
    let mut rule = Json::strict();
    rule.streaming(" \n", " \n");
    assert!(rule.complete(" \n", &OutputFacts::default().with_tool_calls(1)).is_empty());
    assert!(rule.complete(" \n", &OutputFacts::default().with_data_parts(1)).is_empty());
    assert_eq!(rule.complete(" \n", &OutputFacts::TEXT).len(), 1);
    // With text it must.
    rule.streaming("Calling", " \nCalling");
    assert_eq!(rule.complete(" \nCalling", &OutputFacts::default().with_tool_calls(1)).len(), 1);
}
