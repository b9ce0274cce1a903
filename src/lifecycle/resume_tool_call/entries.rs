//! The entries into the states of a pass.

use super::super::checkpoint::{Due, Trigger};
use super::super::tool_call::ToolCallStatus;
use super::events::{Compare, MatchCall, Persist, Settle, Suspend};
use super::states::{
    ClearResolved, CommitReplay, Decided, ExecuteReplayedTool, PersistResumeDecision, Replay, ReplayCancel,
    ReplayResume, ResolveDecision, SetNextSuspended, SnapshotIfStateChanged,
};
use super::{Approve, Clear, Close, Deny, DrainDecisionChannel, Execute, GateRecord, Resolve};
use crate::kernel::Enter;

impl Enter<DrainDecisionChannel, MatchCall> for ResolveDecision {
    fn enter(_: DrainDecisionChannel, event: MatchCall, _: &mut GateRecord) -> Self {
        ResolveDecision(Decided { call: event.call, decision: event.decision })
    }
}

impl Enter<ResolveDecision, Resolve> for PersistResumeDecision {
    fn enter(from: ResolveDecision, _: Resolve, gate: &mut GateRecord) -> Self {
        let due = Due::of_gate(Trigger::DecisionAccepted, gate.gate, gate.pass);
        PersistResumeDecision { decided: from.0, due }
    }
}

impl Enter<PersistResumeDecision, Persist> for Replay {
    fn enter(from: PersistResumeDecision, _: Persist, _: &mut GateRecord) -> Self {
        Replay(from.decided)
    }
}

impl Enter<Replay, Deny> for ReplayCancel {
    fn enter(from: Replay, _: Deny, _: &mut GateRecord) -> Self {
        ReplayCancel(from.0)
    }
}

impl Enter<Replay, Approve> for ReplayResume {
    fn enter(from: Replay, _: Approve, _: &mut GateRecord) -> Self {
        ReplayResume(from.0)
    }
}

impl Enter<ReplayResume, Execute> for ExecuteReplayedTool {
    fn enter(from: ReplayResume, _: Execute, _: &mut GateRecord) -> Self {
        ExecuteReplayedTool(from.0)
    }
}

impl Enter<ReplayCancel, Clear> for ClearResolved {
    fn enter(from: ReplayCancel, _: Clear, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.0.call, status: ToolCallStatus::Cancelled }
    }
}

impl Enter<ExecuteReplayedTool, Settle> for ClearResolved {
    fn enter(from: ExecuteReplayedTool, event: Settle, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.0.call, status: event.status }
    }
}

impl Enter<ExecuteReplayedTool, Suspend> for SetNextSuspended {
    fn enter(from: ExecuteReplayedTool, event: Suspend, _: &mut GateRecord) -> Self {
        SetNextSuspended { call: from.0.call, suspension: event.suspension }
    }
}

impl Enter<SetNextSuspended, Clear> for ClearResolved {
    fn enter(from: SetNextSuspended, _: Clear, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.call, status: ToolCallStatus::Suspended }
    }
}

impl Enter<ClearResolved, Compare> for SnapshotIfStateChanged {
    fn enter(from: ClearResolved, event: Compare, _: &mut GateRecord) -> Self {
        SnapshotIfStateChanged { call: from.call, status: from.status, changed: event.changed }
    }
}

impl Enter<SnapshotIfStateChanged, Close> for CommitReplay {
    fn enter(from: SnapshotIfStateChanged, _: Close, _: &mut GateRecord) -> Self {
        CommitReplay { call: from.call, status: from.status, changed: from.changed }
    }
}
