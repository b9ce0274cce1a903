//! Why a store did not do what it was asked.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::run::RunStatus;

/// Why a store did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such run.
    NoRun {
        /// The id that was asked for.
        run: String,
    },
    /// The id was given to a run, which may have been removed since, or to a message.
    Taken {
        /// The id.
        run: String,
    },
    /// Somebody has the run in hand.
    Held {
        /// The run.
        run: String,
        /// Who.
        holder: String,
        /// How long still, unless the lease is renewed.
        left: Duration,
    },
    /// Somebody took the run since: whoever has this lease must not go on with it.
    Fenced {
        /// The run.
        run: String,
        /// The lease's fence.
        fence: u64,
        /// The fence of the last lease.
        current: u64,
    },
    /// It is not the next commit.
    Version {
        /// The run.
        run: String,
        /// The commit's number.
        got: u64,
        /// The number of the next one.
        expected: u64,
    },
    /// The thread goes on from another run, or from one that is not over.
    Busy {
        /// The thread.
        thread: String,
        /// Its last run.
        run: String,
        /// The status of that run.
        status: RunStatus,
    },
    /// A message came for the run, and the commit does not hold it.
    Superseded {
        /// The run.
        run: String,
        /// The id of the message.
        message: String,
    },
    /// A later run of the thread begins with the messages of this one.
    Continued {
        /// The run.
        run: String,
        /// The run behind it.
        by: String,
    },
    /// Another decision on the suspension was accepted before.
    Decided {
        /// The run.
        run: String,
        /// The suspension.
        suspension: String,
        /// The decision that counts.
        decision: String,
    },
    /// What is stored cannot be used: it is damaged, of another program, or of another version of this one.
    Unusable {
        /// What is wrong, and where.
        what: String,
        /// What to do.
        help: String,
    },
    /// The commit is larger than this store takes. Nothing was written, and the same fails again.
    TooLarge {
        /// How large it would be, and the limit.
        what: String,
        /// What to do.
        help: String,
    },
    /// The store cannot be reached, is too busy, or cannot say whether what was asked for was made. The same may succeed later.
    Unavailable(Box<dyn Error + Send + Sync>),
    /// The store failed: the disk is full, may not be written, is broken.
    Failed(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// The store cannot be reached, for this reason.
    pub fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        StoreError::Unavailable(cause.into())
    }

    /// The store failed, for this reason.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        StoreError::Failed(cause.into())
    }

    /// What is stored cannot be used.
    pub fn unusable(what: impl fmt::Display, help: impl Into<String>) -> Self {
        StoreError::Unusable { what: what.to_string(), help: help.into() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NoRun { run } => write!(f, "there is no run {run:?}"),
            StoreError::Taken { run } => {
                write!(f, "the id {run:?} was given to a run already; give the new one another id")
            }
            StoreError::Held { run, holder, left: Duration::MAX } => {
                write!(f, "the run {run:?} is in the hands of {holder} without an end")
            }
            StoreError::Held { run, holder, left } => write!(
                f,
                "the run {run:?} is in the hands of {holder} for {left:?} more, unless that is renewed"
            ),
            StoreError::Fenced { run, fence, current } => write!(
                f,
                "the run {run:?} was taken by somebody else: this is lease {fence}, the last one is {current}; \
                 nothing was written, and nothing more may be done with it here"
            ),
            StoreError::Version { run, got, expected } => write!(
                f,
                "commit {got} of the run {run:?} where commit {expected} is the next; read the run anew"
            ),
            StoreError::Busy { thread, run, status } => write!(
                f,
                "the thread {thread:?} goes on from the run {run:?}, which is {status}; a new run comes behind the last one once that is Done"
            ),
            StoreError::Superseded { run, message } => write!(
                f,
                "the run {run:?} goes on with the message {message:?}, which this commit does not hold; read the run anew"
            ),
            StoreError::Continued { run, by } => {
                write!(f, "the run {by:?} begins with the messages of the run {run:?}; remove {by:?} first")
            }
            StoreError::Decided { run, suspension, decision } => write!(
                f,
                "the run {run:?} has the decision {decision:?} on the suspension {suspension:?} already"
            ),
            StoreError::Unusable { what, help } | StoreError::TooLarge { what, help } => {
                write!(f, "{what}; {help}")
            }
            StoreError::Unavailable(cause) => write!(f, "the store cannot be reached now: {cause}"),
            StoreError::Failed(cause) => write!(f, "the store failed: {cause}"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StoreError::Unavailable(cause) | StoreError::Failed(cause) => Some(&**cause),
            _ => None,
        }
    }
}
