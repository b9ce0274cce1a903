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

/// The text with each of those texts replaced, in each of their forms; a longer form before a shorter one that it contains.
pub(super) fn text(text: &str, texts: &[String]) -> String {
    let forms = |(at, secret): (usize, &String)| forms(secret).map(move |form| (at, form));
    let mut by_length: Vec<(usize, String)> = texts.iter().enumerate().flat_map(forms).collect();
    by_length.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
    by_length.iter().fold(text.to_owned(), |text, (at, form)| text.replace(form.as_str(), &word(at + 1)))
}

/// A text, and the text with the escapes of JSON, once, twice, and in ASCII: a result may be JSON in a string.
fn forms(secret: &str) -> impl Iterator<Item = String> + use<> {
    let escaped = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let once = escaped(secret);
    let ascii: String = once.chars().map(in_ascii).collect();
    [secret.to_owned(), escaped(&once), ascii, once].into_iter()
}

fn in_ascii(one: char) -> String {
    if one.is_ascii() {
        return one.to_string();
    }
    one.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Returns whether that text shows one of the texts in any case and form, outside of digests.
pub(super) fn shows(shown: &str, secret: &str) -> bool {
    let shown = shown.to_lowercase();
    let mut parts = shown.split("sha256:");
    let first = parts.next().into_iter();
    let text: Vec<&str> = first.chain(parts.map(behind_digest)).collect();
    let text = text.join("sha256:");
    forms(secret).any(|form| text.contains(&form.to_lowercase()))
}

/// The text behind the digits of a digest, if there is one.
fn behind_digest(text: &str) -> &str {
    let behind = text.trim_start_matches(|one: char| one.is_ascii_hexdigit());
    if text.len() - behind.len() == 64 { behind } else { text }
}

/// The place of the text that a number equals, without its sign and however the two are written.
fn number_of(number: &Number, texts: &[String]) -> Option<usize> {
    let value = number.as_f64()?.abs();
    let is_it = |text: &String| text.parse::<f64>().is_ok_and(|text| text.abs().total_cmp(&value).is_eq());
    texts.iter().position(is_it)
}

/// The value with each text replaced, in its names too. A number that equals one of the texts becomes its replacement,
/// whatever its sign and its form.
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
