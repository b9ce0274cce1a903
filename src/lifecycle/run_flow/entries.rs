//! The entries into the states of an activation.

use super::super::checkpoint::Trigger;
use super::super::termination::TerminationReason;
use super::events::{CallTools, Commit, Complete, Fail, Finish, Halt, Park, Replay, Respond, Stay, Stop};
use super::states::{
    AfterInference, CommitAssistant, CommitFinished, CommitReplay0, CommitTool, CommitUser, Error, LlmCall,
    NaturalEnd, ResumeAfterTool, ResumeReplay0, ResumeToolCall, RunEnd, Suspended, Terminate, ToolRound,
};
use super::{
    Accept, Begin, Cancelled, Close, FlowRecord, Infer, LoopTop, OpenGate, RunStart, StepPrepare, WindUp,
};
use crate::kernel::Enter;

impl Enter<RunStart, Begin> for CommitUser {
    fn enter(_: RunStart, _: Begin, flow: &mut FlowRecord) -> Self {
        CommitUser { due: flow.next_due(Trigger::UserMessage) }
    }
}

impl Enter<CommitUser, Commit> for ResumeReplay0 {
    fn enter(_: CommitUser, _: Commit, flow: &mut FlowRecord) -> Self {
        ResumeReplay0 { gate: flow.next_gate(), openings: 0 }
    }
}

impl Enter<ResumeReplay0, Replay> for CommitReplay0 {
    fn enter(_: ResumeReplay0, _: Replay, flow: &mut FlowRecord) -> Self {
        CommitReplay0 { due: flow.next_due(Trigger::ToolResultsCommitted) }
    }
}

impl Enter<CommitReplay0, Stay> for Suspended {
    fn enter(_: CommitReplay0, event: Stay, _: &mut FlowRecord) -> Self {
        Suspended { calls: event.calls }
    }
}

impl Enter<LoopTop, OpenGate> for ResumeToolCall {
    fn enter(_: LoopTop, _: OpenGate, flow: &mut FlowRecord) -> Self {
        ResumeToolCall { gate: flow.next_gate(), openings: 0 }
    }
}

impl Enter<StepPrepare, Infer> for LlmCall {
    fn enter(_: StepPrepare, _: Infer, flow: &mut FlowRecord) -> Self {
        flow.step += 1;
        LlmCall { step: flow.step }
    }
}

impl Enter<LlmCall, Respond> for AfterInference {
    fn enter(_: LlmCall, event: Respond, _: &mut FlowRecord) -> Self {
        AfterInference { turn: event.turn }
    }
}

impl Enter<AfterInference, Accept> for CommitAssistant {
    fn enter(from: AfterInference, _: Accept, flow: &mut FlowRecord) -> Self {
        CommitAssistant { turn: from.turn, due: flow.next_due(Trigger::AssistantTurnCommitted) }
    }
}

impl Enter<CommitAssistant, Finish> for NaturalEnd {
    fn enter(_: CommitAssistant, event: Finish, _: &mut FlowRecord) -> Self {
        NaturalEnd { calls: event.calls }
    }
}

impl Enter<CommitAssistant, CallTools> for ToolRound {
    fn enter(from: CommitAssistant, _: CallTools, _: &mut FlowRecord) -> Self {
        ToolRound { turn: from.turn }
    }
}

impl Enter<ToolRound, Complete> for CommitTool {
    fn enter(_: ToolRound, event: Complete, flow: &mut FlowRecord) -> Self {
        CommitTool { outcomes: event.outcomes, due: flow.next_due(Trigger::ToolResultsCommitted) }
    }
}

impl Enter<CommitTool, Commit> for ResumeAfterTool {
    fn enter(from: CommitTool, _: Commit, flow: &mut FlowRecord) -> Self {
        ResumeAfterTool { outcomes: from.outcomes, gate: flow.next_gate(), openings: 0 }
    }
}

impl Enter<ResumeAfterTool, Park> for Suspended {
    fn enter(_: ResumeAfterTool, event: Park, _: &mut FlowRecord) -> Self {
        Suspended { calls: event.calls }
    }
}

impl Enter<StepPrepare, Stop> for Terminate {
    fn enter(_: StepPrepare, event: Stop, flow: &mut FlowRecord) -> Self {
        // The first requested reason takes precedence.
        Terminate { reason: flow.stopping.take().unwrap_or(event.reason) }
    }
}

impl Enter<CommitAssistant, Halt> for Terminate {
    fn enter(_: CommitAssistant, event: Halt, flow: &mut FlowRecord) -> Self {
        Terminate { reason: flow.stopping.take().unwrap_or(event.reason) }
    }
}

impl<S> Enter<S, Fail> for Error {
    fn enter(_: S, event: Fail, _: &mut FlowRecord) -> Self {
        Error { message: event.message }
    }
}

macro_rules! wind_up {
    ($($From:ident => |$from:pat_param| $reason:expr, $calls:expr;)+) => { $(
        impl Enter<$From, WindUp> for RunEnd {
            fn enter($from: $From, _: WindUp, _: &mut FlowRecord) -> Self {
                let reason = $reason;
                RunEnd { reason, calls: $calls }
            }
        }
    )+ };
}

wind_up! {
    Terminate => |from| from.reason.into(), Vec::new();
    // With suspended calls the run does not end: it waits.
    NaturalEnd => |from| if from.calls.is_empty() {
        TerminationReason::NaturalEnd
    } else {
        TerminationReason::Suspended
    }, from.calls;
    Suspended => |from| TerminationReason::Suspended, from.calls;
    Cancelled => |_| TerminationReason::Cancelled, Vec::new();
    Error => |from| TerminationReason::Error(from.message), Vec::new();
}

impl Enter<RunEnd, Close> for CommitFinished {
    fn enter(from: RunEnd, _: Close, flow: &mut FlowRecord) -> Self {
        CommitFinished { reason: from.reason, calls: from.calls, due: flow.next_due(Trigger::RunFinished) }
    }
}
