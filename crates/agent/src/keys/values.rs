//! The committed values of one scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::KeyError;
use super::key::Key;

/// The committed values of one scope, by name. A clone shares the values.
///
/// The JSON form is an object of the persistent values. Other values are omitted. A value that nests deeper than 96
/// levels is refused when it is read.
///
/// ```
/// use runstate_agent::keys::Values;
///
/// let values: Values = serde_json::from_str(r#"{"budget":7}"#)?;
/// assert_eq!(values.iter().count(), 1);
///
/// let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(97), "]".repeat(97));
/// let error = serde_json::from_str::<Values>(&deep).unwrap_err();
/// assert!(error.to_string().contains("\"a\" nests deeper than 96 levels"), "{error}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(pub(super) Arc<BTreeMap<Arc<str>, Committed>>);

/// A committed value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Committed {
    /// Shared, so that a commit beside a live view copies pointers instead of values.
    pub(super) value: Arc<Value>,
    pub(super) persistent: bool,
}

impl Values {
    /// Returns the value of a key. The scope of the key is ignored, because the caller has chosen the scope.
    ///
    /// # Errors
    /// [`KeyError::Type`] when the value has another type.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.value(key.name()).map(|value| read(key, value)).transpose()
    }

    /// The value of that name, in its JSON form.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|committed| &*committed.value)
    }

    /// Returns whether the value of that name is stored in checkpoints; `None` if there is no such value.
    pub fn is_persistent(&self, name: &str) -> Option<bool> {
        self.0.get(name).map(|committed| committed.persistent)
    }

    /// The names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, committed)| (&**name, &*committed.value))
    }

    pub(super) fn has_nothing_to_store(&self) -> bool {
        self.0.values().all(|committed| !committed.persistent)
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn read<T: DeserializeOwned>(key: &Key<T>, value: &Value) -> Result<T, KeyError> {
    T::deserialize(value).map_err(|error| KeyError::of_type(key, &error))
}
