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
}

/// A person approved the transactions; they were not sent yet.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedReady {
    pub(super) tx_requests: Vec<Value>,
    pub(super) approved_by: String,
}

/// The transactions were sent.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitted {
    pub(super) approved_by: String,
    pub(super) tx_hashes: Vec<String>,
}

/// The transactions were confirmed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmed {
    pub(super) approved_by: String,
    pub(super) tx_hashes: Vec<String>,
}

/// A transaction was reverted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reverted {
    pub(super) approved_by: String,
    pub(super) tx_hashes: Vec<String>,
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
    pub(super) rejected_by: String,
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

impl AwaitingApproval {
    /// The transactions, in the order in which they must be signed.
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }
}

impl ApprovedReady {
    /// The transactions, in the order in which they must be signed. The service's `execute` call returns them.
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }

    /// The person that approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }
}

impl Submitted {
    /// The person that approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes of the sent transactions.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
    }
}

impl Confirmed {
    /// The person that approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes of the sent transactions.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
    }
}

impl Reverted {
    /// The person that approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes of the sent transactions.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
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
    /// The rejected transactions.
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }

    /// The person that rejected the transactions.
    pub fn rejected_by(&self) -> &str {
        &self.rejected_by
    }

    /// The reason of the rejection.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
