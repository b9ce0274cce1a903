//! The events of an execution.

use serde_json::Value;

use super::super::decision::Suspension;
use super::started::Started;

/// A plugin blocks the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub(super) reason: String,
}

impl Block {
    /// Blocks the call for this reason, which the model reads.
    pub fn new(reason: impl Into<String>) -> Self {
        Block { reason: reason.into() }
    }
}

/// The call needs a decision first.
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

/// The tool is out of scope or missing, or its arguments are wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Reject {
    pub(super) error: String,
}

impl Reject {
    /// Rejects the call with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Reject { error: error.into() }
    }
}

/// The gate opens.
#[derive(Debug, PartialEq)]
pub struct Allow {
    pub(super) supplied: Option<Value>,
    pub(super) started: Option<Started>,
}

impl Allow {
    /// Executes the tool. A tool that must not run twice needs [`once`](Self::once).
    pub fn execution() -> Self {
        Allow { supplied: None, started: None }
    }

    /// Executes a tool that must not run twice, with the proof that its beginning is durable.
    pub fn once(started: Started) -> Self {
        Allow { supplied: None, started: Some(started) }
    }

    /// Replaces the execution by this result of a gate or of a decision.
    pub fn supplying(result: impl Into<Value>) -> Self {
        Allow { supplied: Some(result.into()), started: None }
    }
}

/// The tool succeeded.
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

/// The tool failed.
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
