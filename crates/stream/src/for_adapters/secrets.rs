//! The secrets of a client, in the answers of a server.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use http::header::HeaderValue;
use serde_json::Value;

use crate::SourceError;

/// The shortest secret that is looked for. A shorter text occurs by chance.
const SHORTEST: usize = 8;

/// The replacement of a secret.
pub(super) const WITHHELD: &str = "[key]";

/// The shortest beginning of a secret that is held back. A shorter one is the end of many words.
const LEAST: usize = 4;

/// The key of a client and the values of its headers. A server that repeats one, such as in the text of an error, gives it
/// to no run, trace or message.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    pub fn add(&mut self, value: &HeaderValue) {
        let Ok(text) = value.to_str() else { return };
        let secret = text.strip_prefix("Bearer ").unwrap_or(text);
        if secret.len() >= SHORTEST && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
        }
    }

    /// Withholds the secrets of a text. A text that has a secret with escapes of JSON, such as a body that could not be
    /// read, loses the escapes. A text must not be shortened before.
    pub fn withheld<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.0 {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), WITHHELD));
            }
        }
        if !self.0.is_empty() && shown.contains('\\') {
            let plain = without_escapes(&shown);
            if self.0.iter().any(|secret| plain.contains(secret.as_str())) {
                return Cow::Owned(self.withheld(&plain).into_owned());
            }
        }
        shown
    }

    /// Withholds the secrets of a value, in its texts and names.
    pub fn withheld_value(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => self.withheld(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.withheld_value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (self.withheld(&name).into_owned(), self.withheld_value(value)))
                .collect(),
            other => other,
        }
    }

    /// Withholds the secrets of a failure. The cause of a failure that has one is left out.
    pub fn withheld_error(&self, error: SourceError) -> SourceError {
        let has_secret = |text: &str| matches!(self.withheld(text), Cow::Owned(_));
        let mut is_shown = !has_secret(error.message());
        let mut next = error.source();
        while let Some(cause) = next {
            is_shown &= !has_secret(&cause.to_string());
            next = cause.source();
        }
        if is_shown {
            return error;
        }
        let shown = SourceError::new(error.kind(), self.withheld(error.message()));
        match error.retry_after() {
            Some(wait) => shown.with_retry_after(wait),
            None => shown,
        }
    }

    /// Whether a value has a secret, in a text or a name.
    pub(super) fn is_in(&self, value: &Value) -> bool {
        let has_secret = |text: &str| matches!(self.withheld(text), Cow::Owned(_));
        match value {
            Value::String(text) => has_secret(text),
            Value::Array(items) => items.iter().any(|item| self.is_in(item)),
            Value::Object(fields) => fields.iter().any(|(name, value)| has_secret(name) || self.is_in(value)),
            _ => false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The length of the longest end of a text with which a secret begins; 0 below four letters.
    pub(super) fn beginning(&self, text: &str) -> usize {
        let longest = |secret: &String| {
            let begins = |length: &usize| secret.get(..*length).is_some_and(|part| text.ends_with(part));
            (LEAST..secret.len()).rev().find(begins)
        };
        self.0.iter().filter_map(longest).max().unwrap_or(0)
    }

    /// The first secret of a text that ends behind a place.
    pub(super) fn first(&self, text: &str, behind: usize) -> Option<Range<usize>> {
        let of = |secret: &String| {
            let found = text.match_indices(secret.as_str()).map(|(start, _)| start..start + secret.len());
            found.into_iter().find(|found| found.end > behind)
        };
        self.0.iter().filter_map(of).min_by_key(|found| found.start)
    }

    /// The length of the longest secret.
    pub(super) fn longest(&self) -> usize {
        self.0.iter().map(String::len).max().unwrap_or(0)
    }
}

/// Replaces the escapes of JSON by their characters. A malformed escape stays.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let code = || u32::from_str_radix(after.strip_prefix('u')?.get(..4)?, 16).ok();
        let (read, length) = match after.chars().next() {
            Some('u') => match code().and_then(char::from_u32) {
                Some(read) => (read, 5),
                None => ('\\', 0),
            },
            Some('n') => ('\n', 1),
            Some('r') => ('\r', 1),
            Some('t') => ('\t', 1),
            Some(escaped @ ('/' | '"' | '\\')) => (escaped, 1),
            _ => ('\\', 0),
        };
        plain.push(read);
        rest = &after[length..];
    }
    plain + rest
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add(&HeaderValue::from_static("Bearer sk-abc/7c1d0a"));
        secrets
    }

    #[test]
    fn secret_with_escapes_of_json_is_withheld() {
        for text in [r"a sk-abc\/7c1d0a!", r"a sk\u002dabc/7c1d0a!", r"a sk-abc\u002F7c1d0a!"] {
            assert_eq!(secrets().withheld(text), "a [key]!", "{text}");
        }
        for text in [r"C:\new\u00", r"\", r"sk-abc\u12"] {
            assert_eq!(secrets().withheld(text), text);
        }
    }

    #[test]
    fn secret_in_the_cause_of_a_failure_is_withheld() {
        let cause = std::io::Error::other("wrong: sk-abc/7c1d0a");
        let error =
            SourceError::new(ErrorKind::Fatal, "refused").with_retry_after(std::time::Duration::from_secs(2));
        let shown = secrets().withheld_error(error.clone().caused_by(cause));
        assert_eq!(shown, error);
        let other = error.caused_by(std::io::Error::other("reset"));
        assert_eq!(secrets().withheld_error(other.clone()), other);
    }
}
