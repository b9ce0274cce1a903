//! Payloads that several lifecycles have, and how the documents store them.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runstate::checkpoint::Receipt;
use runstate::checkpoint::without_committer;
use runstate::decision::{Decision, DecisionAction, ResumeMode, Suspension};
use runstate::kernel::{Machine, Persist, Stateful, Status};
use runstate::resume_tool_call::Gate;
use runstate::run::{Run, RunRecord};
use runstate::run_flow::{AnyRunFlow, Begin, Commit, CommitUser, FlowId, FlowRecord, RunFlow};
use runstate::snapshot::Snapshot;
use runstate::termination::{FinalReason, StoppedReason, TerminationReason};
use runstate::testing::EventOf;
use serde_json::{Value, json};

use super::facts;
use super::model::Documented;

/// The event of that name, with a payload that the guard passes, where the documents have that edge for the machine.
pub(crate) fn fitting<D: Documented>(subject: D, machine: &D::Machine, name: &str) -> EventOf<D> {
    let from = machine.status().name();
    let table = D::TABLE;
    let known = table.events.iter().copied().find(|event| *event == name);
    let name = known.unwrap_or_else(|| panic!("{}: the transcription has no event {name}", table.name));
    let passes = |event: EventOf<D>| {
        let same: D::Machine = Snapshot::of(machine).unwrap().restore().unwrap();
        same.apply(event).is_ok()
    };
    let payloads = subject.event(machine, name);
    let mut runner = TestRunner::deterministic();
    for _ in 0..1_000 {
        let payload = payloads.new_tree(&mut runner).unwrap();
        if !table.guarded.contains(&(from, name)) || passes(payload.current()) {
            return payload.current();
        }
    }
    panic!("{}: the guard passes no payload of {name} in {from}", table.name)
}

pub(super) fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("done")),
        any::<i32>().prop_map(Value::from),
        Just(json!({ "path": "notes.md", "lines": [1, 2] })),
    ]
}

pub(super) fn suspensions() -> impl Strategy<Value = Suspension> {
    let modes = select(&[
        ResumeMode::ReplayToolCall,
        ResumeMode::UseDecisionAsToolResult,
        ResumeMode::PassDecisionToTool,
    ]);
    let distinct = any::<bool>();
    (0..1000_u32, modes, any::<Option<u64>>(), values(), distinct).prop_map(
        |(n, mode, expires, parameters, distinct)| {
            let mut suspension = Suspension::new(format!("sus-{n}"), "approve", "may it?").resuming_by(mode);
            suspension.expires_at_ms = expires;
            suspension.parameters = parameters;
            suspension.distinct_actors = distinct;
            suspension.is_date = distinct && expires.is_some();
            suspension
        },
    )
}

/// Decisions; three in four answer the suspension of that id, three in four let the call go on.
pub(super) fn decisions(suspension: &str) -> impl Strategy<Value = Decision> + use<> {
    let id = prop_oneof![3 => Just(suspension.to_owned()), 1 => Just("another".to_owned())];
    let action = prop_oneof![3 => Just(DecisionAction::Resume), 1 => Just(DecisionAction::Cancel)];
    let named = any::<[bool; 3]>();
    (0..100_u32, id, action, values(), proptest::option::of(Just("ada".to_owned())), named).prop_map(
        |(n, id, action, result, actor, [run, call, digest])| {
            let mut decision = Decision::new(format!("dec-{n}"), id, action);
            decision.run_id = if run { "r1".into() } else { String::new() };
            decision.call = if call { "call_1".into() } else { String::new() };
            decision.digest = digest.then(|| "5f70bf18".into());
            decision.result = result;
            decision.actor = actor;
            decision.decided_at_ms = n.into();
            decision
        },
    )
}

/// Each reason that documents 000 and 003 list.
pub(super) fn reasons() -> impl Strategy<Value = TerminationReason> {
    let stopped = |detail| TerminationReason::Stopped(StoppedReason::new("max_rounds", detail).unwrap());
    select(vec![
        TerminationReason::NaturalEnd,
        TerminationReason::BehaviorRequested,
        stopped(None),
        stopped(Some("10 of 10")),
        TerminationReason::Cancelled,
        TerminationReason::Blocked("no".into()),
        TerminationReason::Suspended,
        TerminationReason::Error("the executor is gone".into()),
    ])
}

