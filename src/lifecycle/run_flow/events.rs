//! The events of an activation, with the proofs that they need.

use std::sync::Arc;

use super::super::checkpoint::Receipt;
use super::super::resume_tool_call::{Drained, GatePassed, NothingReplayed};
use super::super::termination::FinalReason;
use super::super::turn::Turn;
use super::states::CallOutcome;

macro_rules! events {
    ($($(#[doc = $doc:literal])* $Event:ident { $($field:ident: $Type:ty),+ })+) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, PartialEq)]
        pub struct $Event {
            $(pub(super) $field: $Type),+
        }
    )+ };
}

events! {
    /// A commit was made.
    Commit { receipt: Receipt }
    /// Calls were replayed, or started, at the gate of the start.
    Replay { drained: Drained }
    /// No call was replayed at the start.
    SkipReplay { nothing: NothingReplayed }
    /// The replay is committed, and these calls are suspended.
    Stay { receipt: Receipt, calls: Vec<String> }
    /// The gate before a step was passed.
    Pass { gate: GatePassed }
    /// The activation ends before a step.
    Stop { reason: FinalReason }
    /// The model answered.
    Respond { turn: Arc<Turn> }
    /// The answer is committed, and the activation ends.
    Halt { receipt: Receipt, reason: FinalReason }
    /// The answer is committed, and it has no calls.
    Finish { receipt: Receipt, calls: Vec<String> }
    /// The answer is committed, and it has calls.
    CallTools { receipt: Receipt }
    /// The round is complete, with these outcomes in the order of its calls.
    Complete { outcomes: Vec<CallOutcome> }
    /// The gate after the round was passed, and these calls are suspended.
    Park { gate: GatePassed, calls: Vec<String> }
    /// The gate after the round was passed, and the model has results to read.
    Next { gate: GatePassed }
    /// The runtime failed.
    Fail { message: String }
}

impl Commit {
    /// Makes the event from the receipt of the commit.
    pub fn new(receipt: Receipt) -> Self {
        Commit { receipt }
    }
}

impl Replay {
    /// Makes the event from a drained gate that replayed a call, or that started a call for the first time.
    pub fn new(drained: Drained) -> Self {
        Replay { drained }
    }
}

impl SkipReplay {
    /// Makes the event from a drained gate without a replay.
    pub fn new(nothing: NothingReplayed) -> Self {
        SkipReplay { nothing }
    }
}

impl Stay {
    /// Makes the event from the receipt and the trace names of the suspended calls.
    pub fn new(receipt: Receipt, calls: Vec<String>) -> Self {
        Stay { receipt, calls }
    }
}

impl Pass {
    /// Makes the event from the drained gate.
    pub fn new(gate: impl Into<GatePassed>) -> Self {
        Pass { gate: gate.into() }
    }
}

impl Stop {
    /// Ends the activation for this reason, unless an earlier reason was requested.
    pub fn new(reason: FinalReason) -> Self {
        Stop { reason }
    }
}

impl Respond {
    /// Makes the event with this answer.
    pub fn new(turn: impl Into<Arc<Turn>>) -> Self {
        Respond { turn: turn.into() }
    }
}

impl Halt {
    /// Makes the event from the receipt, with the reason of the end.
    pub fn new(receipt: Receipt, reason: FinalReason) -> Self {
        Halt { receipt, reason }
    }
}

impl Finish {
    /// Makes the event from the receipt.
    pub fn new(receipt: Receipt) -> Self {
        Finish { receipt, calls: Vec::new() }
    }

    /// Sets the trace names of the calls of earlier answers that are still suspended. Default: none. With such calls
    /// the activation ends as suspended.
    #[must_use]
    pub fn with_waiting_calls(mut self, calls: Vec<String>) -> Self {
        self.calls = calls;
        self
    }
}

impl CallTools {
    /// Makes the event from the receipt.
    pub fn new(receipt: Receipt) -> Self {
        CallTools { receipt }
    }
}

impl Complete {
    /// Makes the event with one outcome for each call of the round, in order.
    pub fn new(outcomes: Vec<CallOutcome>) -> Self {
        Complete { outcomes }
    }
}

impl Park {
    /// Makes the event from the drained gate and the trace names of the suspended calls.
    pub fn new(gate: impl Into<GatePassed>, calls: Vec<String>) -> Self {
        Park { gate: gate.into(), calls }
    }
}

impl Next {
    /// Makes the event from the drained gate.
    pub fn new(gate: impl Into<GatePassed>) -> Self {
        Next { gate: gate.into() }
    }
}

impl Fail {
    /// Makes the event with this error message.
    pub fn new(message: impl Into<String>) -> Self {
        Fail { message: message.into() }
    }
}
