//! Values read from a model's text.

mod sloppy;

use proptest::prelude::*;
use runstate::stream::structured::{Repair, StructuredError, read, repair};
use serde_json::{Value, json};

use super::cutting::{cases, text_of};

const PARTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "```",
    "```json\n",
    "\u{201C}",
    "\u{201D}",
    "\\",
    "\\u",
    "\\ud83d",
    "\\'",
    ":",
    ",",
    "...",
    " ",
    "\n",
    "\t",
    "a",
    "key",
    "12",
    "-",
    ".",
    "1e",
    "0x1F",
    "007",
    "1e999",
    "true",
    "True",
    "Non",
    "NaN",
    "//",
    "/*",
    "*/",
    "#",
    "é",
    "日",
    "\u{0}",
    "=",
    "=>",
    ";",
    "(",
    "+",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        "[a-z,:{}\\[\\]\"'\\\\\n/#é日🙂 ]{0,10}".prop_map(Value::from),
        "[a-zA-Z ]{1,10}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,6}|[a-z \"':,]{0,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn container() -> impl Strategy<Value = Value> {
    value().prop_map(|value| if value.is_array() || value.is_object() { value } else { json!([value]) })
}

/// Is it what `whole` is, with its end cut off? What is cut within itself may be shorter, and the last value may be null.
fn begins(cut: &Value, whole: &Value) -> bool {
    match (cut, whole) {
        (Value::Null, _) => true,
        (Value::Array(cut), Value::Array(whole)) => {
            cut.len() <= whole.len()
                && cut
                    .iter()
                    .zip(whole)
                    .enumerate()
                    .all(|(at, (item, of))| if at + 1 < cut.len() { item == of } else { begins(item, of) })
        }
        (Value::Object(cut), Value::Object(whole)) => {
            cut.iter().all(|(key, value)| whole.get(key).is_some_and(|of| begins(value, of)))
                && cut.iter().filter(|(key, value)| whole[*key] != **value).count() <= 1
        }
        (Value::String(cut), Value::String(whole)) => whole.starts_with(cut.as_str()),
        (Value::Number(_), Value::Number(_)) => true,
        _ => cut == whole,
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn json_stays_as_it_is(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let read = read::<Value>(&text).unwrap();
        prop_assert_eq!((&read.value, read.repairs.len()), (&value, 0));
        let repaired = repair(&text).unwrap();
        prop_assert_eq!((&repaired.json, repaired.repairs.len()), (&text, 0));
    }

    /// Whatever comes: no panic, and what comes out is JSON, which repairing again does not change.
    #[test]
    fn what_is_repaired_is_json(text in prop_oneof![text_of(PARTS, 24), any::<String>()]) {
        if let Ok(repaired) = repair(&text) {
            let value: Value = serde_json::from_str(&repaired.json).unwrap();
            prop_assert_eq!(repair(&repaired.json).unwrap().json, repaired.json);
            prop_assert_eq!(read::<Value>(&text).unwrap().value, value);
        } else {
            prop_assert!(read::<Value>(&text).is_err());
        }
    }

    #[test]
    fn what_is_cut_off_keeps_what_came_before(value in container(), place in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        let cut = &text[..ends[place.index(ends.len())]];
        let read = read::<Value>(cut).unwrap();
        prop_assert!(begins(&read.value, &value), "{} became {}", cut, read.json);
        prop_assert_eq!(read.repairs.contains(&Repair::UnclosedBracket), cut.len() < text.len());
    }

    /// A value written with the usual mistakes, all of which can be undone, is read as it was meant.
    #[test]
    fn the_usual_mistakes_are_undone(value in container(), seed in any::<u64>()) {
        let text = sloppy::write(&value, seed);
        match read::<Value>(&text) {
            Ok(read) => prop_assert_eq!(&read.value, &value, "{} became {}", text, read.json),
            Err(error) => prop_assert!(false, "{}: {}", text, error),
        }
    }
}

#[test]
fn each_mistake_is_repaired_and_named() {
    use Repair::*;
    let cases: &[(&str, &str, &[Repair])] = &[
        ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#, &[Fence]),
        ("```\n[1]", "[1]", &[Fence]),
        ("Here: {\"a\": 1} and so on", r#"{"a":1}"#, &[Prose]),
        ("{\"a\": 1, // one\n /* two */ \"b\": 2 # three\n}", r#"{"a":1,"b":2}"#, &[Comment]),
        ("[1, 2,]", "[1,2]", &[ExtraComma]),
        ("[,1,, 2]", "[1,2]", &[ExtraComma]),
        ("[1 2 \"a\" \"b\"]", r#"[1,2,"a","b"]"#, &[MissingComma]),
        ("{\"a\": 1 \"b\": 2}", r#"{"a":1,"b":2}"#, &[MissingComma]),
        ("{\"a\": \"x\"\n\"b\": 2}", r#"{"a":"x","b":2}"#, &[MissingComma]),
        ("{\"a\" 1, \"b\" = 2, \"c\" => 3}", r#"{"a":1,"b":2,"c":3}"#, &[MissingColon]),
        ("{\"a\":, \"b\"}", r#"{"a":null,"b":null}"#, &[MissingValue]),
        ("{\"a\": [1, 2}", r#"{"a":[1,2]}"#, &[UnclosedBracket]),
        ("{\"a\": {\"b\": [1", r#"{"a":{"b":[1]}}"#, &[UnclosedBracket]),
        ("[1}, 2]", "[1,2]", &[ExtraBracket]),
        ("{'a': \u{201C}b\u{201D}, `c`: 'it\\'s'}", r#"{"a":"b","c":"it's"}"#, &[Quotes, Escape]),
        ("{a: 1, b_c: 2, 3: 4}", r#"{"a":1,"b_c":2,"3":4}"#, &[UnquotedKey]),
        ("{\"a\": so it is, \"b\": 2024-01-02}", r#"{"a":"so it is","b":"2024-01-02"}"#, &[UnquotedText]),
        ("{\"a\": \"so it", r#"{"a":"so it"}"#, &[UnclosedBracket, UnclosedString]),
        ("{\"a\": \"he said \"hi\" to me\"}", r#"{"a":"he said \"hi\" to me"}"#, &[InnerQuote]),
        ("{'a': 'it's fine'}", r#"{"a":"it's fine"}"#, &[Quotes, InnerQuote]),
        ("{\"a\": \"x\ny\tz\u{1}\"}", r#"{"a":"x\ny\tz\u0001"}"#, &[ControlCharacter]),
        (r#"["\ud83d\u0041", "\udc00x",]"#, r#"["�\u0041","�x"]"#, &[ExtraComma, Escape]),
        (r#"{"a": "\d \x", "b": "\ud83d!", "c": "\u12"}"#, r#"{"a":"\\d \\x","b":"�!","c":"�"}"#, &[Escape]),
        (
            "{\"a\": \"\\ud83d\\ude00\", b: \"\\u00E9\"}",
            r#"{"a":"\ud83d\ude00","b":"\u00e9"}"#,
            &[UnquotedKey],
        ),
        ("[True, FALSE, None, undefined, NaN, -Infinity]", "[true,false,null,null,null,null]", &[Literal]),
        ("[.5, +1, 2., 1e999]", "[0.5,1,2,null]", &[Number]),
        ("[007, 0x1F, 1_000, 1.2.3]", r#"["007","0x1F","1_000","1.2.3"]"#, &[UnquotedText]),
        ("[1, 2, ...]", "[1,2]", &[ExtraComma, Fragment]),
        ("{\"a\": 1, \"b", r#"{"a":1}"#, &[UnclosedBracket, UnclosedString, Fragment]),
        ("{\"a\": tr", r#"{"a":true}"#, &[UnclosedBracket, Literal]),
        ("{\"a\": 12.", r#"{"a":12}"#, &[UnclosedBracket, Number]),
        ("```json\n{\"a\": [1, 2\n```\nHope it helps!", r#"{"a":[1,2]}"#, &[Fence, Prose, UnclosedBracket]),
        ("```json\n{\"a\": \"x y\n```\n", r#"{"a":"x y"}"#, &[Fence, UnclosedBracket, UnclosedString]),
        ("```\nTrue\n```", "true", &[Fence, Literal]),
        ("'a b'", r#""a b""#, &[Quotes]),
    ];
    for (text, json, repairs) in cases {
        let repaired = repair(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(repaired.json, *json, "{text}");
        assert_eq!(repaired.repairs, *repairs, "{text}");
    }
}

#[test]
fn of_several_parts_the_one_that_fits_is_taken() {
    #[derive(serde::Deserialize)]
    struct Answer {
        answer: u32,
    }
    for text in [
        "As shown in [1], put {x} in: {\"answer\": 42}",
        "[see below: {\"answer\": 42}",
        "{\"question\": 6} {\"answer\": 42,} {\"question\": 7}",
        "```json\n{\"question\": 6}\n```\nand\n```json\n{\"answer\": 42}\n```",
    ] {
        assert_eq!(read::<Answer>(text).unwrap_or_else(|error| panic!("{text}: {error}")).value.answer, 42);
    }
    // What needs no repair comes first, then what is longer.
    assert_eq!(repair("{x} and [1] and [1, 2] and {a: [1, 2, 3, 4]}").unwrap().json, "[1,2]");
}

#[test]
fn what_does_not_fit_says_what_does_not() {
    #[derive(Debug, serde::Deserialize)]
    struct Answer {
        #[expect(dead_code, reason = "its type is what matters")]
        answer: u32,
    }
    let error = read::<Answer>("{'answer': 'much'}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the JSON in the output is not what was asked for: invalid type: string \"much\", expected u32 at line 1 column 16 (after \
         repairs: quotes)",
    );
    let error = read::<Answer>(r#"{"answer": -1}"#).unwrap_err();
    assert!(matches!(error, StructuredError::Mismatch { ref repairs, .. } if repairs.is_empty()), "{error}");
    let error = read::<Answer>("I'm sorry, but I can't help you with that at all, not today.").unwrap_err();
    let text = "there is no JSON in the output, which begins \"I'm sorry, but I can't help you with tha…\"";
    assert_eq!(error.to_string(), text);
    for text in ["", "  ", "```json\n```", "so", "True enough", "a, b"] {
        assert!(matches!(read::<Value>(text), Err(StructuredError::NoJson { .. })), "{text}");
    }
}

#[test]
fn hostile_text_takes_neither_stack_nor_much_time() {
    let deep = "[".repeat(126) + "{a:1}" + &"]".repeat(126);
    assert!(serde_json::from_str::<Value>(&repair(&deep).unwrap().json).is_ok());
    for (open, levels) in [("[", 1_000_000), ("{\"a\":", 200_000), ("{'a':[", 200_000)] {
        let error = read::<Value>(&open.repeat(levels)).unwrap_err();
        assert!(matches!(error, StructuredError::TooDeep { .. }), "{error}");
    }
    // Each of these would take hours if a part of the text were read again for each character of another.
    let units = [
        "{\"", "\"a\" ", "a\" ", "'", "' \"", "\\", "\\u", "/*", "//", "\n", "\n ", " ", ",", ":", "a", "a:",
        "0", "-", ".", "```\n", "] ", "é", "tr",
    ];
    for unit in units {
        for before in ["[", "{\"a\": ", "[\"", "{a"] {
            let text = format!("{before}{}", unit.repeat(30_000 / unit.len()));
            if let Ok(repaired) = repair(&text) {
                assert!(serde_json::from_str::<Value>(&repaired.json).is_ok());
            }
        }
    }
}
