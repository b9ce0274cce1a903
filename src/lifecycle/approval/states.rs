//! The states of an approval, with their data.

use serde::{Deserialize, Serialize};

use super::super::actor::is_name;
use super::{ApprovalError, Decision, Outcome, Rejection};

/// The question waits for a person's answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitingHuman {
    pub(super) submitted_at: u64,
    pub(super) deadline: u64,
}

/// A person approved; the action was not attempted yet.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approved {
    pub(super) decision: Decision,
}

/// A person rejected, or no answer arrived.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    pub(super) rejection: Rejection,
}

/// The action was attempted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Executed {
    pub(super) decision: Decision,
    pub(super) outcome: Outcome,
    pub(super) executed_at: u64,
}

/// The action will not be attempted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aborted {
    pub(super) rejection: Rejection,
    pub(super) aborted_at: u64,
}

impl AwaitingHuman {
    /// The time of the question, in milliseconds since the Unix epoch.
    pub fn submitted_at(&self) -> u64 {
        self.submitted_at
    }

    /// The expiry of the question, in milliseconds since the Unix epoch.
    pub fn deadline(&self) -> u64 {
        self.deadline
    }

    /// Returns whether the question has expired at `now`. It expires at the exact deadline.
    pub fn is_expired(&self, now: u64) -> bool {
        now >= self.deadline()
    }

    /// Fails when the decision names no person, or when it is later than the deadline.
    pub(super) fn decided_in_time(&self, by: &str, at: u64) -> Result<(), ApprovalError> {
        if self.is_expired(at) {
            return Err(ApprovalError::Expired { deadline: self.deadline(), at });
        }
        if is_name(by) { Ok(()) } else { Err(ApprovalError::Nobody) }
    }
}

impl Approved {
    /// The approving decision: its person, time and reason.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl Rejected {
    /// The rejection: its cause and time.
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }
}

impl Executed {
    /// The approving decision: its person, time and reason.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The outcome of the action.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The time of the attempt, in milliseconds since the Unix epoch.
    pub fn executed_at(&self) -> u64 {
        self.executed_at
    }
}

impl Aborted {
    /// The rejection: its cause and time.
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }

    /// The time of the abort, in milliseconds since the Unix epoch.
    pub fn aborted_at(&self) -> u64 {
        self.aborted_at
    }
}
