//! The events of a pass.

use super::super::checkpoint::Receipt;
use super::super::decision::{Decision, Suspension};
use super::super::tool_call::ToolCallStatus;

/// A decision matches a suspended call.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchCall {
    pub(super) call: String,
    pub(super) decision: Decision,
}

impl MatchCall {
    /// Matches this decision to this call, given by its trace name.
    pub fn new(call: impl Into<String>, decision: Decision) -> Self {
        MatchCall { call: call.into(), decision }
    }
}

/// The decision is durable.
#[derive(Debug, PartialEq)]
pub struct Persist {
    pub(super) receipt: Receipt,
}

impl Persist {
    /// Makes the event from the receipt of the decision's commit.
    pub fn new(receipt: Receipt) -> Self {
        Persist { receipt }
    }
}

/// The replay ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Settle {
    pub(super) status: ToolCallStatus,
}

impl Settle {
    /// Records the status of the call after the replay.
    pub fn new(status: ToolCallStatus) -> Self {
        Settle { status }
    }
}

/// The replay needs another decision.
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

/// The run state is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    pub(super) changed: bool,
}

impl Compare {
    /// Records whether the replay changed the run state.
    pub fn new(changed: bool) -> Self {
        Compare { changed }
    }
}
