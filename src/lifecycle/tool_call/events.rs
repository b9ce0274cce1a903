//! What happens to a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::decision::{Decision, Suspension};

/// The call must wait for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    pub(super) suspension: Suspension,
}

impl Suspend {
    /// Wait for a decision on this suspension.
    pub fn new(suspension: Suspension) -> Self {
        Suspend { suspension }
    }
}

/// A decision lets the call go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    pub(super) decision: Decision,
}

impl Resume {
    /// Go on by this decision.
    pub fn new(decision: Decision) -> Self {
        Resume { decision }
    }
}

/// The call has its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Succeed {
    pub(super) output: Value,
    pub(super) warning: Option<String>,
}

impl Succeed {
    /// Succeed with this output.
    pub fn new(output: impl Into<Value>) -> Self {
        Succeed { output: output.into(), warning: None }
    }

    /// The same, with something to know about it.
    #[must_use]
    pub fn warned(mut self, warning: impl Into<String>) -> Self {
        self.warning = Some(warning.into());
        self
    }
}

/// The call has an error for an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    pub(super) error: String,
}

impl Fail {
    /// Fail with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The call is given up.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancel {
    pub(super) reason: String,
    pub(super) cause: CancelCause,
}

impl Cancel {
    /// Give up for this reason: a decision's own words, `run cancelled`, `superseded`. The cause is [`CancelCause::Other`].
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into(), cause: CancelCause::Other }
    }

    /// The same, for this cause.
    #[must_use]
    pub fn because(mut self, cause: CancelCause) -> Self {
        self.cause = cause;
        self
    }
}

/// The cause for which a call was given up. The reason says the same to the model in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelCause {
    /// A decision denied it.
    Denied,
    /// No decision came in time.
    Expired,
    /// The user wrote a new message while it waited.
    Superseded,
    /// Its run ended or was cancelled.
    RunEnded,
    /// None of these, or not told.
    #[default]
    Other,
}

impl CancelCause {
    pub(super) fn is_other(&self) -> bool {
        *self == CancelCause::Other
    }
}
