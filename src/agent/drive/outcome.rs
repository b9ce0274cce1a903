//! How a loop ended, or why it did not.

use std::error::Error;
use std::fmt;

use super::super::commit::{CommitError, Delta, StateCommitter};
use super::super::state::RunState;
use crate::checkpoint::commit_async;
use crate::run::RunStatus;
use crate::run_flow::{CommitFinished, RunFlow};
use crate::termination::TerminationReason;

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Why its last activation ended.
    pub reason: TerminationReason,
    /// The calls that wait, as they are named in traces.
    pub waiting: Vec<String>,
    /// What went wrong where it could not change the end any more: errors of plugins in `RunEnd`.
    pub problems: Vec<String>,
}

impl Outcome {
    pub(super) fn waiting(waiting: Vec<String>) -> Self {
        Outcome { reason: TerminationReason::Suspended, waiting, problems: Vec::new() }
    }
}

/// Why a loop did not begin, or did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum ActivationError {
    /// The run is not in a status from which this input leads on.
    NotStartable {
        /// The status it is in.
        status: RunStatus,
        /// What can be done with it.
        hint: &'static str,
    },
    /// An end outside of an activation could not be committed: that of a run that was cancelled while it waited, or whose
    /// loop was dropped in its last commit. The same again commits it.
    NotCommitted(CommitError),
    /// The end could not be committed. The activation stands at its last state, so that it can be committed again.
    Unfinished(Box<Unfinished>),
}

impl fmt::Display for ActivationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActivationError::NotStartable { status, hint } => write!(f, "the run is {status}: {hint}"),
            ActivationError::NotCommitted(error) => {
                write!(f, "{error}; do the same again to commit it")
            }
            ActivationError::Unfinished(unfinished) => {
                write!(
                    f,
                    "{}; the activation has ended and lacks its commit alone: `Unfinished::retry` makes it",
                    unfinished.error
                )
            }
        }
    }
}

impl Error for ActivationError {}

/// An activation whose end could not be committed.
#[derive(Debug)]
pub struct Unfinished {
    pub(super) flow: RunFlow<CommitFinished>,
    pub(super) error: CommitError,
    pub(super) problems: Vec<String>,
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
    ///
    /// # Cancel safety
    /// Dropped, the activation is lost, and its run is an interrupted one in the store.
    pub async fn retry(
        self,
        committer: &mut dyn StateCommitter,
        state: &mut RunState,
    ) -> Result<Outcome, Box<Unfinished>> {
        let Unfinished { flow, problems, .. } = self;
        let due = flow.due();
        let delta = Delta::of(state);
        match commit_async(due, committer.commit(due, &delta)).await {
            Ok(receipt) => {
                state.committed();
                let outcome = finished(flow, &receipt, problems)?;
                state.interrupted = false;
                Ok(outcome)
            }
            Err(error) => Err(Box::new(Unfinished { flow, error, problems })),
        }
    }
}

pub(super) fn finished(
    flow: RunFlow<CommitFinished>,
    receipt: &crate::checkpoint::Receipt,
    problems: Vec<String>,
) -> Result<Outcome, Box<Unfinished>> {
    let waiting = flow.calls().to_vec();
    match flow.committed(receipt) {
        Ok((_, reason)) => Ok(Outcome { reason, waiting, problems }),
        Err((flow, wrong)) => Err(Box::new(Unfinished { flow, error: CommitError::new(wrong), problems })),
    }
}
