//! Typed names of values.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// The owner of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The run. Its values end with it.
    Run,
    /// The thread. Its values outlive its runs, as its messages do.
    Thread,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Run => "run",
            Scope::Thread => "thread",
        })
    }
}

/// The name of a value of type `T`, in a scope. Without [`persistent`](Key::persistent), the value is kept in memory
/// only.
///
/// A name should have one type and one persistence. The library cannot enforce this. A value of another type is an
/// error when it is read. If two writers differ about `persistent`, the last one counts.
///
/// ```
/// use runstate_agent::keys::{Key, Scope};
///
/// const BUDGET: Key<u64> = Key::run("budget").persistent();
/// assert_eq!((BUDGET.name(), BUDGET.scope(), BUDGET.is_persistent()), ("budget", Scope::Run, true));
///
/// // A key whose name is known at run time only:
/// let key: Key<serde_json::Value> = Key::named(format!("plugin.{}", 7), Scope::Thread);
/// assert_eq!(key.name(), "plugin.7");
/// ```
pub struct Key<T> {
    name: Cow<'static, str>,
    scope: Scope,
    persistent: bool,
    /// A key holds no value, so it is `Send` for every `T`.
    value: PhantomData<fn(T) -> T>,
}

impl<T> Key<T> {
    /// Creates a key of the run.
    pub const fn run(name: &'static str) -> Self {
        Key { name: Cow::Borrowed(name), scope: Scope::Run, persistent: false, value: PhantomData }
    }

    /// Creates a key of the thread.
    pub const fn thread(name: &'static str) -> Self {
        Key { name: Cow::Borrowed(name), scope: Scope::Thread, persistent: false, value: PhantomData }
    }

    /// Creates a key whose name is known at run time only.
    pub fn named(name: impl Into<String>, scope: Scope) -> Self {
        Key { name: Cow::Owned(name.into()), scope, persistent: false, value: PhantomData }
    }

    /// Makes the key persistent: its value is stored in checkpoints. Default: not persistent.
    #[must_use]
    pub const fn persistent(mut self) -> Self {
        self.persistent = true;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The scope.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns whether the value is stored in checkpoints.
    pub const fn is_persistent(&self) -> bool {
        self.persistent
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        Key { name: self.name.clone(), scope: self.scope, persistent: self.persistent, value: PhantomData }
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("name", &self.name)
            .field("scope", &self.scope)
            .field("persistent", &self.persistent)
            .finish()
    }
}
