//! The request of an approval, and its answer.

use serde::{Deserialize, Serialize};

/// The request of a tool for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    tool: String,
    action: String,
    risk: Risk,
}

impl Request {
    /// Makes the request of `tool` to do `action`, which has the given risk.
    pub fn new(tool: impl Into<String>, action: impl Into<String>, risk: Risk) -> Self {
        Request { tool: tool.into(), action: action.into(), risk }
    }

    /// The requesting tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The requested action, for the person that decides.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The risk of the action.
    pub fn risk(&self) -> Risk {
        self.risk
    }
}

/// The risk of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// No notable risk.
    Low,
    /// A risk that needs no decision.
    Medium,
    /// A person must decide.
    High,
    /// A person must decide; in a plan it halts the run.
    Critical,
}

impl Risk {
    /// Returns whether a tool's action of this risk needs a person's decision.
    pub const fn needs_approval(self) -> bool {
        matches!(self, Risk::High | Risk::Critical)
    }

    /// Returns whether a plan with this risk halts the run.
    pub const fn halts_a_plan(self) -> bool {
        matches!(self, Risk::Critical)
    }
}

/// An approving decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub(super) by: String,
    pub(super) at: u64,
    pub(super) reason: Option<String>,
}

impl Decision {
    /// The name of the person that decided.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// The time of the decision, in milliseconds since the Unix epoch.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The reason, if the person gave one.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

/// A rejection, by a person or without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    pub(super) cause: RejectionCause,
    pub(super) at: u64,
}

impl Rejection {
    /// The cause of the rejection.
    pub fn cause(&self) -> &RejectionCause {
        &self.cause
    }

    /// The time of the rejection, in milliseconds since the Unix epoch.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// The cause of a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case", deny_unknown_fields)]
pub enum RejectionCause {
    /// A person rejected the request; the run is rolled back.
    Person {
        /// The name of the person.
        by: String,
        /// The reason that the person gave.
        reason: String,
    },
    /// No answer arrived before the deadline; the run is halted.
    Timeout,
    /// The question was escalated; the run is halted.
    Escalation {
        /// The reason of the escalation.
        why: String,
    },
}

/// The outcome of the attempt of an approved action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The action succeeded.
    Succeeded,
    /// The action was attempted and failed.
    Failed {
        /// The error.
        error: String,
    },
}
