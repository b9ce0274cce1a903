//! The states of a service run: what each of them owns.

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

/// The run wants answers, or there is nothing to do.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paused {
    pub(super) pass: NonZeroU32,
    pub(super) reason: PauseReason,
}

/// Why a run pauses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "final_status", rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub enum PauseReason {
    /// The graph misses something.
    NeedsInput {
        /// What it asks.
        questions: Vec<String>,
    },
    /// There is nothing to do.
    Noop {
        /// Why not.
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

/// The transactions are on their way.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitted {
    pub(super) approved_by: String,
    pub(super) tx_hashes: Vec<String>,
}

/// The transactions went through.
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

/// A rule or a judge forbids to go on.
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
    /// Which pass over the graph this is, from 1; each resume begins another.
    pub fn pass(&self) -> u32 {
        self.pass.get()
    }
}

impl Paused {
    /// Which pass over the graph ended here, from 1.
    pub fn pass(&self) -> u32 {
        self.pass.get()
    }

    /// Why the run pauses.
    pub fn reason(&self) -> &PauseReason {
        &self.reason
    }

    /// NEEDS_INPUT or NOOP.
    pub fn final_status(&self) -> FinalStatus {
        self.reason.final_status()
    }
}

impl AwaitingApproval {
    /// The transactions, in the order in which they are to be signed.
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }
}

impl ApprovedReady {
    /// The transactions, in the order in which they are to be signed: what `execute` answers (D4).
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }

    /// Who approved them.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }
}

impl Submitted {
    /// Who approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes under which they were sent.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
    }
}

impl Confirmed {
    /// Who approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes under which they were sent.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
    }
}

impl Reverted {
    /// Who approved the transactions.
    pub fn approved_by(&self) -> &str {
        &self.approved_by
    }

    /// The hashes under which they were sent.
    pub fn tx_hashes(&self) -> &[String] {
        &self.tx_hashes
    }

    /// Why one was reverted.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Blocked {
    /// What forbids to go on.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Failed {
    /// What went wrong.
    pub fn error(&self) -> &str {
        &self.error
    }
}

impl Rejected {
    /// The transactions that were rejected.
    pub fn tx_requests(&self) -> &[Value] {
        &self.tx_requests
    }

    /// Who rejected them.
    pub fn rejected_by(&self) -> &str {
        &self.rejected_by
    }

    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
