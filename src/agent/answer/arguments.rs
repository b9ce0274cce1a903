//! From the text of a call's arguments to their value.

use serde_json::{Map, Value};

use super::super::depth::{is_too_deep, too_deep_arguments};
use crate::json::from_str;

/// The arguments, and why they cannot be read if they cannot; the text itself stands for them then.
pub(super) fn read(text: String) -> (Value, Option<String>) {
    // Models that call a tool without parameters often send nothing.
    if text.bytes().all(|b| b.is_ascii_whitespace()) {
        return (Value::Object(Map::new()), None);
    }
    let why = match from_str::<Value>(&text) {
        Ok(value) if !is_too_deep(&value) => return (value, None),
        Ok(_) => too_deep_arguments(),
        // The reader gives up at 127 levels; how it says so is pinned by a test.
        Err(error) if error.to_string().starts_with("recursion limit exceeded") => too_deep_arguments(),
        Err(error) => format!("the arguments are not JSON: {error}"),
    };
    (Value::String(text), Some(why))
}
