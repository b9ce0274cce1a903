//! What is committed in one scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::KeyError;
use super::key::Key;

/// The committed values of one scope, by name. A clone shares them and costs a count.
///
/// As JSON it is an object of its persistent values; values that are not persistent stay behind. Reading refuses values that nest
/// deeper than 96 levels.
///
/// ```
/// use runstate::agent::keys::Values;
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
    /// Shared, so that a commit beside a snapshot copies names and counts, not values.
    pub(super) value: Arc<Value>,
    pub(super) persistent: bool,
}

impl Values {
    /// The value of a key, whatever the key's scope: which scope this is, its holder knows.
    ///
    /// # Errors
    /// [`KeyError::Type`] when the value has another type.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.value(key.name()).map(|value| read(key, value)).transpose()
    }

    /// The value of that name, whatever its type.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|committed| &*committed.value)
    }

    /// Is the value of that name kept in checkpoints? None where there is none.
    pub fn is_persistent(&self, name: &str) -> Option<bool> {
        self.0.get(name).map(|committed| committed.persistent)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, committed)| (&**name, &*committed.value))
    }

    pub(super) fn has_nothing_to_store(&self) -> bool {
        self.0.values().all(|committed| !committed.persistent)
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn read<T: DeserializeOwned>(key: &Key<T>, value: &Value) -> Result<T, KeyError> {
    T::deserialize(value).map_err(|error| KeyError::of_type(key, &error))
}
