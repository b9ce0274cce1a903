//! The unknown fields of a trace line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// The names of the known fields.
pub(super) const KNOWN: [&str; 8] = ["seq", "at_ms", "run", "lifecycle", "instance", "event", "from", "to"];

/// The unknown fields of an event. They are kept in their written form, and the checker ignores them.
///
/// A value is the exact JSON text of the line, so that a number beyond this program's range or precision keeps its
/// form. Fields are written in the order of their names.
///
/// # Example
/// ```
/// use runstate::trace::Event;
///
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"run","instance":"r1","event":"create","from":null,"to":"Running","cost":1.50}"#;
/// let mut event = Event::from_json(line).unwrap();
/// assert_eq!(event.extra.get("cost"), Some("1.50"));
/// assert_eq!(event.to_json(), line);
///
/// event.extra.insert("model", &"small").unwrap();
/// assert!(event.to_json().ends_with(r#""cost":1.50,"model":"small"}"#));
/// assert!(event.extra.insert("seq", &2).is_err(), "a field of the trace itself");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Extra<'a>(BTreeMap<Cow<'a, str>, Cow<'a, RawValue>>);

impl<'a> Extra<'a> {
    /// Finds the JSON text of the field with that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.get())
    }

    /// Adds a field, or replaces the field with that name.
    ///
    /// # Errors
    /// When the value has no JSON form, or when the name is a known field of every event.
    pub fn insert(&mut self, name: &str, value: &impl Serialize) -> Result<(), serde_json::Error> {
        if KNOWN.contains(&name) {
            let message = format!("`{name}` is a field of the trace itself; expected another name");
            return Err(serde::ser::Error::custom(message));
        }
        self.0.insert(Cow::Owned(name.to_owned()), Cow::Owned(to_raw_value(value)?));
        Ok(())
    }

    /// The fields with the JSON text of their values, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.raw().map(|(name, value)| (name, value.get()))
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn raw(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn keep(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        self.0.insert(name, Cow::Borrowed(value));
    }

    pub(super) fn into_owned(self) -> Extra<'static> {
        let own = |(name, value): (Cow<'_, str>, Cow<'_, RawValue>)| {
            (Cow::Owned(name.into_owned()), Cow::Owned(value.into_owned()))
        };
        Extra(self.0.into_iter().map(own).collect())
    }
}

impl PartialEq for Extra<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Extra<'_> {}
