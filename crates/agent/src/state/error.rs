//! Errors of writing and reading runs.

use std::error::Error;
use std::fmt;

use runstate::kernel::Lost;
use runstate::snapshot::{RestoreError, SnapshotError};

use super::super::keys::StoreError;
use super::validate::Inconsistency;

/// The reason why a run could not be written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateError {
    /// Nothing was committed.
    Nothing,
    /// A panic in a transition lost a state machine of the run. Its store has the last commit.
    Lost(Lost),
    /// A part has no JSON form.
    Unwritable(SnapshotError),
    /// The bytes are not a stored run.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem.
        message: String,
    },
    /// A machine or the whole run could not be restored.
    Machine {
        /// The path in the stored run.
        path: String,
        /// The error.
        error: RestoreError,
    },
    /// A value of the run or the thread is invalid.
    Value(StoreError),
    /// Two parts are inconsistent.
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

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Nothing => f.write_str("nothing was committed"),
            StateError::Lost(lost) => lost.fmt(f),
            StateError::Unwritable(error) => error.fmt(f),
            StateError::Syntax { line, column, message } => {
                write!(f, "line {line}, column {column}: not a stored run: {message}")
            }
            StateError::Machine { path, error } => write!(f, "{path}: {error}"),
            StateError::Value(error) => write!(f, "values: {error}"),
            StateError::Inconsistency { path, what } => write!(f, "{path}: {what}"),
        }
    }
}

impl Error for StateError {}
