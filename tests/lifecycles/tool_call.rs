//! A tool call: its states by legal steps, the data each owns, what its guard refuses.

use runstate::decision::{Decision, DecisionAction, ResumeMode, Suspension};
use runstate::kernel::Machine;
use runstate::tool_call::*;
use runstate::tool_result::ToolResult;
use serde_json::{Value, json};

use super::stored;
use crate::proof::Calls;

fn new() -> ToolCall<New> {
    let record = CallRecord::new("call_1", "delete_file", json!({ "path": "notes.tmp" }));
    ToolCall::new(record.at(CallKey { step: 2, ordinal: 1 }))
}

fn suspension() -> Suspension {
    Suspension::new("sus-1", "approve", "delete notes.tmp?")
}

fn approval() -> Decision {
    Decision::new("dec-1", "sus-1", DecisionAction::Resume)
}

fn suspended() -> ToolCall<Suspended> {
    new().suspend(Suspend::new(suspension()))
}

/// A call in that status, reached by legal steps.
pub(crate) fn at(status: ToolCallStatus) -> AnyToolCall {
    match status {
        ToolCallStatus::New => new().into(),
        ToolCallStatus::Running => new().start(Start).into(),
        ToolCallStatus::Suspended => suspended().into(),
        ToolCallStatus::Resuming => suspended().resume(Resume::new(approval())).unwrap().into(),
        ToolCallStatus::Succeeded => new().start(Start).succeed(Succeed::new("gone")).into(),
        ToolCallStatus::Failed => new().start(Start).fail(Fail::new("no such file")).into(),
        ToolCallStatus::Cancelled => suspended().cancel(Cancel::new("keep it")).into(),
    }
}

/// A call in that status that the guard of `event` lets pass, where the status has an edge for it.
pub(crate) fn ready(status: ToolCallStatus, _event: &str) -> AnyToolCall {
    at(status)
}

/// The event of that name, with a payload that fits the call where there is one.
pub(crate) fn event(call: &AnyToolCall, name: &str) -> ToolCallEvent {
    crate::proof::fitting(Calls, call, name)
}

#[test]
fn new_owns_nothing_beside_what_was_asked_for() {
    let call = new();
    let record = call.record();
    assert_eq!((record.id(), record.tool()), ("call_1", "delete_file"));
    assert_eq!(record.arguments(), &json!({ "path": "notes.tmp" }));
    assert_eq!((record.attempts(), record.suspensions()), (0, 0));
    assert_eq!(record.key().to_string(), "2.1");
    assert_eq!(stored::state(&call), Value::Null);
}

#[test]
fn running_counts_its_attempts() {
    let call = new().start(Start);
    assert_eq!(call.record().attempts(), 1);
    assert_eq!(stored::state(&call), json!({}));
    // Executed, suspended by the tool itself, and executed again as a replay.
    let call = call.suspend(Suspend::new(suspension())).resume(Resume::new(approval())).unwrap().start(Start);
    assert_eq!((call.record().attempts(), call.record().suspensions()), (2, 1));
}

#[test]
fn suspended_owns_its_suspension() {
    let full = suspension().expiring_at(60_000).resuming_by(ResumeMode::PassDecisionToTool);
    let call = new().suspend(Suspend::new(full.clone()));
    assert_eq!(call.suspension(), &full);
    assert_eq!(call.record().suspensions(), 1);
    assert_eq!(
        stored::state(&call),
        json!({ "suspension": {
            "id": "sus-1", "action": "approve", "message": "delete notes.tmp?",
            "resume_mode": "pass_decision_to_tool", "expires_at_ms": 60_000,
        } })
    );
    stored::survives(AnyToolCall::from(call));
}

#[test]
fn resuming_owns_its_suspension_and_the_decision() {
    let mut decision = approval();
    decision.result = json!({ "path": "other.tmp" });
    decision.actor = Some("ada".into());
    decision.reason = Some("that one is in use".into());
    let call = suspended().resume(Resume::new(decision.clone())).unwrap();
    assert_eq!((call.suspension(), call.decision()), (&suspension(), &decision));
    let state = stored::state(&call);
    assert_eq!(state["suspension"]["id"], "sus-1");
    assert_eq!(
        state["decision"],
        json!({
            "decision_id": "dec-1", "suspension_id": "sus-1", "action": "resume",
            "result": { "path": "other.tmp" }, "reason": "that one is in use", "actor": "ada",
            "decided_at_ms": 0,
        })
    );
    stored::survives(AnyToolCall::from(call));
}

#[test]
fn succeeded_owns_its_output_and_warning() {
    let call = new().start(Start).succeed(Succeed::new(json!({ "deleted": 1 })));
    assert_eq!((call.output(), call.warning()), (&json!({ "deleted": 1 }), None));
    assert_eq!(stored::state(&call), json!({ "output": { "deleted": 1 } }));

    let call = new().start(Start).succeed(Succeed::new(Value::Null).warned("it was empty"));
    assert_eq!((call.output(), call.warning()), (&Value::Null, Some("it was empty")));
    assert_eq!(stored::state(&call), json!({ "output": null, "warning": "it was empty" }));
    stored::survives(AnyToolCall::from(call));
}

#[test]
fn failed_owns_its_error() {
    let call = new().start(Start).fail(Fail::new("no such file"));
    assert_eq!(call.error(), "no such file");
    assert_eq!(stored::state(&call), json!({ "error": "no such file" }));
}

