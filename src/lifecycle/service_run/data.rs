//! The outcomes of a pass over the graph, and the events of a service run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{FinalStatus, PauseReason};

/// The outcome of a pass over the graph, with the data of the next state. [`FinalStatus::decide`] chooses the
/// matching [`FinalStatus`].
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// READY: transactions wait for an approval.
    Ready {
        /// The transactions, in the order in which they must be signed.
        tx_requests: Vec<Value>,
    },
    /// NEEDS_INPUT: the graph lacks input.
    NeedsInput {
        /// The questions to the user.
        questions: Vec<String>,
    },
    /// NOOP: there is nothing to do.
    Noop {
        /// The explanation.
        summary: String,
    },
    /// BLOCKED: a rule or a judge blocks the run.
    Blocked {
        /// The blocking rule or judge, and its reason.
        reason: String,
    },
    /// FAILED: the graph could not finish.
    Failed {
        /// The error.
        error: String,
    },
}

impl RunOutcome {
    /// The final status of this outcome.
    pub const fn final_status(&self) -> FinalStatus {
        match self {
            RunOutcome::Ready { .. } => FinalStatus::Ready,
            RunOutcome::NeedsInput { .. } => FinalStatus::NeedsInput,
            RunOutcome::Noop { .. } => FinalStatus::Noop,
            RunOutcome::Blocked { .. } => FinalStatus::Blocked,
            RunOutcome::Failed { .. } => FinalStatus::Failed,
        }
    }
}

/// Transactions are ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    pub(super) tx_requests: Vec<Value>,
}

impl Ready {
    /// Makes the event with the transactions, in the order in which they must be signed.
    pub fn new(tx_requests: Vec<Value>) -> Self {
        Ready { tx_requests }
    }
}

/// The run needs answers, or there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub(super) reason: PauseReason,
}

impl Pause {
    /// Pauses the run for that reason.
    pub fn new(reason: PauseReason) -> Self {
        Pause { reason }
    }
}

/// A rule or a judge blocks the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub(super) reason: String,
}

impl Block {
    /// Blocks the run for that reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Block { reason: reason.into() }
    }
}

/// The graph could not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fail {
    pub(super) error: String,
}

impl Fail {
    /// Fails the run with that error.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The graph runs again from its restored state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resume {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) intent: Option<String>,
}

impl Resume {
    /// Resumes with answers, which are merged with the answers of earlier resumes. A later answer to a question
    /// replaces an earlier one.
    pub fn with_answers<K: Into<String>>(answers: impl IntoIterator<Item = (K, Value)>) -> Self {
        let answers = answers.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Resume { answers, intent: None }
    }

    /// Resumes with another intent, for a run with the final status NOOP.
    pub fn with_intent(intent: impl Into<String>) -> Self {
        Resume { answers: BTreeMap::new(), intent: Some(intent.into()) }
    }
}

/// A person approved the transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    pub(super) by: String,
}

impl Approve {
    /// Approves in the name of `by`.
    pub fn new(by: impl Into<String>) -> Self {
        Approve { by: by.into() }
    }
}

/// A person rejected the transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub(super) by: String,
    pub(super) reason: String,
}

impl Reject {
    /// Rejects in the name of `by`, for that reason.
    pub fn new(by: impl Into<String>, reason: impl Into<String>) -> Self {
        Reject { by: by.into(), reason: reason.into() }
    }
}

/// The transactions were signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    pub(super) tx_hashes: Vec<String>,
}

impl Submit {
    /// Makes the event with the hashes of the sent transactions.
    pub fn new<T: Into<String>>(tx_hashes: impl IntoIterator<Item = T>) -> Self {
        Submit { tx_hashes: tx_hashes.into_iter().map(Into::into).collect() }
    }
}

/// A transaction was reverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    pub(super) reason: String,
}

impl Revert {
    /// Makes the event with the reason of the revert.
    pub fn new(reason: impl Into<String>) -> Self {
        Revert { reason: reason.into() }
    }
}
