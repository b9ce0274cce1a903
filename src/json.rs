//! Small helpers for JSON that snapshots and drivers share.

use std::sync::LazyLock;

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

/// The bytes as hexadecimal digits, two of each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |digit| char::from_digit(u32::from(digit), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Does `serde_json` keep the text of a number as it is, by a feature that another crate turned on? A number can be made of any
/// text then.
pub(crate) fn numbers_keep_their_text() -> bool {
    static KEEPS: LazyLock<bool> = LazyLock::new(|| {
        serde_json::from_str::<Value>("1.00").is_ok_and(|number| *number.to_string() == *"1.00")
    });
    *KEEPS
}
