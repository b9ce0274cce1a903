//! Errors of writing and reading runs.

use runstate::kernel::Lost;
use runstate::snapshot::{RestoreError, SnapshotError};

use super::super::keys::StoreError;
use super::validate::Inconsistency;

/// The reason why a run could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Nothing was committed.
    #[error("nothing was committed")]
    Nothing,
    /// A panic in a transition lost a state machine of the run. Its store has the last commit.
    #[error("{0}")]
    Lost(Lost),
    /// A part has no JSON form.
    #[error("{0}")]
    Unwritable(SnapshotError),
    /// The bytes are not a stored run.
    #[error("line {line}, column {column}: not a stored run: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem.
        message: String,
    },
    /// A machine or the whole run could not be restored.
    #[error("{path}: {error}")]
    Machine {
        /// The path in the stored run.
        path: String,
        /// The error.
        error: RestoreError,
    },
    /// A value of the run or the thread is invalid.
    #[error("values: {0}")]
    Value(StoreError),
    /// Two parts are inconsistent.
    #[error("{path}: {what}")]
    Inconsistency {
        /// The path in the stored run.
        path: String,
        /// The inconsistency.
        what: String,
    },
}

impl From<Inconsistency> for StateError {
    fn from(Inconsistency { path, what }: Inconsistency) -> Self {
        StateError::Inconsistency { path, what }
    }
}
