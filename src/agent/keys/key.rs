//! Names with types.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// What a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One run: it is gone with it.
    Run,
    /// The thread, which outlives its runs, as its messages do.
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

/// The name of a value of type `T`, in a scope. A key that is not [`persistent`](Key::persistent) is kept in memory alone.
///
/// A name has one type and is persistent or not. That is for those who make keys to keep to: a value of another type is
/// told when it is read, and of two writers that differ about `persistent` the last one counts.
///
/// ```
/// use runstate::agent::keys::{Key, Scope};
///
/// const BUDGET: Key<u64> = Key::run("budget").persistent();
/// assert_eq!((BUDGET.name(), BUDGET.scope(), BUDGET.is_persistent()), ("budget", Scope::Run, true));
///
/// // A name that is known at run time only:
/// let key: Key<serde_json::Value> = Key::named(format!("plugin.{}", 7), Scope::Thread);
/// assert_eq!(key.name(), "plugin.7");
/// ```
pub struct Key<T> {
    name: Cow<'static, str>,
    scope: Scope,
    persistent: bool,
    /// A key has no value of its own: it is `Send` whatever `T` is.
    value: PhantomData<fn(T) -> T>,
}

impl<T> Key<T> {
    /// A key of the run.
    pub const fn run(name: &'static str) -> Self {
        Key { name: Cow::Borrowed(name), scope: Scope::Run, persistent: false, value: PhantomData }
    }

    /// A key of the thread.
    pub const fn thread(name: &'static str) -> Self {
        Key { name: Cow::Borrowed(name), scope: Scope::Thread, persistent: false, value: PhantomData }
    }

    /// A key whose name is not known while compiling.
    pub fn named(name: impl Into<String>, scope: Scope) -> Self {
        Key { name: Cow::Owned(name.into()), scope, persistent: false, value: PhantomData }
    }

    /// The same, kept in checkpoints.
    #[must_use]
    pub const fn persistent(mut self) -> Self {
        self.persistent = true;
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its value belongs to.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Is its value kept in checkpoints?
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
