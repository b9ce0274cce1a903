//! The secrets of a connection, in the answers of a server.

use std::borrow::Cow;

use serde_json::Value;

/// The shortest secret that is looked for. A shorter text occurs by chance.
const SHORTEST: usize = 8;

/// The replacement of a secret.
const WITHHELD: &str = "[key]";

/// The shortest beginning of a secret that is withheld from the end of a shortened text.
const LEAST: usize = 4;

/// The values of the headers. A server that repeats one gives it to no run, trace or message.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v str>) -> Self {
        let mut secrets = Vec::new();
        for value in values {
            // A scheme such as `Bearer` stands before the key.
            let key = value.rsplit_once(' ').map_or(value, |(_, key)| key);
            secrets.extend([value, key].into_iter().filter(|text| text.len() >= SHORTEST).map(str::to_owned));
        }
        Secrets(secrets)
    }

    /// Withholds the secrets of a text, and the beginnings of secrets that a text was shortened within.
    pub(crate) fn withheld<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.0 {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), WITHHELD));
            }
        }
        match shown.contains('…') && !self.0.is_empty() {
            true => Cow::Owned(self.without_beginnings(&shown)),
            false => shown,
        }
    }

    /// Withholds a beginning of a secret before each `…`.
    fn without_beginnings(&self, text: &str) -> String {
        let beginning = |part: &str| {
            let of = |secret: &String| {
                let begins = |length: &usize| secret.get(..*length).is_some_and(|of| part.ends_with(of));
                (LEAST..secret.len()).rev().find(begins)
            };
            self.0.iter().filter_map(of).max()
        };
        let mut parts: Vec<String> = text.split('…').map(str::to_owned).collect();
        let last = parts.len() - 1;
        for part in &mut parts[..last] {
            if let Some(length) = beginning(part) {
                part.truncate(part.len() - length);
                part.push_str(WITHHELD);
            }
        }
        parts.join("…")
    }

    /// Whether a text has a secret.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// Withholds the secrets of a value, in its texts and names.
    pub(crate) fn withheld_value(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => self.withheld(&text).into_owned().into(),
            Value::Array(items) => items.into_iter().map(|item| self.withheld_value(item)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (self.withheld(&name).into_owned(), self.withheld_value(value)))
                .collect(),
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::one_line;

    #[test]
    fn shortened_text_has_no_beginning_of_a_secret() {
        let secrets = Secrets::of(["Bearer sk-12345678"].into_iter());
        let text = "x".repeat(290) + "sk-12345678, and more";
        assert_eq!(secrets.withheld(&one_line(&text)), "x".repeat(290) + "[key]…");
        for plain in ["an end…", "sk…", "a … b"] {
            assert_eq!(secrets.withheld(plain), plain);
        }
    }
}
