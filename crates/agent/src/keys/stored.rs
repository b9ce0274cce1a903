//! The JSON form of values.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::super::depth::{MOST_LEVELS, is_too_deep};
use super::apply::KeyState;
use super::key::Scope;
use super::values::{Committed, Values};

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept = self.0.iter().filter(|(_, committed)| committed.persistent);
        serializer.collect_map(kept.map(|(name, committed)| (&**name, &*committed.value)))
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Stored)
    }
}

struct Stored;

impl<'de> Visitor<'de> for Stored {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of values by the names of their keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
        let mut values = Values::default();
        let stored = Arc::make_mut(&mut values.0);
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if is_too_deep(&value) {
                return Err(A::Error::custom(format_args!(
                    "the value of {name:?} nests deeper than {MOST_LEVELS} levels"
                )));
            }
            let committed = Committed { value: Arc::new(value), persistent: true };
            if let Some(_first) = stored.insert(name.as_str().into(), committed) {
                return Err(A::Error::custom(format_args!("two values have the name {name:?}")));
            }
        }
        Ok(values)
    }
}

impl KeyState {
    /// Applies the values of a stored commit.
    pub(crate) fn store(&mut self, values: Vec<(Scope, String, Option<Value>)>) -> Result<(), StoreError> {
        for (scope, name, value) in values {
            if value.as_ref().is_some_and(is_too_deep) {
                return Err(StoreError { name });
            }
            let values = match scope {
                Scope::Run => &mut self.run,
                Scope::Thread => &mut self.thread,
            };
            let values = Arc::make_mut(&mut values.0);
            match value {
                Some(value) => {
                    values.insert(name.into(), Committed { value: Arc::new(value), persistent: true });
                }
                None => {
                    values.remove(name.as_str());
                }
            }
        }
        Ok(())
    }
}

/// Error: a stored value nests deeper than the limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value of {name:?} nests deeper than {MOST_LEVELS} levels")]
pub struct StoreError {
    name: String,
}
