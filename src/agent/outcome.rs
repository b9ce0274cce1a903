//! How an activation ended, or why it did not.

use std::error::Error;
use std::fmt;

use super::state::RunState;
use super::{CommitError, StateCommitter, commit};
use crate::run::RunStatus;
use crate::run_flow::{CommitFinished, RunFlow};
use crate::termination::TerminationReason;

/// How an activation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Why.
    pub reason: TerminationReason,
    /// The calls that wait, as they are named in traces.
    pub waiting: Vec<String>,
}

/// Why an activation did not begin, or did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum ActivationError {
    /// The run is not in a status from which this activation begins.
    NotStartable {
        /// The status it is in.
        status: RunStatus,
        /// What can be done with it.
        hint: &'static str,
    },
    /// A run that waited was cancelled, and that could not be committed. It can be cancelled again.
    NotCommitted(CommitError),
    /// The end could not be committed. The activation stands at its last state, so that it can be committed again.
    Unfinished(Box<Unfinished>),
}

impl fmt::Display for ActivationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActivationError::NotStartable { status, hint } => write!(f, "the run is {status}: {hint}"),
            ActivationError::NotCommitted(error) => {
                write!(f, "{error}; cancel the run again to commit it again")
            }
            ActivationError::Unfinished(unfinished) => unfinished.error.fmt(f),
        }
    }
}

impl Error for ActivationError {}

/// An activation whose end could not be committed.
#[derive(Debug)]
pub struct Unfinished {
    flow: RunFlow<CommitFinished>,
    error: CommitError,
}

impl Unfinished {
    /// Why the last try failed.
    pub fn error(&self) -> &CommitError {
        &self.error
    }

    /// Commits the end again.
    ///
    /// # Errors
    /// Itself, when it failed again.
    pub fn retry(
        self,
        committer: &mut dyn StateCommitter<RunState>,
        state: &RunState,
    ) -> Result<Outcome, Box<Unfinished>> {
        finish(self.flow, committer, state)
    }
}

pub(super) fn finish(
    flow: RunFlow<CommitFinished>,
    committer: &mut dyn StateCommitter<RunState>,
    state: &RunState,
) -> Result<Outcome, Box<Unfinished>> {
    let receipt = match commit(committer, flow.due(), state) {
        Ok(receipt) => receipt,
        Err(error) => return Err(Box::new(Unfinished { flow, error })),
    };
    let waiting = flow.calls().to_vec();
    match flow.committed(&receipt) {
        Ok((_, reason)) => Ok(Outcome { reason, waiting }),
        Err((flow, wrong)) => Err(Box::new(Unfinished { flow, error: CommitError::new(wrong) })),
    }
}
