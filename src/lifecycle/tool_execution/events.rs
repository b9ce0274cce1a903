//! What happens in an execution.

use serde_json::Value;

use super::super::decision::Suspension;
use super::started::Started;

/// A plugin blocks the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub(super) reason: String,
}

impl Block {
    /// Block for this reason, which the model reads.
    pub fn new(reason: impl Into<String>) -> Self {
        Block { reason: reason.into() }
    }
}

/// A decision is wanted first.
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

/// The tool is out of scope or missing, or its arguments are wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Reject {
    pub(super) error: String,
}

impl Reject {
    /// Reject with this error, which the model reads.
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
    /// The tool executes. One that must not run twice does so [once](Self::once).
    pub fn execution() -> Self {
        Allow { supplied: None, started: None }
    }

    /// The tool executes, which must not run twice and of which it is durable that it was begun.
    pub fn once(started: Started) -> Self {
        Allow { supplied: None, started: Some(started) }
    }

    /// This result stands in for the tool: a gate set it, or a decision gives it.
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

/// The tool failed.
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
