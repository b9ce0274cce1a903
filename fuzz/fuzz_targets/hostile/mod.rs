//! JSON values that no writer of this project writes, in the places of those that it does.

#![allow(dead_code, reason = "not each target uses all of it")]

pub mod runs;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Value, json};

/// Texts that mean something somewhere.
const TEXTS: [&str; 16] = [
    "", "..", "../../etc/passwd", "/", "a/b", "\0", "\u{1b}[2J", "\u{9b}", "\u{202e}", "Running", "Done", "-1", "$ref", "#", "r1/../r2",
    "\u{10ffff}",
];

/// A value that is not expected.
pub fn value(from: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match from.int_in_range(0..=11)? {
        0 => Value::Null,
        1 => from.arbitrary::<bool>()?.into(),
        2 => u64::MAX.into(),
        3 => i64::MIN.into(),
        4 => json!(1e308),
        5 => from.arbitrary::<u64>()?.into(),
        6 => json!([]),
        7 => json!({}),
        8 => (0..from.int_in_range(0..=120)?).fold(json!(1), |inner, _| json!([inner])),
        9 => from.arbitrary::<String>()?.into(),
        10 => "x".repeat(from.int_in_range(0..=5_000)?).into(),
        _ => (*from.choose(&TEXTS)?).into(),
    })
}

/// Changes some values of a document: each becomes another value, is dropped, or is there twice.
pub fn change(document: &mut Value, from: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..from.int_in_range(1..=3)? {
        let count = size(document);
        let at = from.int_in_range(0..=count - 1)?;
        let new = value(from)?;
        let how = from.int_in_range(0..=3)?;
        let mut left = at;
        if let Some(place) = nth(document, &mut left) {
            match (how, place) {
                (0, Value::Array(items)) => items.clear(),
                (1, Value::Array(items)) => items.extend(items.clone()),
                (0, Value::Object(fields)) => fields.clear(),
                (1, Value::Object(fields)) => drop(fields.insert("another".to_owned(), new)),
                (_, place) => *place = new,
            }
        }
    }
    Ok(())
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}
