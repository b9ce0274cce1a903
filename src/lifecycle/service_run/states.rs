//! The states of a service run, with their data.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FinalStatus;

/// The graph executes its nodes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    pub(super) pass: NonZeroU32,
}

/// The run needs answers, or there is nothing to do.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paused {
    pub(super) pass: NonZeroU32,
    pub(super) reason: PauseReason,
}

/// The reason of a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "final_status", rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub enum PauseReason {
    /// The graph lacks input.
    NeedsInput {
        /// The questions to the user.
        questions: Vec<String>,
    },
    /// There is nothing to do.
    Noop {
        /// The explanation.
        summary: String,
    },
}

/// Transactions wait for a person's approval.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitingApproval {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
}

/// A person approved the transactions; they were not sent yet.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedReady {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
    pub(super) approved_by: String,
    pub(super) approved_at_ms: u64,
}

/// The transactions were sent.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitted {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
    pub(super) approved_by: String,
    pub(super) approved_at_ms: u64,
    pub(super) submitted_by: String,
    pub(super) submitted_at_ms: u64,
    pub(super) tx_hashes: Vec<String>,
}

/// The transactions were confirmed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmed {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
    pub(super) approved_by: String,
    pub(super) approved_at_ms: u64,
    pub(super) submitted_by: String,
    pub(super) submitted_at_ms: u64,
    pub(super) tx_hashes: Vec<String>,
    pub(super) confirmed_at_ms: u64,
}

/// A transaction was reverted.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reverted {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
    pub(super) approved_by: String,
    pub(super) approved_at_ms: u64,
    pub(super) submitted_by: String,
    pub(super) submitted_at_ms: u64,
    pub(super) tx_hashes: Vec<String>,
    pub(super) reverted_at_ms: u64,
    pub(super) reason: String,
}

/// A rule or a judge blocks the run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    pub(super) reason: String,
}

/// The graph could not finish.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub(super) error: String,
}

/// A person rejected the transactions.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    pub(super) tx_requests: Vec<Value>,
    pub(super) digest: String,
    pub(super) rejected_by: String,
    pub(super) rejected_at_ms: u64,
    pub(super) reason: String,
}

impl PauseReason {
    /// The final status of a run that pauses for this reason.
    pub const fn final_status(&self) -> FinalStatus {
        match self {
            PauseReason::NeedsInput { .. } => FinalStatus::NeedsInput,
            PauseReason::Noop { .. } => FinalStatus::Noop,
        }
    }
}

impl Running {
    /// The number of the pass over the graph, from 1. Each resume begins another pass.
    pub fn pass(&self) -> u32 {
        self.pass.get()
    }
}

impl Paused {
    /// The number of the pass that ended here, from 1.
    pub fn pass(&self) -> u32 {
        self.pass.get()
    }

    /// The reason of the pause.
    pub fn reason(&self) -> &PauseReason {
        &self.reason
    }

    /// The final status: NEEDS_INPUT or NOOP.
    pub fn final_status(&self) -> FinalStatus {
        self.reason.final_status()
    }
}

/// Accessors of states that own transactions.
macro_rules! transactions {
    ($($State:ident),+) => { $(
        impl $State {
            /// The transactions, in the order in which they must be signed.
            pub fn tx_requests(&self) -> &[Value] {
                &self.tx_requests
            }

            /// The [digest](super::tx_digest) of the transactions.
            pub fn digest(&self) -> &str {
                &self.digest
            }
        }
    )+ };
}
transactions!(AwaitingApproval, ApprovedReady, Submitted, Confirmed, Reverted, Rejected);

/// Accessors of states after an approval.
macro_rules! approved {
    ($($State:ident),+) => { $(
        impl $State {
            /// The person that approved the transactions.
            pub fn approved_by(&self) -> &str {
                &self.approved_by
            }

            /// The time of the approval, in milliseconds since the Unix epoch.
            pub fn approved_at_ms(&self) -> u64 {
                self.approved_at_ms
            }
        }
    )+ };
}
approved!(ApprovedReady, Submitted, Confirmed, Reverted);

/// Accessors of states after a submission.
macro_rules! submitted {
    ($($State:ident),+) => { $(
        impl $State {
            /// The person or program that reported the sent transactions.
            pub fn submitted_by(&self) -> &str {
                &self.submitted_by
            }

            /// The time of the submission, in milliseconds since the Unix epoch.
            pub fn submitted_at_ms(&self) -> u64 {
                self.submitted_at_ms
            }

            /// The hashes of the sent transactions, in the order of the transactions.
            pub fn tx_hashes(&self) -> &[String] {
                &self.tx_hashes
            }
        }
    )+ };
}
submitted!(Submitted, Confirmed, Reverted);

impl Confirmed {
    /// The time of the confirmation, in milliseconds since the Unix epoch.
    pub fn confirmed_at_ms(&self) -> u64 {
        self.confirmed_at_ms
    }
}

impl Reverted {
    /// The time at which the revert was noticed, in milliseconds since the Unix epoch.
    pub fn reverted_at_ms(&self) -> u64 {
        self.reverted_at_ms
    }

    /// The reason of the revert.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Blocked {
    /// The reason of the block.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Failed {
    /// The error.
    pub fn error(&self) -> &str {
        &self.error
    }
}

impl Rejected {
    /// The person that rejected the transactions.
    pub fn rejected_by(&self) -> &str {
        &self.rejected_by
    }

    /// The time of the rejection, in milliseconds since the Unix epoch.
    pub fn rejected_at_ms(&self) -> u64 {
        self.rejected_at_ms
    }

    /// The reason of the rejection.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
