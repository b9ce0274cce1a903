//! Values read from a model's text.

mod corpus;
mod sloppy;

use proptest::prelude::*;
use runstate_guardrails::structured::{Repair, StructuredError, read, repair};
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

/// Is it the beginning of `whole`, with no item changed and no key without its value?
fn begins(cut: &Value, whole: &Value) -> bool {
    match (cut, whole) {
        (Value::Array(cut), Value::Array(whole)) => {
            cut.len() <= whole.len() && cut.iter().zip(whole).all(|(item, of)| begins(item, of))
        }
        (Value::Object(cut), Value::Object(whole)) => {
            cut.iter().all(|(key, value)| whole.get(key).is_some_and(|of| begins(value, of)))
        }
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
    fn repaired_output_is_json_and_repairs_to_itself(text in prop_oneof![text_of(PARTS, 24), any::<String>()]) {
        if let Ok(repaired) = repair(&text) {
            let value: Value = serde_json::from_str(&repaired.json).unwrap();
            prop_assert_eq!(repair(&repaired.json).unwrap().json, repaired.json);
            prop_assert_eq!(read::<Value>(&text).unwrap().value, value);
        } else {
            prop_assert!(read::<Value>(&text).is_err());
        }
    }

    /// The end of a text is missing: the rest is read, or nothing.
    #[test]
    fn a_cut_value_keeps_its_whole_parts_or_is_refused(value in container(), place in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        let cut = &text[..ends[place.index(ends.len())]];
        match read::<Value>(cut) {
            Ok(read) => {
                prop_assert!(begins(&read.value, &value), "{} became {}", cut, read.json);
                prop_assert_eq!(read.repairs.contains(&Repair::UnclosedBracket), cut.len() < text.len());
            }
            Err(StructuredError::Damaged { at, .. }) => prop_assert!(at <= cut.len() && cut.len() < text.len()),
            // The one bracket that is left may be prose.
            Err(StructuredError::NoJson { .. }) => prop_assert!(cut.trim_end_matches(['{', '[', '}', ']']).is_empty(), "{}", cut),
            Err(error) => prop_assert!(false, "{}: {}", cut, error),
        }
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
        ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#, &[]),
        ("```\n[1]", "[1]", &[]),
        ("Here: {\"a\": 1} and so on", r#"{"a":1}"#, &[]),
        ("{\"a\": 1, // one\n /* two */ \"b\": 2 # three\n}", r#"{"a":1,"b":2}"#, &[Comment]),
        ("[1, 2,]", "[1,2]", &[ExtraComma]),
        ("{,\"a\": 1,, \"b\": 2}", r#"{"a":1,"b":2}"#, &[ExtraComma]),
        ("[[1] [2] {\"a\": 1 \"b\": 2}]", r#"[[1],[2],{"a":1,"b":2}]"#, &[MissingComma]),
        ("{\"a\": \"x\"\n\"b\": 2; \"c\": 3}", r#"{"a":"x","b":2,"c":3}"#, &[MissingComma]),
        ("{\"a\" 1, \"b\" = 2, \"c\" => 3}", r#"{"a":1,"b":2,"c":3}"#, &[MissingColon]),
        ("{\"a\": [1, 2}", r#"{"a":[1,2]}"#, &[UnclosedBracket]),
        ("{\"a\": {\"b\": [1,", r#"{"a":{"b":[1]}}"#, &[ExtraComma, UnclosedBracket]),
        ("\"a\": 1, \"b\": [{}]}", r#"{"a":1,"b":[{}]}"#, &[UnclosedBracket]),
        ("[1}, 2]", "[1,2]", &[ExtraBracket]),
        ("{{'a': 1}}", r#"{"a":1}"#, &[ExtraBracket, Quotes]),
        ("{'a': \u{201C}b\u{201D}, `c`: 'it\\'s'}", r#"{"a":"b","c":"it's"}"#, &[Quotes, Escape]),
        ("{'a': \"\"\"b \"c\"\nd\"\"\"}", r#"{"a":"b \"c\"\nd"}"#, &[Quotes]),
        ("{a: 1, b_c: 2, 3: 4}", r#"{"a":1,"b_c":2,"3":4}"#, &[UnquotedKey]),
        ("{\"b\": 2024-01-02, \"c\": [1.2.3]}", r#"{"b":"2024-01-02","c":["1.2.3"]}"#, &[UnquotedText]),
        ("{\"a\": \"he said \"hi\" to me\"}", r#"{"a":"he said \"hi\" to me"}"#, &[InnerQuote]),
        ("{'a': 'it's fine'}", r#"{"a":"it's fine"}"#, &[Quotes, InnerQuote]),
        ("{\"a\": \"x\ny\tz\u{1}\"}", r#"{"a":"x\ny\tz\u0001"}"#, &[ControlCharacter]),
        (r#"{"a": "\d \w"}"#, r#"{"a":"\\d \\w"}"#, &[Escape]),
        (r#"{\"a\": [1, \"x\"]}"#, r#"{"a":[1,"x"]}"#, &[Escape]),
        (
            "{\"a\": \"\\ud83d\\ude00\", b: \"\\u00E9\"}",
            r#"{"a":"\ud83d\ude00","b":"\u00e9"}"#,
            &[UnquotedKey],
        ),
        ("[True, FALSE, None]", "[true,false,null]", &[Literal]),
        ("[.5, +1, 2., -0]", "[0.5,1,2,-0]", &[Number]),
        ("{\"a\": 1, \"b", r#"{"a":1}"#, &[UnclosedBracket, Fragment]),
        ("{\"a\": tr", r#"{"a":true}"#, &[UnclosedBracket, Literal]),
        ("```json\n{\"a\": [1, 2\n```\nHope it helps!", r#"{"a":[1,2]}"#, &[UnclosedBracket]),
        ("```\nTrue\n```", "true", &[Literal]),
        ("'a b'", r#""a b""#, &[Quotes]),
    ];
    for (text, json, repairs) in cases {
        let repaired = repair(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(repaired.json, *json, "{text}");
        assert_eq!(repaired.repairs, *repairs, "{text}");
    }
}

#[test]
fn the_last_that_fits_is_taken() {
    #[derive(serde::Deserialize)]
    struct Answer {
        answer: u32,
    }
    for text in [
        "As shown in [1], put {x} in: {\"answer\": 42}",
        "[see below: {\"answer\": 42}",
        "{\"question\": 6} is the question. The answer: {\"answer\": 42,}",
        "{\"answer\": 42} of these: [\"a\", \"b\"]",
        "```json\n{\"question\": 6}\n```\nand\n```json\n{\"answer\": 42}\n```",
        "{\"answer\": 1}\n```\n{\"answer\": 42}\n```\nnot {\"answer\": 2}",
    ] {
        assert_eq!(read::<Answer>(text).unwrap_or_else(|error| panic!("{text}: {error}")).value.answer, 42);
    }
    // A draft that fits is no better than an answer that does not.
    let draft = "A draft: {\"answer\": 1}\nThe answer: {\"answer\": \"two\"}";
    assert!(matches!(read::<Answer>(draft), Err(StructuredError::Mismatch { .. })));
    // Of values in sentences or in a list, the last is no more an answer than the first.
    for several in [
        "It is {\"answer\": 1}. The naive one was {\"answer\": 2}.",
        "- one: {\"answer\": 1}\n- two: {\"answer\": 2}",
    ] {
        assert!(matches!(read::<Answer>(several), Err(StructuredError::Several { .. })), "{several}");
    }
    let damaged = "A draft: {\"answer\": 1}\n```json\n{\"answer\": }\n```";
    let error = read::<Answer>(damaged).err().unwrap().to_string();
    assert_eq!(error, "the JSON in the output is damaged at byte 42: the value of a key is missing");
}

#[test]
fn a_part_of_a_damaged_value_is_no_answer() {
    for text in [
        r#"{"a": {"b": 1}}, "c": 2}"#,
        "[1, 2], 3]",
        r#"{"a"=1"#,
        r#"{"payload":"{"city":"Rome"}","city":"Oslo"}"#,
        r#"{"a":"x,"b":"y"}"#,
        r#"["a","b,"c"]"#,
        r#"["known as "foo", "bar""]"#,
        "{\"issues\": [\n #12,\n #13\n]}",
        r#"{"u": https://x.org/a;b=1}"#,
        r#"{"u": https://x.org/Foo_(bar), "b": 1}"#,
        r#"{"a": 10.5-3.25}"#,
        r#"{"a": 100-20-5}"#,
        r#"{"a": 1.234.567}"#,
        r#"{"a": (1)}"#,
        r#"{\"a\": [1, 2}, {\"b\": 3]}"#,
    ] {
        assert!(read::<Value>(text).is_err(), "{text}: {:?}", read::<Value>(text));
    }
}

/// A stream that was cut, a bracket that closes too early, a list in another script.
#[test]
fn a_value_with_a_lost_part_is_refused() {
    let long = "x".repeat(130);
    for text in [
        "{\"name\": \"Bo\"},\n\"address\": {\"city\": \"Oslo\"}}".to_owned(),
        "{\"name\": \"Bo\"}\n\"address\": {\"city\": \"Oslo\"}}".to_owned(),
        "{\"a\": 1}\n\"b\": 2}".to_owned(),
        format!("{{\"a\": 1}}, \"b\": \"{long}\"}}"),
        format!("```json\n{{\"a\": {{\"x\": 1}}}},\n\"text\": \"{long}\",\n\"n\": 3}}\n```"),
        "{\"item\": \"tv\", \"price\": 1,299".to_owned(),
        "[\"苹果\"、\"香蕉\"、\"梨\"]".to_owned(),
        "{\"score\": .}".to_owned(),
        "[1, ., 3]".to_owned(),
        "{\"n\": +-1}".to_owned(),
        "{\"".to_owned(),
        "[{\"name".to_owned(),
    ] {
        assert!(read::<Value>(&text).is_err(), "{text}: {:?}", read::<Value>(&text));
    }
    let shape = read::<Value>("Shape: {\"name\": <string>}\n\n{\"name\":\"Bo\"}");
    assert!(matches!(shape, Err(StructuredError::Damaged { .. })), "{shape:?}");
    let quoted = read::<Value>("[\"Use \"[0]\" to index\"]").unwrap();
    assert_eq!(quoted.value[0], "Use \"[0]\" to index");
    let told = read::<Value>("{\"a\": 1}\n\n\"a\": the count.").unwrap();
    assert_eq!(told.json, "{\"a\":1}");
}

#[test]
fn thinking_is_known_by_any_of_its_tags() {
    let tags = [
        ("<THINK>", "</THINK>"),
        ("<Think>", "</think>"),
        ("<think time=\"3\">", "</think>"),
        ("<scratchpad>", "</scratchpad>"),
        ("<antThinking>", "</antThinking>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
    ];
    for (open, close) in tags {
        let text = format!("{open}\n```json\n{{\"a\":0}}\n```\n{close}\n\n{{\"a\":1}}");
        assert_eq!(read::<Value>(&text).unwrap().json, "{\"a\":1}", "{text}");
    }
    // No tags, or tags of another thing.
    for text in ["[thinker] {\"a\":1}", "<thinker>\n{\"a\":1}", "[think]\n{\"a\":1}", "a < b: {\"a\":1}"] {
        assert_eq!(read::<Value>(text).unwrap().json, "{\"a\":1}", "{text}");
    }
    assert!(read::<Value>("<think x\n{\"a\":0}").is_ok(), "a tag ends in its line");
}

#[test]
fn a_quote_in_prose_hides_no_answer() {
    for text in [
        "The object {\"a\" is cut.\n\n```json\n{\"a\":1}\n```",
        "e.g. ['tis the season]\n```json\n{\"a\":1}\n```",
        "Options: ['a' is best.\n\nAnswer: {\"a\":1}",
    ] {
        assert_eq!(read::<Value>(text).unwrap().json, "{\"a\":1}", "{text}");
    }
    for text in ["name\": \"Bo\", \"tags\": [\"x\", \"y\"]}", "'name': 'Bo', 'home': {'city': 'Oslo'}}"] {
        assert!(read::<Value>(text).is_err(), "{text}: {:?}", read::<Value>(text));
    }
}

#[test]
fn boxes_to_tick_citations_and_code_are_no_answers() {
    #[derive(Debug, serde::Deserialize)]
    struct Answer {
        answer: u32,
    }
    for text in ["- [x] done\n- [ ] todo", "* [ ] a\n* [X] b", "Choose: [ ] yes [ ] no"] {
        assert!(matches!(read::<Value>(text), Err(StructuredError::NoJson { .. })), "{text}");
    }
    // `serde` reads a struct from a list of its fields.
    let cited = "The answer: {\"answer\": 42}\n\nSources: [1]";
    assert!(matches!(read::<Answer>(cited), Err(StructuredError::Several { .. })));
    let asked = "```bash\ncurl -d '{\"answer\": 1}' http://x\n```\nThe answer: {\"answer\": 42}";
    assert_eq!(read::<Answer>(asked).unwrap().value.answer, 42);
    let told = "The answer {\"answer\": 42} comes after `</think>`.";
    assert_eq!(read::<Answer>(told).unwrap().value.answer, 42);
    let items = read::<Vec<Answer>>("Example: {\"answer\": 0}. The items:\n{\"answer\": 1}\n{\"answer\": 2}")
        .unwrap();
    assert_eq!((items.value.len(), items.others.len()), (2, 1));
}

#[test]
fn damaged_members_without_their_bracket_are_refused() {
    for text in [r#""name": John}"#, r#""a": }"#, r#""a": {"b": x}, "c": }"#] {
        assert!(matches!(read::<Value>(text), Err(StructuredError::Damaged { .. })), "{text}");
    }
}

#[test]
fn other_values_are_told_and_refused_where_one_is_asked_for() {
    let text = "<think>{\"a\": 9}</think>Not {\"a\": 0}, and not {\"a\":0} again:\n```json\n{\"a\": 1}\n```\n[\"x\"]";
    let value = read::<Value>(text).unwrap();
    assert_eq!(
        (value.json.as_str(), &value.others[..]),
        (r#"{"a":1}"#, &[r#"{"a":0}"#.into(), r#"["x"]"#.into()][..])
    );
    let Err(StructuredError::Several { readings }) = value.only() else { panic!() };
    assert_eq!(readings, [r#"{"a":0}"#, r#"["x"]"#, r#"{"a":1}"#]);
    assert_eq!(value.only().unwrap_err().to_string(), "the output has 3 values, where one was asked for");
}

#[test]
fn mismatch_error_names_the_field_or_type() {
    #[derive(Debug, serde::Deserialize)]
    struct Answer {
        #[expect(dead_code, reason = "its type is what matters")]
        answer: u32,
    }
    let error = read::<Answer>("{'answer': 'much'}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the JSON in the output does not match the requested type: invalid type: string \"much\", expected u32 at line 1 column 16 (after \
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
        assert!(error.to_string().ends_with("it nests deeper than 127 levels"), "{error}");
    }
    // Each of these would take hours if a part of the text were read again for each character of another.
    let units = [
        "{\"",
        "\"a\" ",
        "a\" ",
        "'",
        "' \"",
        "\\",
        "\\u",
        "/*",
        "//",
        "\n",
        "\n ",
        " ",
        ",",
        ":",
        "a",
        "a:",
        "0",
        "-",
        ".",
        "```\n",
        "] ",
        "é",
        "tr",
        "{}",
        "[1]",
        "{ ",
        "[\"x[\"",
        "<think>",
        "</think>",
        "```a ",
        "{'a':1} ",
        "{a:}",
        "\"\"\"",
        "{\\\"",
        ", ",
        "{} <",
        "{/*}",
        "```a \"x ",
        "{//",
        "[1] ",
    ];
    for unit in units {
        for before in ["[", "{\"a\": ", "[\"", "{a", "", "x "] {
            let text = format!("{before}{}", unit.repeat(30_000 / unit.len()));
            if let Ok(repaired) = repair(&text) {
                assert!(serde_json::from_str::<Value>(&repaired.json).is_ok());
            }
        }
    }
}
