//! Errors of the operations.

use std::fmt;

use runstate::service_run::{FinalStatus, ServiceRunError, ServiceRunStatus};
use serde::{Deserialize, Serialize};

use crate::port::PortError;
use crate::store::ServiceStoreError;
use crate::work::UnusableRun;

/// An operation on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The first pass begins.
    Start,
    /// Another pass begins, with answers or another intent.
    Resume,
    /// A person approves the transactions.
    Approve,
    /// A person rejects the transactions.
    Reject,
    /// The transactions are handed out.
    Execute,
    /// Transactions were sent.
    TxSubmitted,
    /// The receipts are read.
    PollTx,
    /// The run is removed.
    Delete,
}

impl Operation {
    /// The operations that a run in that status allows.
    ///
    /// ```
    /// use runstate::service_run::ServiceRunStatus;
    /// use runstate_service::Operation;
    ///
    /// assert_eq!(
    ///     Operation::allowed(ServiceRunStatus::AwaitingApproval),
    ///     [Operation::Approve, Operation::Reject],
    /// );
    /// assert!(Operation::allowed(ServiceRunStatus::Running).is_empty());
    /// ```
    pub const fn allowed(status: ServiceRunStatus) -> &'static [Operation] {
        match status {
            ServiceRunStatus::Created => &[Operation::Start],
            ServiceRunStatus::Running => &[],
            ServiceRunStatus::Paused => &[Operation::Resume],
            ServiceRunStatus::AwaitingApproval => &[Operation::Approve, Operation::Reject],
            ServiceRunStatus::ApprovedReady => &[Operation::Execute, Operation::TxSubmitted],
            ServiceRunStatus::Submitted => &[Operation::TxSubmitted, Operation::PollTx],
            ServiceRunStatus::Confirmed
            | ServiceRunStatus::Reverted
            | ServiceRunStatus::Blocked
            | ServiceRunStatus::Failed
            | ServiceRunStatus::Rejected => &[Operation::Delete],
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A run that refuses an operation, with the operations that it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The run.
    pub run: String,
    /// The refused operation.
    pub operation: Operation,
    /// The status of the run.
    pub status: ServiceRunStatus,
    /// The final status of its last pass.
    pub final_status: Option<FinalStatus>,
    /// The operations that the run allows.
    pub allowed: &'static [Operation],
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { run, operation, status, final_status, allowed } = self;
        write!(f, "run {run:?} is {status}")?;
        if let Some(final_status) = final_status {
            write!(f, " ({final_status})")?;
        }
        write!(f, " and refuses {operation}; ")?;
        if allowed.is_empty() {
            return f.write_str("it allows nothing until its pass ends");
        }
        let allowed: Vec<String> = allowed.iter().map(Operation::to_string).collect();
        write!(f, "it allows {}", allowed.join(", "))
    }
}

/// The error of an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The run refuses the operation in its status.
    #[error("{0}")]
    Conflict(Conflict),
    /// The run has no checkpoint: it was never started.
    #[error("{0}: it has no checkpoint")]
    NoCheckpoint(Conflict),
    /// The approval is for other transactions.
    #[error("run {:?}: {error}", conflict.run)]
    StaleDigest {
        /// The run.
        conflict: Conflict,
        /// Both digests.
        error: ServiceRunError,
    },
    /// A new intent for a run that waits for answers.
    #[error("run {:?}: {error}", conflict.run)]
    IntentWhileInputIsNeeded {
        /// The run.
        conflict: Conflict,
        /// The questions.
        error: ServiceRunError,
    },
    /// The actor created or resumed the run, and may not approve it.
    #[error("{actor} created or resumed run {run:?} and may not approve it; expected another actor")]
    NotDistinct {
        /// The run.
        run: String,
        /// The actor.
        actor: String,
    },
    /// The content of the request cannot be used.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The reason.
        reason: String,
    },
    /// The run has no transactions to sign.
    #[error("run {run:?} has no transactions to sign")]
    NothingToSign {
        /// The run.
        run: String,
    },
    /// A port gave no answer.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The store refused the operation or failed.
    #[error(transparent)]
    Store(#[from] ServiceStoreError),
    /// The stored run cannot be used.
    #[error("run {run:?}: {error}")]
    Unusable {
        /// The run.
        run: String,
        /// The reason.
        #[source]
        error: UnusableRun,
    },
}
