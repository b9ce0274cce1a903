//! Application of a round's patches at its commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::depth::is_too_deep;
use super::error::KeyError;
use super::key::Scope;
use super::merge::merge;
use super::patches::{Patches, To};
use super::values::{Committed, Values};
use super::view::StateView;

/// The committed values of both scopes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyState {
    /// The values of the run.
    #[serde(default, skip_serializing_if = "Values::has_nothing_to_store")]
    pub run: Values,
    /// The values of the thread.
    #[serde(default, skip_serializing_if = "Values::has_nothing_to_store")]
    pub thread: Values,
}

/// The keys that a round changed, sorted by scope and name. A key counts as changed if its value or its persistence
/// changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changed(Vec<ChangedKey>);

/// A key that a round changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangedKey {
    /// The scope of the key.
    pub scope: Scope,
    /// The name of the key.
    pub key: Arc<str>,
    /// The new value; `None` if the key was removed.
    pub value: Option<Arc<Value>>,
    /// Whether the value is stored in checkpoints.
    pub persistent: bool,
    /// Whether the value was stored in checkpoints before.
    pub was_persistent: bool,
}

/// A conflict: two calls of one round set one key to different values. None of the patches is applied.
///
/// In a run, these are the patches since the last commit of the round. A round may have several commits. The writes
/// of a call are committed together with its result, and are not undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error(
    "{first} and {second} of one round set {key:?} in the {scope} differently, and the values written since the last \
     commit are not applied: a key that calls share is set by one call of a round, or to the same value by all"
)]
#[non_exhaustive]
pub struct Conflict {
    /// The name of the key.
    pub key: String,
    /// Its scope.
    pub scope: Scope,
    /// The call that comes first in the round.
    pub first: String,
    /// The other call, with a different value.
    pub second: String,
}

impl KeyState {
    /// A view of the committed values.
    pub fn view(&self) -> StateView {
        StateView::new(self.run.clone(), self.thread.clone())
    }

    /// Applies the patches of a round, each with the name of its call, in call order. If there is a conflict, none is
    /// applied.
    ///
    /// Two calls that set a key to the same value, or both remove it, do not conflict. A name that occurs in the
    /// round several times is one call, and its later patches override its earlier ones.
    ///
    /// # Errors
    /// [`Conflict`] when two calls of the round set one key to different values, when one removes a key that another
    /// sets, or when they set it with different persistence.
    pub fn apply<N: AsRef<str>>(&mut self, round: &[(N, Patches)]) -> Result<Changed, Conflict> {
        let round = || round.iter().map(|(call, patches)| (call.as_ref(), patches));
        Self::agree(round())?;
        let mut changed = Changed::default();
        self.write(round(), &mut changed)?;
        Ok(changed)
    }

    /// Checks the patches of a round for conflicts. Each patch has the name of its call, and they are in call order.
    pub(crate) fn agree<'p>(
        round: impl Iterator<Item = (&'p str, &'p Patches)> + Clone,
    ) -> Result<(), Conflict> {
        merge(round.clone(), Scope::Run)?;
        merge(round, Scope::Thread).map(drop)
    }

    /// Applies patches without a [conflict](KeyState::agree), and records the changes. A scope without any patches is
    /// not touched.
    pub(crate) fn write<'p>(
        &mut self,
        round: impl Iterator<Item = (&'p str, &'p Patches)> + Clone,
        changed: &mut Changed,
    ) -> Result<(), Conflict> {
        self.run.change(Scope::Run, merge(round.clone(), Scope::Run)?, &mut changed.0);
        self.thread.change(Scope::Thread, merge(round, Scope::Thread)?, &mut changed.0);
        Ok(())
    }

    /// Applies one stored change ([`Changed::to_store`]). All changes from the first one on restore the stored state.
    ///
    /// # Errors
    /// [`KeyError::TooDeep`] when the value nests deeper than 96 levels. Nothing is changed then.
    pub fn restore(&mut self, scope: Scope, name: &str, value: Option<Value>) -> Result<(), KeyError> {
        let values = match scope {
            Scope::Run => &mut self.run,
            Scope::Thread => &mut self.thread,
        };
        let values = Arc::make_mut(&mut values.0);
        match value {
            Some(value) if is_too_deep(&value) => {
                return Err(KeyError::TooDeep { key: name.to_owned(), scope });
            }
            Some(value) => {
                values.insert(name.into(), Committed { value: Arc::new(value), persistent: true });
            }
            None => {
                values.remove(name);
            }
        }
        Ok(())
    }
}

impl Values {
    fn change(&mut self, scope: Scope, to: BTreeMap<&Arc<str>, &To>, changed: &mut Vec<ChangedKey>) {
        for (key, to) in to {
            let old = self.0.get(key);
            let was_persistent = old.is_some_and(|old| old.persistent);
            let (value, persistent) = match to {
                To::Set { value, persistent } => {
                    if old.is_some_and(|old| old.value == *value && old.persistent == *persistent) {
                        continue;
                    }
                    let committed = Committed { value: Arc::clone(value), persistent: *persistent };
                    Arc::make_mut(&mut self.0).insert(Arc::clone(key), committed);
                    (Some(Arc::clone(value)), *persistent)
                }
                To::Removed => {
                    if old.is_none() {
                        continue;
                    }
                    Arc::make_mut(&mut self.0).remove(key);
                    (None, false)
                }
            };
            changed.push(ChangedKey { scope, key: Arc::clone(key), value, persistent, was_persistent });
        }
    }
}

impl Changed {
    /// All keys, by scope and name.
    pub fn iter(&self) -> impl Iterator<Item = &ChangedKey> {
        self.0.iter()
    }

    /// The changes for a delta commit: the names of persistent keys with their values. A key without a value is to be
    /// deleted, because it was removed or is not persistent any more.
    ///
    /// ```
    /// use runstate_agent::keys::{Key, KeyState, Patches, Scope};
    /// use serde_json::json;
    ///
    /// const KEPT: Key<u32> = Key::run("kept").persistent();
    /// const GONE: Key<u32> = Key::run("gone");
    /// let mut state = KeyState::default();
    /// let mut patches = Patches::new();
    /// patches.set(&KEPT, &1)?;
    /// patches.set(&GONE, &2)?;
    /// let changed = state.apply(&[("call_1", patches)])?;
    /// assert_eq!(changed.iter().count(), 2);
    /// assert!(changed.to_store().eq([(Scope::Run, "kept", Some(&json!(1)))]));
    ///
    /// let mut patches = Patches::new();
    /// patches.remove(&KEPT);
    /// let changed = state.apply(&[("call_2", patches)])?;
    /// assert!(changed.to_store().eq([(Scope::Run, "kept", None)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_store(&self) -> impl Iterator<Item = (Scope, &str, Option<&Value>)> {
        self.0.iter().filter(|key| key.persistent || key.was_persistent).map(|key| {
            let value = key.value.as_deref().filter(|_| key.persistent);
            (key.scope, &*key.key, value)
        })
    }

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds later changes.
    pub(crate) fn extend(&mut self, later: &Changed) {
        self.0.extend(later.0.iter().cloned());
    }
}
