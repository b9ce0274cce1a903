//! What is committed, read.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::KeyError;
use super::key::{Key, Scope};
use super::values::Values;

/// What was committed in both scopes when it was taken. It never changes; taking one, or a clone, costs two counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateView {
    pub(super) run: Values,
    pub(super) thread: Values,
}

impl StateView {
    /// Of these values.
    pub fn new(run: Values, thread: Values) -> Self {
        StateView { run, thread }
    }

    /// The value of a key, none where none was committed.
    ///
    /// # Errors
    /// [`KeyError::Type`] when the value has another type than the key.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.of(key.scope()).get(key)
    }

    /// The value of that name, whatever its type.
    pub fn value(&self, scope: Scope, name: &str) -> Option<&Value> {
        self.of(scope).value(name)
    }

    /// All values of a scope.
    pub fn of(&self, scope: Scope) -> &Values {
        match scope {
            Scope::Run => &self.run,
            Scope::Thread => &self.thread,
        }
    }
}
