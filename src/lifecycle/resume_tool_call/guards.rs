//! The guards of a pass.

use std::error::Error;
use std::fmt;

use super::super::checkpoint::WrongReceipt;
use super::super::decision::DecisionAction;
use super::super::tool_call::ToolCallStatus;
use super::events::{Persist, Settle};
use super::states::{
    ClearResolved, ExecuteReplayedTool, PersistResumeDecision, Replay, ReplayCancel, ReplayResume,
};
use super::{Approve, Deny, GateRecord};
use crate::kernel::Guard;

/// The error for a cancelling decision that is approved, or a resuming decision that is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherAction(DecisionAction);

impl fmt::Display for OtherAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            DecisionAction::Resume => "the decision is to resume: approve it",
            DecisionAction::Cancel => "the decision is to cancel: deny it",
        })
    }
}

impl Error for OtherAction {}

/// The error for a replay that ends in a status that is not terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotSettled(ToolCallStatus);

impl fmt::Display for NotSettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the replayed call is {}; expected Succeeded, Failed or Cancelled", self.0)
    }
}

impl Error for NotSettled {}

impl Guard<PersistResumeDecision, Persist> for Replay {
    type Error = WrongReceipt;
    fn check(from: &PersistResumeDecision, event: &Persist, gate: &GateRecord) -> Result<(), WrongReceipt> {
        from.due.within(gate.nonce.number()).is_met_by(&event.receipt)
    }
}

impl Guard<Replay, Deny> for ReplayCancel {
    type Error = OtherAction;
    fn check(from: &Replay, _: &Deny, _: &GateRecord) -> Result<(), OtherAction> {
        expect_action(from, DecisionAction::Cancel)
    }
}

impl Guard<Replay, Approve> for ReplayResume {
    type Error = OtherAction;
    fn check(from: &Replay, _: &Approve, _: &GateRecord) -> Result<(), OtherAction> {
        expect_action(from, DecisionAction::Resume)
    }
}

fn expect_action(from: &Replay, expected: DecisionAction) -> Result<(), OtherAction> {
    let action = from.0.decision.action;
    if action == expected { Ok(()) } else { Err(OtherAction(action)) }
}

impl Guard<ExecuteReplayedTool, Settle> for ClearResolved {
    type Error = NotSettled;
    fn check(_: &ExecuteReplayedTool, event: &Settle, _: &GateRecord) -> Result<(), NotSettled> {
        if event.status.is_terminal() { Ok(()) } else { Err(NotSettled(event.status)) }
    }
}
