//! One pass of the resume gate: its states by legal steps, the data each owns, what its guards refuse. And what a gate
//! makes of its passes.

mod gate;

use runstate::checkpoint::without_committer;
use runstate::checkpoint::{Due, Receipt, Trigger};
use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::kernel::Machine;
use runstate::resume_tool_call::*;
use runstate::tool_call::ToolCallStatus;
use runstate::tool_execution::{Allow, ExecutionRecord, ToolExecution};
use serde_json::{Value, json};

use super::stored;

fn receipt(due: Due) -> Receipt {
    without_committer(due)
}

fn decision(action: DecisionAction) -> Decision {
    Decision::new("dec-1", "sus-1", action)
}

fn drain() -> ResumeToolCall<DrainDecisionChannel> {
    ResumeToolCall::new(GateRecord::new(3))
}

fn matched(action: DecisionAction) -> ResumeToolCall<ResolveDecision> {
    drain().match_call(MatchCall::new("call_1", decision(action)))
}

fn durable(action: DecisionAction) -> ResumeToolCall<Replay> {
    let pass = matched(action).resolve(Resolve);
    let receipt = receipt(pass.due());
    pass.persist(Persist::new(receipt)).unwrap()
}

fn executing() -> ResumeToolCall<ExecuteReplayedTool> {
    durable(DecisionAction::Resume).approve(Approve).unwrap().execute(Execute)
}

fn settled() -> ResumeToolCall<ClearResolved> {
    executing().settle(Settle::new(ToolCallStatus::Succeeded)).unwrap()
}

fn next_suspension() -> Suspension {
    Suspension::new("sus-2", "approve", "really?")
}

/// A pass in that status, reached by legal steps.
pub(crate) fn at(status: ResumeToolCallStatus) -> AnyResumeToolCall {
    match status {
        ResumeToolCallStatus::DrainDecisionChannel => drain().into(),
        ResumeToolCallStatus::NoDecision => drain().find_nothing(FindNothing).into(),
        ResumeToolCallStatus::ResolveDecision => matched(DecisionAction::Resume).into(),
        ResumeToolCallStatus::PersistResumeDecision => {
            matched(DecisionAction::Resume).resolve(Resolve).into()
        }
        ResumeToolCallStatus::Replay => durable(DecisionAction::Resume).into(),
        ResumeToolCallStatus::ReplayCancel => durable(DecisionAction::Cancel).deny(Deny).unwrap().into(),
        ResumeToolCallStatus::ReplayResume => {
            durable(DecisionAction::Resume).approve(Approve).unwrap().into()
        }
        ResumeToolCallStatus::ExecuteReplayedTool => executing().into(),
        ResumeToolCallStatus::SetNextSuspended => executing().suspend(Suspend::new(next_suspension())).into(),
        ResumeToolCallStatus::ClearResolved => settled().into(),
        ResumeToolCallStatus::SnapshotIfStateChanged => settled().compare(Compare::new(true)).into(),
        ResumeToolCallStatus::CommitReplay => settled().compare(Compare::new(true)).close(Close).into(),
    }
}

/// A pass in that status that the guard of `event` lets pass, where the status has an edge for it.
pub(crate) fn ready(status: ResumeToolCallStatus, event: &str) -> AnyResumeToolCall {
    match (status, event) {
        (ResumeToolCallStatus::Replay, "deny") => durable(DecisionAction::Cancel).into(),
        _ => at(status),
    }
}

/// The event of that name, with a payload that fits the pass where there is one.
pub(crate) fn event(pass: &AnyResumeToolCall, name: &str) -> ResumeToolCallEvent {
    match name {
        "find_nothing" => FindNothing.into(),
        "match_call" => MatchCall::new("call_1", decision(DecisionAction::Resume)).into(),
        "resolve" => Resolve.into(),
        "persist" => {
            let due = match pass {
                AnyResumeToolCall::PersistResumeDecision(pass) => pass.due(),
                _ => matched(DecisionAction::Resume).resolve(Resolve).due(),
            };
            Persist::new(receipt(due)).into()
        }
        "deny" => Deny.into(),
        "approve" => Approve.into(),
        "execute" => Execute.into(),
        "settle" => Settle::new(ToolCallStatus::Succeeded).into(),
        "suspend" => Suspend::new(next_suspension()).into(),
        "clear" => Clear.into(),
        "compare" => Compare::new(true).into(),
        "close" => Close.into(),
        other => unreachable!("resume_tool_call has no event {other}"),
    }
}

