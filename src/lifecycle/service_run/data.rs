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
    pub(super) wallet: Option<String>,
    pub(super) chain_id: Option<u64>,
}

impl Resume {
    /// Resumes with answers, which are merged with the answers of earlier resumes. A later answer to a question
    /// replaces an earlier one.
    pub fn with_answers<K: Into<String>>(answers: impl IntoIterator<Item = (K, Value)>) -> Self {
        let answers = answers.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Resume { answers, ..Resume::default() }
    }

    /// Resumes with another intent, for a run with the final status NOOP.
    pub fn with_intent(intent: impl Into<String>) -> Self {
        Resume::default().new_intent(intent)
    }

    /// Sets another intent, for a run with the final status NOOP.
    pub fn new_intent(mut self, intent: impl Into<String>) -> Self {
        self.intent = Some(intent.into());
        self
    }

    /// Sets the wallet of the run. It replaces an earlier one.
    pub fn for_wallet(mut self, wallet: impl Into<String>) -> Self {
        self.wallet = Some(wallet.into());
        self
    }

    /// Sets the chain of the run. It replaces an earlier one.
    pub fn on_chain(mut self, chain_id: u64) -> Self {
        self.chain_id = Some(chain_id);
        self
    }
}

/// A person approved the transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    pub(super) digest: String,
    pub(super) by: String,
    pub(super) at_ms: u64,
}

impl Approve {
    /// Approves the transactions with that [digest](super::tx_digest), in the name of `by`, at `at_ms`.
    pub fn new(digest: impl Into<String>, by: impl Into<String>, at_ms: u64) -> Self {
        Approve { digest: digest.into(), by: by.into(), at_ms }
    }
}

/// A person rejected the transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub(super) by: String,
    pub(super) reason: String,
    pub(super) at_ms: u64,
}

impl Reject {
    /// Rejects in the name of `by`, for that reason, at `at_ms`.
    pub fn new(by: impl Into<String>, reason: impl Into<String>, at_ms: u64) -> Self {
        Reject { by: by.into(), reason: reason.into(), at_ms }
    }
}

/// The transactions were signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    pub(super) tx_hashes: Vec<String>,
    pub(super) by: String,
    pub(super) at_ms: u64,
}

impl Submit {
    /// Makes the event with the hashes of the sent transactions, in the order of the transactions. The first ones may
    /// be sent alone.
    pub fn new<T: Into<String>>(
        tx_hashes: impl IntoIterator<Item = T>,
        by: impl Into<String>,
        at_ms: u64,
    ) -> Self {
        Submit { tx_hashes: tx_hashes.into_iter().map(Into::into).collect(), by: by.into(), at_ms }
    }
}

/// The transactions were confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    pub(super) at_ms: u64,
}

impl Confirm {
    /// Confirms the transactions at `at_ms`.
    pub fn new(at_ms: u64) -> Self {
        Confirm { at_ms }
    }
}

/// A transaction was reverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    pub(super) reason: String,
    pub(super) at_ms: u64,
}

impl Revert {
    /// Makes the event with the reason of the revert, at `at_ms`.
    pub fn new(reason: impl Into<String>, at_ms: u64) -> Self {
        Revert { reason: reason.into(), at_ms }
    }
}
