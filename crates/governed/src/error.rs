//! Errors of governed runs.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use runstate::approval::{ApprovalId, ApprovalStatus};
use runstate::governed_run::{GovernedRunStatus, ReviewersError, RunId, RunIdError};

/// The reason why an operation on a governed run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GovernedError {
    /// The file system returned an error. Everything written is complete, and a resumed run continues from there.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        #[source]
        error: io::Error,
    },
    /// A file is invalid. Nothing was written.
    #[error("{} is not as it should be, and nothing was written: {}", .path.display(), .faults.join("; "))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The faults of the file; never empty.
        faults: Vec<String>,
    },
    /// The run does not exist.
    #[error("there is no run {run} in {}", .runs.display())]
    NoSuchRun {
        /// The run.
        run: RunId,
        /// The folder that was searched.
        runs: PathBuf,
    },
    /// Another process, or another task of this process, holds the lock of the run.
    #[error("another process{} holds run {run}; wait for it to end, or end it", numbered(*.by))]
    Busy {
        /// The run.
        run: RunId,
        /// The id of the process; `None` if it is unknown.
        by: Option<u32>,
    },
    /// An operator without a name tried to stop a run. Nothing was written.
    #[error("run {run} is stopped by a person alone: expected a name, got a blank one")]
    NoName {
        /// The run.
        run: RunId,
    },
    /// A run to be abandoned has a readable state. Such a run can be halted instead. Nothing was written.
    #[error("the state of run {run} can be read: halt it instead")]
    Readable {
        /// The run.
        run: RunId,
    },
    /// The run is bound to another plan than this governor's. Nothing was written.
    #[error(
        "run {run} is bound to the plan {}, got {}: the plan was changed since the run began, and is not executed; put \
         the plan back, or halt the run",
        name(.expected), name(.got)
    )]
    OtherPlan {
        /// The run.
        run: RunId,
        /// The digest of this governor's plan; `None` without a plan.
        got: Option<String>,
        /// The digest of the run's plan; `None` if the run is not bound to a plan.
        expected: Option<String>,
    },
    /// The run does not wait for that approval.
    #[error(fmt = not_asked)]
    NotAsked {
        /// The run.
        run: RunId,
        /// The approval.
        approval: ApprovalId,
        /// The status of the approval; `None` if the run never asked for it.
        status: Option<ApprovalStatus>,
        /// The state of the run.
        state: GovernedRunStatus,
    },
    /// A rollback of the run was interrupted, so no decision is accepted. A resumed run completes the rollback.
    #[error(
        "a rollback of run {run} is begun and not finished; nothing is decided until the run is recovered"
    )]
    RollbackUnfinished {
        /// The run.
        run: RunId,
    },
    /// The decision came too late: the run has taken its timeout transition.
    #[error("approval {approval} expired at {deadline} ms, the decision is of {at} ms")]
    Expired {
        /// The approval.
        approval: ApprovalId,
        /// The expiry of the question, in milliseconds since the Unix epoch.
        deadline: u64,
        /// The time of the decision, in milliseconds since the Unix epoch.
        at: u64,
    },
    /// The decision is invalid, for example without a name.
    #[error("the decision on approval {approval} is refused: {why}")]
    Refused {
        /// The approval.
        approval: ApprovalId,
        /// The reason.
        why: String,
    },
    /// The project's name cannot be part of a run id, or all its ids are in use.
    #[error("{0}")]
    RunId(#[from] RunIdError),
    /// An audit by these reviewers would accept everything.
    #[error("{0}")]
    Reviewers(#[from] ReviewersError),
    /// Two tools have one name.
    #[error("two tools have the name {tool:?}; give one of them another")]
    ToolTwice {
        /// The name.
        tool: String,
    },
    /// The data of the run in memory is inconsistent. This is a bug of the library. Nothing was written.
    #[error("run {run}: {what}")]
    Inconsistent {
        /// The run.
        run: RunId,
        /// The inconsistency.
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

fn name(digest: &Option<String>) -> &str {
    digest.as_deref().unwrap_or("none")
}

fn numbered(process: Option<u32>) -> String {
    process.map_or_else(String::new, |process| format!(" ({process})"))
}

fn not_asked(
    run: &RunId,
    approval: &ApprovalId,
    status: &Option<ApprovalStatus>,
    state: &GovernedRunStatus,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match status {
        Some(status) => {
            write!(f, "approval {approval} is {status} and cannot be decided again; run {run} is in {state}")
        }
        None => write!(f, "run {run}, in {state}, never asked for approval {approval}"),
    }
}