#[test]
fn the_drain_and_no_decision_own_nothing_beside_their_gate() {
    let pass = drain();
    assert_eq!((pass.record().gate(), pass.record().pass()), (3, 1));
    assert_eq!(stored::state(&pass), Value::Null);
    assert_eq!(stored::state(&pass.find_nothing(FindNothing)), Value::Null);
}

/// Five states know the call and the decision on it, and nothing else.
#[test]
fn a_matched_pass_owns_call_and_decision() {
    fn owns(call: &str, got: &Decision, state: &Value, action: DecisionAction) {
        assert_eq!((call, got), ("call_1", &decision(action)));
        let action = serde_json::to_value(action).unwrap();
        assert_eq!(
            state,
            &json!({ "call": "call_1", "decision": {
                "decision_id": "dec-1", "suspension_id": "sus-1", "action": action, "decided_at_ms": 0,
            } })
        );
    }
    let pass = matched(DecisionAction::Resume);
    owns(pass.call(), pass.decision(), &stored::state(&pass), DecisionAction::Resume);
    let pass = durable(DecisionAction::Resume);
    owns(pass.call(), pass.decision(), &stored::state(&pass), DecisionAction::Resume);
    let pass = pass.approve(Approve).unwrap();
    owns(pass.call(), pass.decision(), &stored::state(&pass), DecisionAction::Resume);
    let pass = pass.execute(Execute);
    owns(pass.call(), pass.decision(), &stored::state(&pass), DecisionAction::Resume);
    let pass = durable(DecisionAction::Cancel).deny(Deny).unwrap();
    owns(pass.call(), pass.decision(), &stored::state(&pass), DecisionAction::Cancel);
}

#[test]
fn persist_resume_decision_owes_the_commit_of_its_decision() {
    let pass = matched(DecisionAction::Resume).resolve(Resolve);
    assert_eq!((pass.call(), pass.decision()), ("call_1", &decision(DecisionAction::Resume)));
    assert_eq!((pass.due().trigger(), pass.due().number()), (Trigger::DecisionAccepted, 1));
    let state = stored::state(&pass);
    assert_eq!(state["due"], json!({ "trigger": "DecisionAccepted", "gate": 3, "number": 1 }));
    assert_eq!(state["decided"]["call"], "call_1");
}

#[test]
fn set_next_suspended_owns_the_next_suspension() {
    let pass = executing().suspend(Suspend::new(next_suspension()));
    assert_eq!((pass.call(), pass.suspension()), ("call_1", &next_suspension()));
    let state = stored::state(&pass);
    assert_eq!((&state["call"], &state["suspension"]["id"]), (&json!("call_1"), &json!("sus-2")));
}

#[test]
fn clear_resolved_owns_the_status_that_the_replay_left() {
    let cancelled = durable(DecisionAction::Cancel).deny(Deny).unwrap().clear(Clear);
    let again = executing().suspend(Suspend::new(next_suspension())).clear(Clear);
    let failed = executing().settle(Settle::new(ToolCallStatus::Failed)).unwrap();
    for (pass, status) in [
        (cancelled, ToolCallStatus::Cancelled),
        (again, ToolCallStatus::Suspended),
        (failed, ToolCallStatus::Failed),
    ] {
        assert_eq!((pass.call(), pass.status_after()), ("call_1", status));
        assert_eq!(stored::state(&pass), json!({ "call": "call_1", "status": status.name() }));
    }
}

