//! A view of committed values.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::KeyError;
use super::key::{Key, Scope};
use super::values::Values;

/// The committed values of both scopes at one moment. A view never changes. A view or its clone costs two reference
/// counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateView {
    pub(super) run: Values,
    pub(super) thread: Values,
}

impl StateView {
    /// Creates a view of these values.
    pub fn new(run: Values, thread: Values) -> Self {
        StateView { run, thread }
    }

    /// Returns the committed value of a key; `None` if there is none.
    ///
    /// # Errors
    /// [`KeyError::Type`] when the value has another type than the key.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.of(key.scope()).get(key)
    }

    /// The value of that name, in its JSON form.
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
