//! The states of an approval: what each of them owns.

use serde::{Deserialize, Serialize};

use super::super::actor::is_name;
use super::{ApprovalError, Decision, Outcome, Rejection};

/// A person was asked and has not answered.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitingHuman {
    pub(super) submitted_at: u64,
    pub(super) deadline: u64,
}

/// A person said yes; the action was not attempted yet.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approved {
    pub(super) decision: Decision,
}

/// A person said no, or no answer came.
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
    /// When the person was asked, in milliseconds since the Unix epoch.
    pub fn submitted_at(&self) -> u64 {
        self.submitted_at
    }

    /// When the question expires, in milliseconds since the Unix epoch.
    pub fn deadline(&self) -> u64 {
        self.deadline
    }

    /// Has the question expired at `now`? To have reached the deadline is enough (B3).
    pub fn is_expired(&self, now: u64) -> bool {
        now >= self.deadline()
    }

    /// Fails when nobody decided, or when somebody did too late.
    pub(super) fn decided_in_time(&self, by: &str, at: u64) -> Result<(), ApprovalError> {
        if self.is_expired(at) {
            return Err(ApprovalError::Expired { deadline: self.deadline(), at });
        }
        if is_name(by) { Ok(()) } else { Err(ApprovalError::Nobody) }
    }
}

impl Approved {
    /// Who said yes, when, and why.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl Rejected {
    /// Who or what rejected, and when.
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }
}

impl Executed {
    /// Who said yes, when, and why.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// What came of the action.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// When it was attempted, in milliseconds since the Unix epoch.
    pub fn executed_at(&self) -> u64 {
        self.executed_at
    }
}

impl Aborted {
    /// Who or what rejected, and when.
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }

    /// When the action was given up, in milliseconds since the Unix epoch.
    pub fn aborted_at(&self) -> u64 {
        self.aborted_at
    }
}