#[test]
fn cancelled_owns_its_reason() {
    let call = suspended().cancel(Cancel::new("keep it"));
    assert_eq!((call.reason(), call.cause()), ("keep it", CancelCause::Other));
    assert_eq!(stored::state(&call), json!({ "reason": "keep it" }));
    let denied = suspended().cancel(Cancel::new("keep it").because(CancelCause::Denied));
    assert_eq!(stored::state(&denied), json!({ "reason": "keep it", "cause": "denied" }));
    stored::survives(AnyToolCall::from(denied));
    let (record, _cancelled) = call.into_parts();
    assert_eq!(record.id(), "call_1");
}

#[test]
fn every_state_survives_storage() {
    stored::assert_forms("tool_call", ToolCallStatus::ALL.iter().map(|status| at(*status)));
}

#[test]
fn a_decision_resumes_the_suspension_it_names_only() {
    let stale = Resume::new(Decision::new("dec-0", "sus-0", DecisionAction::Resume));
    let rejected = suspended().resume(stale.clone()).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the decision is on suspension \"sus-0\", the call waits for \"sus-1\""
    );
    assert_eq!(rejected.machine.suspension(), &suspension());
    assert_eq!(rejected.event, stale);

    let before = stored::form(&at(ToolCallStatus::Suspended));
    let refused = at(ToolCallStatus::Suspended).apply(stale.into()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "tool_call in state Suspended refuses 'resume': the decision is on suspension \"sus-0\", \
         the call waits for \"sus-1\""
    );
    assert_eq!(stored::form(refused.machine()), before, "a refusal changes nothing");
}

/// What the guard refuses, no stored form gives either, even under a good seal.
#[test]
fn a_stored_call_resumes_by_its_own_decision_only() {
    let resuming = at(ToolCallStatus::Resuming);
    let mut stale = stored::state(&resuming);
    stale["decision"]["suspension_id"] = json!("sus-0");
    assert_eq!(
        super::doctored(&resuming, |stored| stored["state"] = stale),
        "the state is not that of a machine in Resuming: \
         the decision is on suspension \"sus-0\", the call waits for \"sus-1\""
    );
    let mut denied = stored::state(&resuming);
    denied["decision"]["action"] = json!("cancel");
    assert_eq!(
        super::doctored(&resuming, |stored| stored["state"] = denied),
        "the state is not that of a machine in Resuming: \
         the decision is to cancel: the call is cancelled by it, not resumed"
    );
}

#[test]
fn a_decision_to_cancel_resumes_nothing() {
    let cancel = Decision::new("dec-1", "sus-1", DecisionAction::Cancel);
    let rejected = suspended().resume(Resume::new(cancel.clone())).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the decision is to cancel: the call is cancelled by it, not resumed"
    );
    assert_eq!(rejected.event, Resume::new(cancel));
}

/// Document 003, "Resume replay", its table row by row.
#[test]
fn a_replay_is_what_the_resume_mode_says() {
    let (arguments, answer) = (json!({ "path": "notes.tmp" }), json!("yes"));
    let rows = [
        (ResumeMode::ReplayToolCall, Replay::Execute(&arguments)),
        (ResumeMode::UseDecisionAsToolResult, Replay::Supplied(&answer)),
        (ResumeMode::PassDecisionToTool, Replay::Execute(&answer)),
    ];
    for (mode, expected) in rows {
        let mut decision = approval();
        decision.result = answer.clone();
        let call = new().suspend(Suspend::new(suspension().resuming_by(mode)));
        let call = call.resume(Resume::new(decision)).unwrap();
        assert_eq!(call.replay(), expected, "{mode:?}");
    }
}

/// Document 000, the labels of Layer 2, from both states that a tool answers in.
#[test]
fn an_answer_leads_where_its_label_says() {
    let warning = ToolResult::Warning { output: json!(1), warning: "slow".into() };
    let rows = [
        (ToolResult::Success(json!(1)), ToolCallStatus::Succeeded),
        (warning, ToolCallStatus::Succeeded),
        (ToolResult::Pending(suspension()), ToolCallStatus::Suspended),
        (ToolResult::Error("broken".into()), ToolCallStatus::Failed),
    ];
    for (result, expected) in rows {
        let running = AnyToolCall::from(new().start(Start).answered(result.clone()));
        let resuming = suspended().resume(Resume::new(approval())).unwrap();
        let resuming = AnyToolCall::from(resuming.answered(result.clone()));
        for call in [running, resuming] {
            assert_eq!(call.status(), expected, "{result:?}");
            match (call, &result) {
                (AnyToolCall::Succeeded(call), ToolResult::Warning { warning, .. }) => {
                    assert_eq!(call.warning(), Some(&**warning));
                }
                (AnyToolCall::Succeeded(call), _) => {
                    assert_eq!((call.output(), call.warning()), (&json!(1), None))
                }
                (AnyToolCall::Suspended(call), _) => assert_eq!(call.suspension(), &suspension()),
                (AnyToolCall::Failed(call), _) => assert_eq!(call.error(), "broken"),
                (call, _) => panic!("{call:?}"),
            }
        }
    }
}

#[test]
fn suspension_expires_exactly_at_its_time() {
    let suspension = suspension().expiring_at(10);
    assert_eq!([9, 10, 11].map(|now| suspension.is_expired(now)), [false, true, true]);
    assert!(!self::suspension().is_expired(u64::MAX), "one without a time never lapses");
}

#[test]
fn every_event_has_a_payload_that_fits() {
    super::assert_every_edge_is_taken(ToolCallStatus::ALL, ready, event);
}

#[test]
fn states_are_reached() {
    super::assert_states_are_reached(ToolCallStatus::ALL, at);
    let record = CallRecord::new("call_1", "read_file", Value::Null);
    assert_eq!(AnyToolCall::create(record).status(), ToolCallStatus::New);
}
