//! The patches of a round, at its commit.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
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
    /// Of the run.
    #[serde(default, skip_serializing_if = "Values::has_nothing_to_store")]
    pub run: Values,
    /// Of the thread.
    #[serde(default, skip_serializing_if = "Values::has_nothing_to_store")]
    pub thread: Values,
}

/// What a round changed: keys whose value, or whose being persistent, is another than before. By scope and name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changed(Vec<ChangedKey>);

/// A key that a round changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangedKey {
    /// Its scope.
    pub scope: Scope,
    /// Its name.
    pub key: Arc<str>,
    /// Its value now; none when it was removed.
    pub value: Option<Arc<Value>>,
    /// Is it kept in checkpoints?
    pub persistent: bool,
    /// Was it, until now?
    pub was_persistent: bool,
}

/// Two calls of one round set one key differently. Nothing of what was to be applied is.
///
/// In a run that is what the round wrote since its last commit. A round may have several: what a call wrote is committed with its
/// result, and stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Conflict {
    /// The name of the key.
    pub key: String,
    /// Its scope.
    pub scope: Scope,
    /// The call that comes first in the round.
    pub first: String,
    /// The call that differs from it.
    pub second: String,
}

impl KeyState {
    /// What is committed now, to read from.
    pub fn view(&self) -> StateView {
        StateView::new(self.run.clone(), self.thread.clone())
    }

    /// Applies the patches of a round, each with the name of its call, in call order: all of them or, on a conflict, none.
    ///
    /// Two calls that set a key to the same value, or both remove it, agree. A name that stands in the round more than once
    /// is one call, whose later patches overrule its earlier ones.
    ///
    /// # Errors
    /// [`Conflict`] when two calls of the round leave one key different values, one of them removes what the other sets, or they
    /// differ about its being persistent.
    pub fn apply<N: AsRef<str>>(&mut self, round: &[(N, Patches)]) -> Result<Changed, Conflict> {
        let round = || round.iter().map(|(call, patches)| (call.as_ref(), patches));
        Self::agree(round())?;
        let mut changed = Changed::default();
        self.write(round(), &mut changed)?;
        Ok(changed)
    }

    /// Do the patches of a round agree, each with the name of its call, in call order?
    pub(in crate::agent) fn agree<'p>(
        round: impl Iterator<Item = (&'p str, &'p Patches)> + Clone,
    ) -> Result<(), Conflict> {
        merge(round.clone(), Scope::Run)?;
        merge(round, Scope::Thread).map(drop)
    }

    /// Applies patches that [agree](KeyState::agree), and says what they changed. Those that do not change nothing of their scope.
    pub(in crate::agent) fn write<'p>(
        &mut self,
        round: impl Iterator<Item = (&'p str, &'p Patches)> + Clone,
        changed: &mut Changed,
    ) -> Result<(), Conflict> {
        self.run.change(Scope::Run, merge(round.clone(), Scope::Run)?, &mut changed.0);
        self.thread.change(Scope::Thread, merge(round, Scope::Thread)?, &mut changed.0);
        Ok(())
    }

    /// Puts back what a delta commit wrote ([`Changed::to_store`]): deltas from the first on give the state as it was stored.
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

    /// What a delta commit has to write: names of persistent keys with their values, and without one those that are
    /// to be deleted, because they were removed or are not persistent any more.
    ///
    /// ```
    /// use runstate::agent::keys::{Key, KeyState, Patches, Scope};
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

    /// Did nothing change?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what changed later.
    pub(in crate::agent) fn extend(&mut self, later: &Changed) {
        self.0.extend(later.0.iter().cloned());
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { key, scope, first, second } = self;
        write!(
            f,
            "{first} and {second} of one round set {key:?} in the {scope} differently, and what was written since the last \
             commit is not applied: a key that calls share is set by one call of a round, or to the same value by all"
        )
    }
}

impl Error for Conflict {}
