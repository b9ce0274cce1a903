//! Errors of a store.

use std::error::Error;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;

/// The error of a store operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceStoreError {
    /// The run does not exist.
    #[error("there is no run {run:?}")]
    NoRun {
        /// The requested id.
        run: String,
    },
    /// The id belongs to a run, which may have been removed.
    #[error("the id {run:?} is taken")]
    Taken {
        /// The id.
        run: String,
    },
    /// An answer is stored under the key of the change's request. Nothing of the change is stored.
    #[error("the key {key:?} of {principal} has an answer already")]
    KeyTaken {
        /// The principal.
        principal: String,
        /// The key.
        key: String,
    },
    /// Another run has the transaction. Nothing of the change is stored.
    #[error("another run has the transaction {hash:?}")]
    HashTaken {
        /// The hash, with its chain.
        hash: String,
    },
    /// The run is leased.
    #[error("run {run:?} is leased by {holder} for another {} ms", left.as_millis())]
    Held {
        /// The run.
        run: String,
        /// The holder of the lease.
        holder: String,
        /// The time until the lease expires without a renewal.
        left: Duration,
    },
    /// The lease was released, or the run was claimed again. The holder must stop.
    #[error("the lease {fence} of run {run:?} is over; the newest lease was {current}")]
    Fenced {
        /// The run.
        run: String,
        /// The fencing token of the refused lease.
        fence: u64,
        /// The fencing token of the newest lease, which may be over too.
        current: u64,
    },
    /// The run has another version.
    #[error("run {run:?} has version {current}; the change is for version {got}")]
    Version {
        /// The run.
        run: String,
        /// The version of the refused change.
        got: u64,
        /// The version of the run.
        current: u64,
    },
    /// The run is not over.
    #[error("run {run:?} is {status}; expected a run that is over")]
    NotOver {
        /// The run.
        run: String,
        /// The status.
        status: ServiceRunStatus,
    },
    /// The store cannot be reached, or does not know the result of the operation. A retry may succeed.
    #[error("the store cannot be reached: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The store failed.
    #[error("the store failed: {0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}
