//! Broken texts, each with the reading that a careful person would choose: `crates/guardrails/tests/corpus/readings.md`.

use runstate_guardrails::structured::{StructuredError, read};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    text: String,
    #[serde(default, deserialize_with = "some")]
    value: Option<Value>,
    #[serde(default)]
    repaired: bool,
    #[serde(default)]
    several: bool,
    refused: Option<String>,
}

/// `value: null` is a value.
fn some<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Entries that are refused, and that the corpus reads. A refusal costs an attempt, and each needs code of its own.
const LOST: &[&str] = &[
    "separators-bare-value",
    "separators-comma-and-point-member",
    "separators-two-commas-member",
    "separators-underscore",
    "separators-apostrophe",
    "separators-european-member",
    "smart-quotes-mixed",
    "tuple-as-value",
    "escaped-line-breaks-between-tokens",
    "html-entities",
];

/// Entries that are read in another way than the corpus reads them.
const OTHERWISE: &[&str] = &[
    // Spaces that are none of JSON's are told as no repair.
    "no-break-space-between-tokens",
    // The comment that was taken away is told as a repair.
    "ellipsis-in-comment",
    // The fence is a part of the thinking, and the answer after it is clear.
    "think-with-fenced-draft",
];

#[test]
fn texts_are_read_as_a_careful_person_reads_them() {
    let entries: Vec<Entry> = serde_saphyr::from_str(include_str!("../corpus/readings.yaml")).unwrap();
    assert!(entries.len() > 300, "{}", entries.len());
    let mut wrong = Vec::new();
    let mut lost = Vec::new();
    let entries: Vec<_> = entries.iter().filter(|entry| !OTHERWISE.contains(&entry.name.as_str())).collect();
    for Entry { name, text, value, repaired, several, refused } in &entries {
        match (read::<Value>(text), value) {
            (Ok(read), Some(value)) => {
                let told = (!read.repairs.is_empty(), !read.others.is_empty());
                if same(&read.value, value) && told == (*repaired, *several) {
                    continue;
                }
                wrong
                    .push(format!("{name}: {} {:?} {:?}, not {value}", read.json, read.repairs, read.others));
            }
            (Ok(read), None) => {
                wrong.push(format!("{name}: {} {:?}, where {refused:?}", read.json, read.repairs))
            }
            (Err(_), None) => {}
            (Err(error), Some(_)) => {
                lost.push(name.as_str());
                if !LOST.contains(&name.as_str()) {
                    wrong.push(format!("{name}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
    assert_eq!(lost, LOST);
}

/// Numbers by their values, and the rest as it is.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right
                || (left.as_f64() == right.as_f64()
                    && left.as_f64().map(f64::is_sign_negative) == right.as_f64().map(f64::is_sign_negative))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

#[test]
fn lines_are_a_list_where_a_list_is_asked_for() {
    use runstate_guardrails::structured::Repair;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Item {
        a: u8,
    }
    for text in
        ["{\"a\": 1}\n{\"a\": 2}\n", "```jsonl\n{\"a\": 1}\n{\"a\": 2}\n```", "1. {\"a\": 1}\n2. {\"a\": 2}"]
    {
        let items = read::<Vec<Item>>(text).unwrap();
        assert_eq!(items.value, [Item { a: 1 }, Item { a: 2 }], "{text}");
        assert_eq!(items.repairs, [Repair::Lines]);
        let error = read::<Item>(text).unwrap_err();
        assert!(matches!(error, StructuredError::Several { ref readings } if readings.len() == 2), "{error}");
    }
    assert_eq!(read::<Vec<[u8; 2]>>("[1, 2]\n[3, 4]").unwrap().value, [[1, 2], [3, 4]]);
    for text in
        ["{\"a\": 1}\n{\"a\": 2}\n{\"a\"", "{\"a\": 1}{\"a\": 2}", "{\"a\": 1}\nor\n{\"a\": 2}", "{\"a\": 1}"]
    {
        assert!(read::<Vec<Item>>(text).is_err(), "{text}");
    }
}
