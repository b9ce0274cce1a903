//! What happens in an activation, with the proofs that it takes.

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
    /// Calls were replayed, or begun, at the start.
    Replay { drained: Drained }
    /// Nothing was replayed at the start.
    SkipReplay { nothing: NothingReplayed }
    /// What was replayed is committed, and these calls wait.
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
    /// The round is over, with these outcomes in the order of its calls.
    Complete { outcomes: Vec<CallOutcome> }
    /// The gate after the round was passed, and these calls wait.
    Park { gate: GatePassed, calls: Vec<String> }
    /// The gate after the round was passed, and the model has something to read.
    Next { gate: GatePassed }
    /// The runtime failed.
    Fail { message: String }
}

impl Commit {
    /// Proven by this receipt.
    pub fn new(receipt: Receipt) -> Self {
        Commit { receipt }
    }
}

impl Replay {
    /// The gate was drained, and something was replayed in it, or a call that had not started was begun.
    pub fn new(drained: Drained) -> Self {
        Replay { drained }
    }
}

impl SkipReplay {
    /// The gate was drained, and there was nothing.
    pub fn new(nothing: NothingReplayed) -> Self {
        SkipReplay { nothing }
    }
}

impl Stay {
    /// Committed, and these calls, as they are named in traces, wait.
    pub fn new(receipt: Receipt, calls: Vec<String>) -> Self {
        Stay { receipt, calls }
    }
}

impl Pass {
    /// Proven by the drained gate.
    pub fn new(gate: impl Into<GatePassed>) -> Self {
        Pass { gate: gate.into() }
    }
}

impl Stop {
    /// End for this reason, unless an earlier one was asked for.
    pub fn new(reason: FinalReason) -> Self {
        Stop { reason }
    }
}

impl Respond {
    /// With this answer.
    pub fn new(turn: impl Into<Arc<Turn>>) -> Self {
        Respond { turn: turn.into() }
    }
}

impl Halt {
    /// Committed, and the end for this reason.
    pub fn new(receipt: Receipt, reason: FinalReason) -> Self {
        Halt { receipt, reason }
    }
}

impl Finish {
    /// Committed.
    pub fn new(receipt: Receipt) -> Self {
        Finish { receipt, calls: Vec::new() }
    }

    /// The same, while these calls of earlier answers, as they are named in traces, still wait: the activation then ends
    /// as suspended.
    #[must_use]
    pub fn while_waiting_for(mut self, calls: Vec<String>) -> Self {
        self.calls = calls;
        self
    }
}

impl CallTools {
    /// Committed.
    pub fn new(receipt: Receipt) -> Self {
        CallTools { receipt }
    }
}

impl Complete {
    /// With one outcome for each call of the round, in order.
    pub fn new(outcomes: Vec<CallOutcome>) -> Self {
        Complete { outcomes }
    }
}

impl Park {
    /// Proven by the drained gate; these calls, as they are named in traces, wait.
    pub fn new(gate: impl Into<GatePassed>, calls: Vec<String>) -> Self {
        Park { gate: gate.into(), calls }
    }
}

impl Next {
    /// Proven by the drained gate.
    pub fn new(gate: impl Into<GatePassed>) -> Self {
        Next { gate: gate.into() }
    }
}

impl Fail {
    /// Failed like this.
    pub fn new(message: impl Into<String>) -> Self {
        Fail { message: message.into() }
    }
}
