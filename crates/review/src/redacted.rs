//! Texts without the secrets of the reader's choice.

use runstate::actor::is_unseen;
use serde_json::{Number, Value};

/// The shortest beginning of a secret that is looked for at a cut.
const BEGINNING: usize = 3;

/// A character as messages show it.
fn visible(c: char) -> String {
    if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() }
}

/// Secrets, the longest first: a text may begin with another one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redacted(Vec<String>);

impl Redacted {
    /// Adds a secret. The empty text has no effect.
    pub(crate) fn add(&mut self, secret: String) {
        // Messages have invisible characters as escapes, and quote values as JSON or as Rust does.
        let seen: String = secret.chars().map(visible).collect();
        let json = Value::from(secret.as_str()).to_string();
        let quoted = json.get(1..json.len() - 1).unwrap_or_default().to_owned();
        let debug = format!("{secret:?}");
        let debug = debug.get(1..debug.len() - 1).unwrap_or_default().to_owned();
        self.0.extend([seen, quoted, debug, secret]);
        self.0.retain(|text| !text.is_empty());
        self.0.sort_by_key(|text| std::cmp::Reverse(text.len()));
        self.0.dedup();
    }

    /// Adds all secrets of another reader.
    pub(crate) fn add_all(&mut self, other: &Redacted) {
        other.0.iter().for_each(|secret| self.add(secret.clone()));
    }

    /// A value of JSON, in whose spelling a secret may be.
    pub(crate) fn value(&self, value: &str) -> String {
        match serde_json::from_str(value) {
            // JSON may have a text in another spelling, with escapes.
            Ok(json) if !self.0.is_empty() => self.json(&json).to_string(),
            _ => self.text(value),
        }
    }

    fn json(&self, json: &Value) -> Value {
        match json {
            // A text may be JSON itself, such as the arguments of a call, with another spelling of the secret.
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                match serde_json::from_str(text) {
                    Ok(inner) => self.json(&inner).to_string().into(),
                    Err(_) => self.text(text).into(),
                }
            }
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().map(|value| self.json(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (self.text(name), self.json(value))).collect()
            }
            // A number may be the secret, in another form.
            Value::Number(number) if self.is_number(number) => "[redacted]".into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                let text = json.to_string();
                match self.text(&text) {
                    cleaned if cleaned == text => json.clone(),
                    cleaned => cleaned.into(),
                }
            }
        }
    }

    fn is_number(&self, number: &Number) -> bool {
        let is_it = |value: f64| {
            let secrets = self.0.iter().filter_map(|secret| secret.parse::<f64>().ok());
            secrets.map(f64::abs).any(|secret| secret.total_cmp(&value.abs()).is_eq())
        };
        number.as_f64().is_some_and(is_it)
    }

    /// The text with `[redacted]` in place of each secret.
    pub(crate) fn text(&self, text: &str) -> String {
        let replaced = self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[redacted]"));
        if self.0.is_empty() || !replaced.contains('…') {
            return replaced;
        }
        // A text that was cut before may end with the beginning of a secret.
        let parts: Vec<String> = replaced.split('…').map(|part| self.without_beginning(part)).collect();
        parts.join("…")
    }

    /// Replaces the beginning of a redacted text at the end of a text.
    fn without_beginning(&self, part: &str) -> String {
        for secret in &self.0 {
            let ends = secret.char_indices().map(|(at, _)| at).rev();
            for end in ends.take_while(|end| *end >= BEGINNING) {
                if let Some(rest) = part.strip_suffix(&secret[..end]) {
                    return format!("{rest}[redacted]");
                }
            }
        }
        part.to_owned()
    }
}
