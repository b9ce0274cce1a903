//! The writes of a tool or a plugin.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::depth::is_too_deep;
use super::error::KeyError;
use super::key::{Key, Scope};
use super::values::read;
use super::view::StateView;

/// The changes requested by one call, or by one plugin in one phase. An empty set allocates no memory.
///
/// ```
/// use runstate_agent::keys::{Key, KeyError, Patches, StateView};
///
/// const COUNT: Key<u32> = Key::run("count");
/// let view = StateView::default();
/// let mut patches = Patches::new();
/// let count = patches.get(&COUNT, &view)?.unwrap_or(0);
/// patches.set(&COUNT, &(count + 1))?;
/// assert_eq!(patches.get(&COUNT, &view)?, Some(1)); // a call reads its own writes
///
/// // A value that cannot be read back is refused.
/// const SHARE: Key<f64> = Key::run("share");
/// assert!(matches!(patches.set(&SHARE, &f64::NAN), Err(KeyError::Unwritable { .. })));
/// assert_eq!(patches.get(&SHARE, &view)?, None);
/// # Ok::<(), KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Patches {
    pub(super) run: BTreeMap<Arc<str>, To>,
    pub(super) thread: BTreeMap<Arc<str>, To>,
}

/// The change of a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum To {
    Set { value: Arc<Value>, persistent: bool },
    Removed,
}

impl Patches {
    /// Creates an empty set of changes.
    pub const fn new() -> Self {
        Patches { run: BTreeMap::new(), thread: BTreeMap::new() }
    }

    /// Sets a key. A later write to the key replaces an earlier one.
    ///
    /// # Errors
    /// [`KeyError::Unwritable`] when the value has no JSON form that can be read back; [`KeyError::TooDeep`] when it
    /// nests deeper than 96 levels. The key is unchanged then.
    pub fn set<T: Serialize + DeserializeOwned>(&mut self, key: &Key<T>, value: &T) -> Result<(), KeyError> {
        let value = serde_json::to_value(value).map_err(|error| KeyError::unwritable(key, &error))?;
        if is_too_deep(&value) {
            return Err(KeyError::too_deep(key));
        }
        // For example, `NaN` is written as null. The error is better reported to the writer than to all readers.
        T::deserialize(&value).map_err(|error| KeyError::unwritable(key, &error))?;
        self.put(key, To::Set { value: Arc::new(value), persistent: key.is_persistent() });
        Ok(())
    }

    /// Removes a key. A missing key stays missing.
    pub fn remove<T>(&mut self, key: &Key<T>) {
        self.put(key, To::Removed);
    }

    /// Returns the value of a key: the one written here, otherwise the committed one.
    ///
    /// # Errors
    /// [`KeyError::Type`] when the value has another type than the key.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>, view: &StateView) -> Result<Option<T>, KeyError> {
        match self.of(key.scope()).get(key.name()) {
            Some(To::Set { value, .. }) => read(key, value).map(Some),
            Some(To::Removed) => Ok(None),
            None => view.get(key),
        }
    }

    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty() && self.thread.is_empty()
    }

    /// Removes all changes, for a call whose execution had no effect.
    pub fn clear(&mut self) {
        *self = Patches::new();
    }

    pub(super) fn of(&self, scope: Scope) -> &BTreeMap<Arc<str>, To> {
        match scope {
            Scope::Run => &self.run,
            Scope::Thread => &self.thread,
        }
    }

    fn put<T>(&mut self, key: &Key<T>, to: To) {
        let changes = match key.scope() {
            Scope::Run => &mut self.run,
            Scope::Thread => &mut self.thread,
        };
        match changes.get_mut(key.name()) {
            Some(earlier) => *earlier = to,
            None => {
                changes.insert(key.name().into(), to);
            }
        }
    }
}
