//! Errors of a store.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use runstate::run::RunStatus;

/// The error of a store operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The run does not exist.
    #[error("there is no run {run:?}")]
    NoRun {
        /// The requested id.
        run: String,
    },
    /// The id belongs to a run, which may have been removed, or to a message.
    #[error("the id {run:?} was given to a run already; give the new one another id")]
    Taken {
        /// The id.
        run: String,
    },
    /// The run is leased.
    #[error("the run {run:?} is held by {holder} {}", how_long(.left))]
    Held {
        /// The run.
        run: String,
        /// The holder of the lease.
        holder: String,
        /// The time until the lease expires without a renewal.
        left: Duration,
    },
    /// The run was claimed again. The holder of the older lease must stop.
    #[error(
        "the run {run:?} was taken by another holder: this is lease {fence}, the last one is {current}; \
         nothing was written, and nothing more may be done with it here"
    )]
    Fenced {
        /// The run.
        run: String,
        /// The fencing token of the refused lease.
        fence: u64,
        /// The fencing token of the newest lease.
        current: u64,
    },
    /// The commit does not have the next number.
    #[error("commit {got} of the run {run:?} where commit {expected} is the next; read the run anew")]
    Version {
        /// The run.
        run: String,
        /// The number of the commit.
        got: u64,
        /// The expected number.
        expected: u64,
    },
    /// The thread continues from another run, or from a run that is not `Done`.
    #[error(
        "the thread {thread:?} goes on from the run {run:?}, which is {status}; a new run follows the last one once that is \
         Done"
    )]
    Busy {
        /// The thread.
        thread: String,
        /// The last run of the thread.
        run: String,
        /// The status of that run.
        status: RunStatus,
    },
    /// The run has a new message, and the commit does not contain it.
    #[error(
        "the run {run:?} goes on with the message {message:?}, which this commit does not hold; read the run anew"
    )]
    Superseded {
        /// The run.
        run: String,
        /// The id of the message.
        message: String,
    },
    /// A later run of the thread begins with the messages of this run.
    #[error("the run {by:?} begins with the messages of the run {run:?}; remove {by:?} first")]
    Continued {
        /// The run.
        run: String,
        /// The later run.
        by: String,
    },
    /// Another decision on the suspension was accepted before.
    #[error("the run {run:?} has the decision {decision:?} on the suspension {suspension:?} already")]
    Decided {
        /// The run.
        run: String,
        /// The suspension.
        suspension: String,
        /// The accepted decision.
        decision: String,
    },
    /// The stored data cannot be used: it is corrupt, or of another program or another version of this one.
    #[error("{what}; {help}")]
    Unusable {
        /// The problem and its place.
        what: String,
        /// The remedy.
        help: String,
    },
    /// The commit exceeds the size limit of the store. Nothing was written. A retry fails as well.
    #[error("{what}; {help}")]
    TooLarge {
        /// The size of the commit and the limit.
        what: String,
        /// The remedy.
        help: String,
    },
    /// The store cannot be reached, is too busy, or does not know the result of the operation. A retry may succeed.
    #[error("the store cannot be reached now: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The store failed: the disk is full, read-only or broken.
    #[error("the store failed: {0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Creates the error of a store that cannot be reached.
    pub fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        StoreError::Unavailable(cause.into())
    }

    /// Creates the error of a failed store.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        StoreError::Failed(cause.into())
    }

    /// Creates the error of stored data that cannot be used.
    pub fn unusable(what: impl fmt::Display, help: impl Into<String>) -> Self {
        StoreError::Unusable { what: what.to_string(), help: help.into() }
    }
}

fn how_long(left: &Duration) -> String {
    match *left {
        Duration::MAX => "without an end".to_owned(),
        left => format!("for {left:?} more, unless that is renewed"),
    }
}
