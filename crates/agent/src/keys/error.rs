//! Errors of reading and writing values.

use super::super::depth::MOST_LEVELS;
use super::key::{Key, Scope};

/// The reason why a value was not read or written. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The value has another type than the key.
    #[error(
        "the value of {key:?} in the {scope} is no {expected}: {got}; a key has one type wherever it is used"
    )]
    Type {
        /// The name of the key.
        key: String,
        /// The scope of the key.
        scope: Scope,
        /// The type of the key.
        expected: &'static str,
        /// The actual type or value.
        got: String,
    },
    /// The value has no JSON form, or none that can be read back, such as `NaN`.
    #[error("a value for {key:?} in the {scope} cannot be kept as JSON: {message}")]
    Unwritable {
        /// The name of the key.
        key: String,
        /// The scope of the key.
        scope: Scope,
        /// The reason.
        message: String,
    },
    /// The value nests deeper than 96 levels.
    #[error("a value for {key:?} in the {scope} nests deeper than {MOST_LEVELS} levels")]
    TooDeep {
        /// The name of the key.
        key: String,
        /// The scope of the key.
        scope: Scope,
    },
}

impl KeyError {
    pub(super) fn of_type<T>(key: &Key<T>, error: &serde_json::Error) -> Self {
        KeyError::Type {
            key: key.name().to_owned(),
            scope: key.scope(),
            expected: std::any::type_name::<T>(),
            got: runstate::json::without_place(error),
        }
    }

    pub(super) fn unwritable<T>(key: &Key<T>, error: &serde_json::Error) -> Self {
        let message = runstate::json::without_place(error);
        KeyError::Unwritable { key: key.name().to_owned(), scope: key.scope(), message }
    }

    pub(super) fn too_deep<T>(key: &Key<T>) -> Self {
        KeyError::TooDeep { key: key.name().to_owned(), scope: key.scope() }
    }
}
