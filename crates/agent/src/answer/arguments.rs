//! Parser for the argument text of a tool call.

use runstate::json::from_str;
use serde_json::{Map, Value};

use super::super::depth::{is_too_deep, too_deep_arguments};

/// Parses the argument text. If the text cannot be read, the value is the text itself and the second part is the
/// reason.
pub(super) fn read(text: String) -> (Value, Option<String>) {
    // Models that call a tool without parameters often send nothing.
    if text.bytes().all(|b| b.is_ascii_whitespace()) {
        return (Value::Object(Map::new()), None);
    }
    let why = match from_str::<Value>(&text) {
        Ok(value) if !is_too_deep(&value) => return (value, None),
        Ok(_) => too_deep_arguments(),
        // The parser stops at 127 levels. A test pins the message that it gives there.
        Err(error) if error.to_string().starts_with("recursion limit exceeded") => too_deep_arguments(),
        Err(error) => format!("the arguments are not JSON: {error}"),
    };
    (Value::String(text), Some(why))
}
