//! Replacement of texts.

use runstate_agent::for_scenarios::question_word;
use serde_json::{Number, Value};

use crate::Scenario;
use crate::file::Plugin;

/// The replacement of a text, by its number from 1.
pub(super) fn word(number: usize) -> String {
    format!("redacted-{number}")
}

/// The parts of ids that are made from previews, before and after the texts were replaced.
pub(super) fn question_words(before: &Scenario, after: &Scenario, texts: &[String]) -> Vec<(String, String)> {
    let bound = |scenario: &Scenario, of: &str| {
        scenario.plugins.iter().find_map(|plugin| match plugin {
            Plugin::Approval { tool, bound_to, .. } if tool == of => bound_to.clone(),
            _ => None,
        })
    };
    let mut words = Vec::new();
    for (name, tool) in &before.tools {
        let redacted = text(name, texts);
        let (bound_before, bound_after) = (bound(before, name), bound(after, &redacted));
        let Some(tool_after) = after.tools.get(&redacted) else { continue };
        for (call, previews) in &tool.previews {
            let others = tool_after.previews.get(&text(call, texts)).into_iter().flatten();
            words.extend(previews.iter().zip(others).map(|(one, other)| {
                (question_word(bound_before.as_ref(), one), question_word(bound_after.as_ref(), other))
            }));
        }
    }
    words
}

/// The text with each of those texts replaced; a longer one before a shorter one that it contains.
pub(super) fn text(text: &str, texts: &[String]) -> String {
    let mut by_length: Vec<(usize, &String)> = texts.iter().enumerate().collect();
    by_length.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    by_length.iter().fold(text.to_owned(), |text, (at, secret)| text.replace(secret.as_str(), &word(at + 1)))
}

/// Returns whether that text shows one of the texts in any case, as it is or with the escapes of JSON.
pub(super) fn shows(shown: &str, secret: &str) -> bool {
    let shown = shown.to_lowercase();
    let escaped = Value::from(secret).to_string();
    let escaped = &escaped[1..escaped.len() - 1];
    [secret, escaped].iter().any(|form| shown.contains(&form.to_lowercase()))
}

/// The text of the list that a number equals, without its sign and without zeros behind its point.
fn number_of(number: &Number, texts: &[String]) -> Option<usize> {
    let shown = number.to_string();
    let unsigned = shown.trim_start_matches('-');
    let whole = unsigned.strip_suffix(".0").unwrap_or(unsigned);
    texts.iter().position(|text| [&*shown, unsigned, whole].contains(&text.as_str()))
}

/// The value with each text replaced, in its names too. A number that equals one of the texts becomes its replacement,
/// a negative one and one with `.0` too.
pub(super) fn value(value: Value, texts: &[String]) -> Value {
    match value {
        Value::String(string) => Value::String(text(&string, texts)),
        Value::Array(items) => items.into_iter().map(|item| self::value(item, texts)).collect(),
        Value::Object(fields) => {
            let redacted = |(name, value): (String, Value)| (text(&name, texts), self::value(value, texts));
            Value::Object(fields.into_iter().map(redacted).collect())
        }
        Value::Number(number) => match number_of(&number, texts) {
            Some(place) => Value::String(word(place + 1)),
            None => Value::Number(number),
        },
        other => other,
    }
}
