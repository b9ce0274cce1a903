//! State of plugins and tools.
//!
//! A [`Key`] is typed and belongs to a run or to a thread. A thread outlives its runs. A [`StateView`] reads
//! committed values. The writes of a tool or a plugin are collected in [`Patches`]. Other tools do not see them
//! before the patches of the whole round are applied at its commit ([`KeyState::apply`]). They are applied in call
//! order. If two calls of the round set one key to different values, none is applied.
//!
//! ```
//! use runstate_agent::keys::{Key, KeyState, Patches};
//!
//! const SEEN: Key<Vec<String>> = Key::thread("seen").persistent();
//!
//! let mut state = KeyState::default();
//! let view = state.view();
//! let mut patches = Patches::new();
//! patches.set(&SEEN, &vec!["notes.md".to_owned()])?;
//! assert_eq!(patches.get(&SEEN, &view)?, Some(vec!["notes.md".to_owned()]));
//! assert_eq!(view.get(&SEEN)?, None); // not committed yet
//!
//! let changed = state.apply(&[("call_1", patches)])?;
//! assert_eq!(changed.iter().count(), 1);
//! assert_eq!(state.view().get(&SEEN)?, Some(vec!["notes.md".to_owned()]));
//!
//! // Two calls of one round conflict: nothing is applied, and the error names both.
//! let (mut one, mut two) = (Patches::new(), Patches::new());
//! one.set(&SEEN, &vec!["a".to_owned()])?;
//! two.set(&SEEN, &vec!["b".to_owned()])?;
//! let conflict = state.apply(&[("call_2", one), ("call_3", two)]).unwrap_err();
//! assert_eq!((conflict.first.as_str(), conflict.second.as_str()), ("call_2", "call_3"));
//! assert_eq!(state.view().get(&SEEN)?, Some(vec!["notes.md".to_owned()]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod error;
mod key;
mod merge;
mod patches;
mod stored;
mod values;
mod view;

pub use apply::{Changed, ChangedKey, Conflict, KeyState};
pub use error::KeyError;
pub use key::{Key, Scope};
pub use patches::Patches;
pub use stored::StoreError;
pub use values::Values;
pub use view::StateView;