/// Each of them with which a run is over.
pub(super) fn final_reasons() -> impl Strategy<Value = FinalReason> {
    reasons().prop_filter_map("it waits", |reason| reason.try_into().ok())
}

/// The receipt for a commit of the activation, due or not.
pub(super) fn receipt(due: &Value) -> Receipt {
    let AnyRunFlow::CommitUser(flow) = changed(started(), "due", due.clone()) else { unreachable!() };
    without_committer(flow.due())
}

/// The gate of that number of the activation.
pub(super) fn gate(number: u64) -> Gate {
    let flow = started();
    let due = flow.due();
    let flow = flow.commit(Commit::new(without_committer(due))).unwrap();
    let AnyRunFlow::ResumeReplay0(mut flow) = changed(flow, "gate", number.into()) else { unreachable!() };
    flow.gate()
}

fn started() -> RunFlow<CommitUser> {
    RunFlow::new(FlowRecord::new(&Run::new(RunRecord::new("r1")), 0)).begin(Begin)
}

/// The activation, stored, changed by hand in one place and sealed anew.
fn changed<S>(flow: RunFlow<S>, place: &str, value: Value) -> AnyRunFlow
where
    RunFlow<S>: Persist<Record = FlowRecord>,
{
    let mut stored = serde_json::to_value(Snapshot::of(&flow).unwrap()).unwrap();
    stored["state"][place] = value;
    let mut stored: Snapshot = serde_json::from_value(stored).unwrap();
    stored.recompute_checksum();
    let mut flow: AnyRunFlow = stored.restore().unwrap();
    flow.assume(flow_id());
    flow
}

/// The one flow of all proofs: a walk drives a second machine by the events that were made for the first.
pub(crate) fn flow_id() -> FlowId {
    static FLOW: LazyLock<FlowId> = LazyLock::new(|| started().record().flow_id());
    *FLOW
}

/// The commit that is due; one time in four another one, by trigger, gate or number.
pub(super) fn dues(due: &Value) -> impl Strategy<Value = Value> + use<> {
    let other = |field: &str, value: Value| {
        let mut other = due.clone();
        other[field] = value;
        other
    };
    let others = vec![
        other("trigger", "RunFinished".into()),
        other("trigger", "CallsStarted".into()),
        other("gate", 7.into()),
        other("number", (due["number"].as_u64().unwrap() + 1).into()),
    ];
    prop_oneof![3 => Just(due.clone()), 1 => select(others)]
}

/// The commit that a receipt is for, as it is stored where it is due: one of a gate names it, one of the flow names none.
/// Its activation is not stored with it; the record says that.
pub(super) fn proven(receipt: &Value) -> Value {
    let mut due = without_null(facts::json(receipt));
    due.as_object_mut().unwrap().remove("owner");
    due
}

/// A suspension at rest: names in snake case, and nothing for what is not set or not asked for.
pub(super) fn suspension(fact: &Value) -> Value {
    let mut stored = facts::json(fact);
    stored["resume_mode"] = facts::tagged(&fact["resume_mode"]);
    for flag in ["distinct_actors", "is_date"] {
        if stored[flag] == json!(false) {
            stored[flag] = Value::Null;
        }
    }
    without_null(stored)
}

/// A decision at rest.
pub(super) fn decision(fact: &Value) -> Value {
    let mut stored = facts::json(fact);
    stored["action"] = facts::tagged(&fact["action"]);
    // A decision may name its run and its call, and need not.
    for name in ["run_id", "call"] {
        if stored[name] == json!("") {
            stored[name] = Value::Null;
        }
    }
    without_null(stored)
}

/// A reason at rest.
pub(super) fn reason(fact: &Value) -> Value {
    match facts::name(fact) {
        "Stopped" => json!({ "stopped": without_null(facts::json(&fact["0"])) }),
        _ => facts::tagged(fact),
    }
}

/// What a tool gave, at rest: its warning only where there is one.
pub(super) fn output(fact: &Value) -> Value {
    let mut stored = json!({ "output": facts::json(&fact["output"]) });
    if let Some(warning) = facts::optional(&fact["warning"]) {
        stored["warning"] = warning.clone();
    }
    stored
}

fn without_null(mut stored: Value) -> Value {
    stored.as_object_mut().unwrap().retain(|_, field| !field.is_null());
    stored
}