#[test]
fn the_end_of_a_replay_owns_whether_run_state_changed() {
    for changed in [true, false] {
        let pass = settled().compare(Compare::new(changed));
        let expected = json!({ "call": "call_1", "status": "Succeeded", "changed": changed });
        assert_eq!((pass.call(), pass.status_after()), ("call_1", ToolCallStatus::Succeeded));
        assert_eq!((pass.changed(), stored::state(&pass)), (changed, expected.clone()));
        let pass = pass.close(Close);
        assert_eq!((pass.call(), pass.status_after()), ("call_1", ToolCallStatus::Succeeded));
        assert_eq!((pass.changed(), stored::state(&pass)), (changed, expected));
    }
}

#[test]
fn every_state_survives_storage() {
    stored::assert_forms("resume_tool_call", ResumeToolCallStatus::ALL.iter().map(|status| at(*status)));
}

#[test]
fn a_replay_waits_for_the_receipt_of_its_own_decision() {
    // The receipt of another gate's decision.
    let other = ResumeToolCall::new(GateRecord::new(4))
        .match_call(MatchCall::new("call_2", decision(DecisionAction::Resume)))
        .resolve(Resolve);
    let pass = matched(DecisionAction::Resume).resolve(Resolve);
    let rejected = pass.persist(Persist::new(receipt(other.due()))).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the receipt is for commit 1 (DecisionAccepted) of gate 4, where commit 1 (DecisionAccepted) of gate 3 is due"
    );
    assert_eq!(rejected.event, Persist::new(receipt(other.due())));
    // The pass waits on, and takes the right one.
    let pass = rejected.machine;
    let due = pass.due();
    assert_eq!(pass.persist(Persist::new(receipt(due))).unwrap().call(), "call_1");
}

#[test]
fn a_decision_is_replayed_as_it_says() {
    let rejected = durable(DecisionAction::Resume).deny(Deny).unwrap_err();
    assert_eq!(rejected.error.to_string(), "the decision is to resume: approve it");
    assert_eq!(rejected.machine.decision(), &decision(DecisionAction::Resume));
    let rejected = durable(DecisionAction::Cancel).approve(Approve).unwrap_err();
    assert_eq!(rejected.error.to_string(), "the decision is to cancel: deny it");
    assert_eq!(rejected.machine.decision(), &decision(DecisionAction::Cancel));

    let refused = at(ResumeToolCallStatus::Replay).apply(Deny.into()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "resume_tool_call in state Replay refuses 'deny': the decision is to resume: approve it"
    );
    assert_eq!(stored::form(refused.machine()), stored::form(&at(ResumeToolCallStatus::Replay)));
}

/// The durable decision is also the proof that the call goes on, for a tool that must not run twice.
#[test]
fn a_replay_is_begun_once() {
    let (pass, permit) = durable(DecisionAction::Resume).approve(Approve).unwrap().execute_once();
    let gate = ToolExecution::new(ExecutionRecord::new("call_1", "delete_file"));
    let started = permit.start(&gate);
    assert_eq!((pass.call(), started.call()), ("call_1", "call_1"));
    assert!(gate.allow(Allow::once(started)).is_ok());
    assert_eq!(pass.settle(Settle::new(ToolCallStatus::Failed)).unwrap().call(), "call_1");
}

#[test]
fn a_replay_settles_in_a_terminal_status_only() {
    for status in ToolCallStatus::ALL.iter().copied() {
        match executing().settle(Settle::new(status)) {
            Ok(pass) => {
                assert!(status.is_terminal(), "{status}");
                assert_eq!(pass.status_after(), status);
            }
            Err(rejected) => {
                assert!(!status.is_terminal(), "{status}");
                let expected =
                    format!("the replayed call is {status}; expected Succeeded, Failed or Cancelled");
                assert_eq!(rejected.error.to_string(), expected);
                assert_eq!((rejected.machine.call(), rejected.event), ("call_1", Settle::new(status)));
            }
        }
    }
}

#[test]
fn every_event_has_a_payload_that_fits() {
    super::assert_every_edge_is_taken(ResumeToolCallStatus::ALL, ready, event);
}

#[test]
fn states_are_reached() {
    super::assert_states_are_reached(ResumeToolCallStatus::ALL, at);
    let pass = AnyResumeToolCall::create(GateRecord::new(1));
    assert_eq!(pass.status(), ResumeToolCallStatus::DrainDecisionChannel);
}
