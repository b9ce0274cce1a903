//! What is asked, and what the answer is.

use serde::{Deserialize, Serialize};

/// What a tool asks an approval for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    tool: String,
    action: String,
    risk: Risk,
}

impl Request {
    /// `tool` wants to do `action`, which has that risk.
    pub fn new(tool: impl Into<String>, action: impl Into<String>, risk: Risk) -> Self {
        Request { tool: tool.into(), action: action.into(), risk }
    }

    /// The tool that asks.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What it wants to do, for the person who decides.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// How risky that is.
    pub fn risk(&self) -> Risk {
        self.risk
    }
}

/// How risky an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing to speak of.
    Low,
    /// Some, that needs nobody's decision.
    Medium,
    /// A person must decide.
    High,
    /// A person must decide; in a plan it halts the run.
    Critical,
}

impl Risk {
    /// Must a person decide on a tool's action of this risk (B7)?
    pub const fn needs_approval(self) -> bool {
        matches!(self, Risk::High | Risk::Critical)
    }

    /// Does a plan with this risk halt the run (document 001, "Valid Transitions")?
    pub const fn halts_a_plan(self) -> bool {
        matches!(self, Risk::Critical)
    }
}

/// A yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub(super) by: String,
    pub(super) at: u64,
    pub(super) reason: Option<String>,
}

impl Decision {
    /// Who decided.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// When, in milliseconds since the Unix epoch.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// What was said about it, if anything.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

/// A no, or no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    pub(super) cause: RejectionCause,
    pub(super) at: u64,
}

impl Rejection {
    /// Who or what rejected.
    pub fn cause(&self) -> &RejectionCause {
        &self.cause
    }

    /// When, in milliseconds since the Unix epoch.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// Who or what rejected an approval (B4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case", deny_unknown_fields)]
pub enum RejectionCause {
    /// A person said no; the run is rolled back.
    Person {
        /// Who.
        by: String,
        /// What was said.
        reason: String,
    },
    /// No answer came in time; the run is halted.
    Timeout,
    /// The question was passed on; the run is halted.
    Escalation {
        /// What was said.
        why: String,
    },
}

/// What came of the approved action once it was attempted (B6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// It was done.
    Succeeded,
    /// It was tried and failed.
    Failed {
        /// What went wrong.
        error: String,
    },
}
