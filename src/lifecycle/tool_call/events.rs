//! The events of a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::decision::{Decision, Suspension};

/// The call must wait for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    pub(super) suspension: Suspension,
}

impl Suspend {
    /// Suspends the call for a decision on this suspension.
    pub fn new(suspension: Suspension) -> Self {
        Suspend { suspension }
    }
}

/// A decision resumes the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    pub(super) decision: Decision,
}

impl Resume {
    /// Resumes the call by this decision.
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
    /// Makes the event with this output.
    pub fn new(output: impl Into<Value>) -> Self {
        Succeed { output: output.into(), warning: None }
    }

    /// Sets a warning. Default: none.
    #[must_use]
    pub fn warned(mut self, warning: impl Into<String>) -> Self {
        self.warning = Some(warning.into());
        self
    }
}

/// The call has an error as its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    pub(super) error: String,
}

impl Fail {
    /// Makes the event with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The call is cancelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancel {
    pub(super) reason: String,
    pub(super) cause: CancelCause,
}

impl Cancel {
    /// Cancels for this reason: the reason of a decision, `run cancelled`, `superseded`. The cause is
    /// [`CancelCause::Other`].
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into(), cause: CancelCause::Other }
    }

    /// Sets the cause. Default: [`CancelCause::Other`].
    #[must_use]
    pub fn because(mut self, cause: CancelCause) -> Self {
        self.cause = cause;
        self
    }
}

/// The cause of a cancellation, for programs. The reason explains it to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelCause {
    /// A decision denied the call.
    Denied,
    /// No decision arrived before the expiry.
    Expired,
    /// A new user message arrived while the call waited.
    Superseded,
    /// The run ended or was cancelled.
    RunEnded,
    /// Another cause, or an unknown one.
    #[default]
    Other,
}

impl CancelCause {
    pub(super) fn is_other(&self) -> bool {
        *self == CancelCause::Other
    }
}
