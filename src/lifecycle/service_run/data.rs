//! What a pass over the graph comes to, and the events of a service run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{FinalStatus, PauseReason};

/// What a pass over the graph came to, with what the next state owns. Its [`FinalStatus`] is decided by
/// [`FinalStatus::decide`].
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// READY: transactions wait for an approval.
    Ready {
        /// The transactions, in the order in which they are to be signed (D4).
        tx_requests: Vec<Value>,
    },
    /// NEEDS_INPUT: the graph misses something.
    NeedsInput {
        /// What it asks.
        questions: Vec<String>,
    },
    /// NOOP: there is nothing to do.
    Noop {
        /// Why not.
        summary: String,
    },
    /// BLOCKED: a rule or a judge forbids it.
    Blocked {
        /// Which, and why.
        reason: String,
    },
    /// FAILED: the graph could not finish.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl RunOutcome {
    /// The final status that this outcome has.
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
    /// These are ready, in the order in which they are to be signed.
    pub fn new(tx_requests: Vec<Value>) -> Self {
        Ready { tx_requests }
    }
}

/// The run wants answers, or there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub(super) reason: PauseReason,
}

impl Pause {
    /// The run pauses for that reason.
    pub fn new(reason: PauseReason) -> Self {
        Pause { reason }
    }
}

/// A rule or a judge forbids to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub(super) reason: String,
}

impl Block {
    /// Blocked for that reason.
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
    /// Failed with that error.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The graph runs again from its restored state (D3).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resume {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) intent: Option<String>,
}

impl Resume {
    /// Resume with answers, which are added to those of earlier resumes; a later answer to the same question counts.
    pub fn with_answers<K: Into<String>>(answers: impl IntoIterator<Item = (K, Value)>) -> Self {
        let answers = answers.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Resume { answers, intent: None }
    }

    /// Resume with another intent: for a run that came to NOOP.
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
    /// `by` approved.
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
    /// `by` rejected for that reason.
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
    /// Sent, under those hashes.
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
    /// Reverted for that reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Revert { reason: reason.into() }
    }
}
