//! Why something could not be done with a governed run.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::approval::{ApprovalId, ApprovalStatus};
use crate::governed_run::{GovernedRunStatus, ReviewersError, RunId, RunIdError};

/// Why something could not be done with a governed run.
#[derive(Debug)]
#[non_exhaustive]
pub enum GovernedError {
    /// The file system refused. What was written is whole; resuming the run goes on from there.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be. Nothing was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it; never empty.
        faults: Vec<String>,
    },
    /// There is no such run.
    NoSuchRun {
        /// The run.
        run: RunId,
        /// Where it was looked for.
        runs: PathBuf,
    },
    /// Another process has the run in hand, or another task of this one.
    Busy {
        /// The run.
        run: RunId,
    },
    /// A person without a name stopped a run. Nothing was written.
    NoName {
        /// The run.
        run: RunId,
    },
    /// The state of a run that a person gives up can be read: such a run is halted. Nothing was written.
    Readable {
        /// The run.
        run: RunId,
    },
    /// The run is bound to another plan than this governor has. Nothing was written.
    OtherPlan {
        /// The run.
        run: RunId,
        /// The digest of the plan of this governor; none where it has none.
        got: Option<String>,
        /// The digest that the run is bound to; none where it is bound to none.
        expected: Option<String>,
    },
    /// The run does not wait for that approval.
    NotAsked {
        /// The run.
        run: RunId,
        /// The approval.
        approval: ApprovalId,
        /// What became of it; none when the run never asked for it.
        status: Option<ApprovalStatus>,
        /// Where the run is.
        state: GovernedRunStatus,
    },
    /// A rollback of the run was begun and broken off, so that nothing is decided any more. Resuming the run finishes it.
    RollbackUnfinished {
        /// The run.
        run: RunId,
    },
    /// The decision came too late: the run has gone where its timeout leads.
    Expired {
        /// The approval.
        approval: ApprovalId,
        /// When the question expired, in milliseconds since the Unix epoch.
        deadline: u64,
        /// When the decision came.
        at: u64,
    },
    /// The decision counts for nothing, such as one without a name.
    Refused {
        /// The approval.
        approval: ApprovalId,
        /// Why.
        why: String,
    },
    /// The project has no name that a run id can have, or all its ids are taken.
    RunId(RunIdError),
    /// An audit by these would pass everything.
    Reviewers(ReviewersError),
    /// Two tools have one name.
    ToolTwice {
        /// The name.
        tool: String,
    },
    /// The data of the run in memory does not belong together: a mistake of this library's, and nothing was written.
    Inconsistent {
        /// The run.
        run: RunId,
        /// What.
        what: String,
    },
}

impl GovernedError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| GovernedError::Io { path, error }
    }

    pub(super) fn damaged(path: &Path, fault: impl Into<String>) -> Self {
        GovernedError::Damaged { path: path.to_path_buf(), faults: vec![fault.into()] }
    }
}

impl fmt::Display for GovernedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use GovernedError as E;
        match self {
            E::Io { path, error } => write!(f, "{}: {error}", path.display()),
            E::Damaged { path, faults } => {
                write!(
                    f,
                    "{} is not as it should be, and nothing was written: {}",
                    path.display(),
                    faults.join("; ")
                )
            }
            E::NoSuchRun { run, runs } => write!(f, "there is no run {run} in {}", runs.display()),
            E::Busy { run } => {
                write!(f, "another process has run {run} in hand; wait for it to end, or end it")
            }
            E::NoName { run } => {
                write!(f, "run {run} is stopped by a person alone: expected a name, got a blank one")
            }
            E::Readable { run } => write!(f, "the state of run {run} can be read: halt it instead"),
            E::OtherPlan { run, got, expected } => {
                let name = |digest: &Option<String>| digest.clone().unwrap_or_else(|| "none".to_owned());
                write!(
                    f,
                    "run {run} is bound to the plan {}, got {}: the plan was changed since the run began, and is not executed; put \
                     the plan back, or halt the run",
                    name(expected),
                    name(got)
                )
            }
            E::NotAsked { run, approval, status: Some(status), state } => {
                write!(
                    f,
                    "approval {approval} is {status} and cannot be decided again; run {run} is in {state}"
                )
            }
            E::NotAsked { run, approval, status: None, state } => {
                write!(f, "run {run}, in {state}, never asked for approval {approval}")
            }
            E::RollbackUnfinished { run } => {
                write!(
                    f,
                    "a rollback of run {run} is begun and not finished; nothing is decided until the run is recovered"
                )
            }
            E::Expired { approval, deadline, at } => {
                write!(f, "approval {approval} expired at {deadline} ms, the decision is of {at} ms")
            }
            E::Refused { approval, why } => {
                write!(f, "the decision on approval {approval} is refused: {why}")
            }
            E::RunId(error) => error.fmt(f),
            E::Reviewers(error) => error.fmt(f),
            E::ToolTwice { tool } => write!(f, "two tools have the name {tool:?}; give one of them another"),
            E::Inconsistent { run, what } => write!(f, "run {run}: {what}"),
        }
    }
}

impl Error for GovernedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            GovernedError::Io { error, .. } => Some(error),
            GovernedError::RunId(error) => Some(error),
            GovernedError::Reviewers(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RunIdError> for GovernedError {
    fn from(error: RunIdError) -> Self {
        GovernedError::RunId(error)
    }
}

impl From<ReviewersError> for GovernedError {
    fn from(error: ReviewersError) -> Self {
        GovernedError::Reviewers(error)
    }
}
