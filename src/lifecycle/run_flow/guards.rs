//! The guards of an activation.

use std::error::Error;
use std::fmt;

use super::super::checkpoint::{Due, Receipt, WrongReceipt};
use super::super::resume_tool_call::GateOf;
use super::super::termination::FinalReason;
use super::super::tool_call::ToolCallStatus;
use super::events::{CallTools, Commit, Complete, Finish, Halt, Next, Park, Pass, Replay, SkipReplay, Stay};
use super::states::{
    CommitAssistant, CommitReplay0, CommitTool, CommitUser, LlmCall, NaturalEnd, ResumeAfterTool,
    ResumeReplay0, ResumeToolCall, Suspended, Terminate, ToolRound,
};
use super::{FlowRecord, Infer, LoopTop, StepPrepare};
use crate::kernel::{Guard, State};

/// The reason why an activation refuses a transition: a missing proof, or an inconsistency with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunFlowError {
    /// The receipt is for another commit.
    Receipt(WrongReceipt),
    /// The proof is of another gate.
    Gate {
        /// The number of the gate that was passed.
        got: u64,
        /// The number of the gate at which the activation is.
        expected: u64,
    },
    /// The proof is of a gate outside of this activation.
    OtherActivation,
    /// The gate with that number was opened, so it must be drained before it is passed.
    GateOpened {
        /// The number of the gate.
        gate: u64,
    },
    /// The gate with that number was opened again after the opening of the proof.
    OpenedAgain {
        /// The number of the gate.
        gate: u64,
    },
    /// The list of suspended calls is empty.
    NothingWaits,
    /// The answer has no calls.
    NoCalls,
    /// The answer has calls.
    HasCalls,
    /// The outcomes do not match the calls of the round one to one, or a call is still executing.
    Outcomes {
        /// A description of the mismatch.
        what: String,
    },
    /// The end of the activation was requested, so the model is not called.
    Stopping(FinalReason),
    /// No end was requested, so the gate must be drained before it is passed.
    NotStopping,
}

impl fmt::Display for RunFlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFlowError::Receipt(wrong) => wrong.fmt(f),
            RunFlowError::Gate { got, expected } => {
                write!(f, "the proof is of gate {got}, where the activation stands at gate {expected}")
            }
            RunFlowError::OtherActivation => f.write_str("the proof is of a gate of another activation"),
            RunFlowError::GateOpened { gate } => write!(f, "gate {gate} was opened: drain it to pass it"),
            RunFlowError::OpenedAgain { gate } => {
                write!(
                    f,
                    "gate {gate} was opened again, and no proof covers the later opening: open a gate once"
                )
            }
            RunFlowError::NothingWaits => f.write_str("no call was named that waits"),
            RunFlowError::NoCalls => {
                f.write_str("the model's answer has no calls: it is finished, not executed")
            }
            RunFlowError::HasCalls => {
                f.write_str("the model's answer has calls: they are executed before the end")
            }
            RunFlowError::Outcomes { what } => write!(f, "the round is not complete: {what}"),
            RunFlowError::NotStopping => f.write_str("nothing asked for the end: drain the gate to pass it"),
            RunFlowError::Stopping(reason) => {
                write!(f, "the activation is to end ({reason}) before its next step")
            }
        }
    }
}

impl Error for RunFlowError {}

fn proven(flow: &FlowRecord, due: Due, receipt: &Receipt) -> Result<(), RunFlowError> {
    due.within(flow.identity()).is_met_by(receipt).map_err(RunFlowError::Receipt)
}

/// `openings` is the number of times the activation opened the gate. A proof does not cover the replays of a later
/// opening.
fn passed(flow: &FlowRecord, (expected, openings): (u64, u32), got: GateOf) -> Result<(), RunFlowError> {
    match got {
        GateOf { gate, .. } if gate != expected => Err(RunFlowError::Gate { got: gate, expected }),
        GateOf { flow: other, .. } if other != flow.identity() => Err(RunFlowError::OtherActivation),
        GateOf { opening: 0, gate, .. } if openings > 0 => Err(RunFlowError::GateOpened { gate }),
        GateOf { opening, gate, .. } if opening < openings => Err(RunFlowError::OpenedAgain { gate }),
        GateOf { .. } => Ok(()),
    }
}

fn some_wait(calls: &[String]) -> Result<(), RunFlowError> {
    if calls.is_empty() { Err(RunFlowError::NothingWaits) } else { Ok(()) }
}

macro_rules! guards {
    ($($To:ty: $From:ty, |$from:pat_param, $event:ident: $Event:ty, $flow:pat_param| $check:expr;)+) => { $(
        impl Guard<$From, $Event> for $To
        where
            $To: State<Record = FlowRecord>,
        {
            type Error = RunFlowError;
            fn check($from: &$From, $event: &$Event, $flow: &FlowRecord) -> Result<(), RunFlowError> {
                $check
            }
        }
    )+ };
}

guards! {
    ResumeReplay0: CommitUser, |from, event: Commit, flow| proven(flow, from.due, &event.receipt);
    CommitReplay0: ResumeReplay0, |from, event: Replay, flow| passed(flow, (from.gate, from.openings), event.drained.of());
    LoopTop: ResumeReplay0, |from, event: SkipReplay, flow| passed(flow, (from.gate, from.openings), event.nothing.0);
    LoopTop: CommitReplay0, |from, event: Commit, flow| proven(flow, from.due, &event.receipt);
    Suspended: CommitReplay0, |from, event: Stay, flow| {
        some_wait(&event.calls)?;
        proven(flow, from.due, &event.receipt)
    };
    StepPrepare: ResumeToolCall, |from, event: Pass, flow| passed(flow, (from.gate, from.openings), event.gate.0);
    LlmCall: StepPrepare, |_, _event: Infer, flow| match &flow.stopping {
        Some(reason) => Err(RunFlowError::Stopping(reason.clone())),
        None => Ok(()),
    };
    Terminate: CommitAssistant, |from, event: Halt, flow| proven(flow, from.due, &event.receipt);
    NaturalEnd: CommitAssistant, |from, event: Finish, flow| {
        if !from.turn.calls.is_empty() {
            return Err(RunFlowError::HasCalls);
        }
        proven(flow, from.due, &event.receipt)
    };
    ToolRound: CommitAssistant, |from, event: CallTools, flow| {
        if from.turn.calls.is_empty() {
            return Err(RunFlowError::NoCalls);
        }
        proven(flow, from.due, &event.receipt)
    };
    CommitTool: ToolRound, |from, event: Complete, _| complete(from, event);
    ResumeAfterTool: CommitTool, |from, event: Commit, flow| proven(flow, from.due, &event.receipt);
    Suspended: ResumeAfterTool, |from, event: Park, flow| {
        some_wait(&event.calls)?;
        passed(flow, (from.gate, from.openings), event.gate.0)
    };
    LoopTop: ResumeAfterTool, |from, event: Next, flow| passed(flow, (from.gate, from.openings), event.gate.0);
}

fn complete(round: &ToolRound, event: &Complete) -> Result<(), RunFlowError> {
    let (got, expected) = (event.outcomes.len(), round.turn.calls.len());
    if got != expected {
        return Err(RunFlowError::Outcomes {
            what: format!("expected an outcome for each of its {expected} calls, got {got}"),
        });
    }
    for outcome in &event.outcomes {
        if matches!(outcome.status, ToolCallStatus::Running | ToolCallStatus::Resuming) {
            return Err(RunFlowError::Outcomes {
                what: format!("{} is still {}", outcome.call, outcome.status),
            });
        }
    }
    Ok(())
}
