//! Replacement of texts.

use serde_json::Value;

/// The replacement of a text, by its number from 1.
pub(super) fn word(number: usize) -> String {
    format!("redacted-{number}")
}

/// The text with each of those texts replaced; a longer one before a shorter one that it contains.
pub(super) fn text(text: &str, texts: &[String]) -> String {
    let mut by_length: Vec<(usize, &String)> = texts.iter().enumerate().collect();
    by_length.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    by_length.iter().fold(text.to_owned(), |text, (at, secret)| text.replace(secret.as_str(), &word(at + 1)))
}

/// The value with each text replaced, in its names too. A number that equals one of the texts becomes its replacement.
pub(super) fn value(value: Value, texts: &[String]) -> Value {
    match value {
        Value::String(string) => Value::String(text(&string, texts)),
        Value::Array(items) => items.into_iter().map(|item| self::value(item, texts)).collect(),
        Value::Object(fields) => {
            let redacted = |(name, value): (String, Value)| (text(&name, texts), self::value(value, texts));
            Value::Object(fields.into_iter().map(redacted).collect())
        }
        Value::Number(number) if texts.contains(&number.to_string()) => {
            Value::String(text(&number.to_string(), texts))
        }
        other => other,
    }
}
