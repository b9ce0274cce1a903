//! Small helpers for JSON that snapshots and drivers share.

use serde_json::Value;

/// Checks whether the value nests deeper than `than` levels. It is looked at no deeper than that.
pub(crate) fn nests_deeper(value: &Value, than: usize) -> bool {
    match value {
        Value::Array(items) => than == 0 || items.iter().any(|item| nests_deeper(item, than - 1)),
        Value::Object(fields) => than == 0 || fields.values().any(|field| nests_deeper(field, than - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The message of `serde_json`, less the place that it appends and the whole of a text that it quotes.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shortened(match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    })
}

/// The message of a reader, without the whole of a text that it quotes.
pub(crate) fn shortened(mut message: String) -> String {
    const MOST: usize = 200;
    if let Some((end, _)) = message.char_indices().nth(MOST) {
        message.truncate(end);
        message.push('…');
    }
    message
}
