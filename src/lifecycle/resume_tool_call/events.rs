//! What happens in a pass.

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
    /// This decision is on this call, as it is named in traces.
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
    /// Proven by this receipt.
    pub fn new(receipt: Receipt) -> Self {
        Persist { receipt }
    }
}

/// The replay came to an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Settle {
    pub(super) status: ToolCallStatus,
}

impl Settle {
    /// The call is in this status now.
    pub fn new(status: ToolCallStatus) -> Self {
        Settle { status }
    }
}

/// The replay wants another decision.
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

/// Run state is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    pub(super) changed: bool,
}

impl Compare {
    /// Did the replay change run state?
    pub fn new(changed: bool) -> Self {
        Compare { changed }
    }
}
