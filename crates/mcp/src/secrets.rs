//! The secrets of a connection, in the answers of a server.

use std::borrow::Cow;

use serde_json::Value;

/// The shortest secret that is looked for. A shorter text occurs by chance.
const SHORTEST: usize = 8;

/// The replacement of a secret.
const WITHHELD: &str = "[key]";

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

    /// Withholds the secrets of a text.
    pub(crate) fn withheld<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.0 {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), WITHHELD));
            }
        }
        shown
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
