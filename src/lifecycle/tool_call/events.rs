//! What happens to a call.

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
}

impl Cancel {
    /// Give up for this reason: a decision's own words, `run cancelled`, `superseded`.
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into() }
    }
}
