//! Receipts, starts and gates of one flow, used in another one, also in one of a run of the same id.

use std::any::Any;

use runstate::checkpoint::{Due, Receipt, without_committer};
use runstate::kernel::{Enter, Observer, Rehydration};
use runstate::resume_tool_call::{Drained, FindNothing, Gate, NothingReplayed};
use runstate::run::{Run, RunRecord};
use runstate::run_flow::*;
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::termination::FinalReason;
use runstate::tool_call::{AnyToolCall, CallRecord, Start, Succeed, Succeeded, ToolCall};
use runstate::tool_execution::{
    Allow, BeforeToolExecute, ExecutionRecord, StartPermit, Started, ToolExecution,
};
use runstate::turn::{CallRequest, Turn};
use serde::de::DeserializeOwned;
use serde_json::json;
use static_assertions::assert_not_impl_any;

/// A flow of its own, each time of a run `r1`.
fn commit_user() -> RunFlow<CommitUser> {
    RunFlow::new(FlowRecord::new(&Run::new(RunRecord::new("r1")), 0)).begin(Begin)
}

fn receipt(due: Due) -> Receipt {
    without_committer(due)
}

fn at_the_gate() -> RunFlow<ResumeReplay0> {
    let flow = commit_user();
    let due = flow.due();
    flow.commit(Commit::new(receipt(due))).unwrap()
}

fn nothing(mut gate: Gate) -> NothingReplayed {
    let look = gate.pass(Observer::default()).find_nothing(FindNothing);
    match gate.drained(look).unwrap() {
        Drained::Nothing(nothing) => nothing,
        Drained::Replayed(replayed) => panic!("{replayed:?}"),
    }
}

fn round() -> RunFlow<ToolRound> {
    let mut flow = at_the_gate();
    let gate = flow.gate();
    let mut flow = flow.skip_replay(SkipReplay::new(nothing(gate))).unwrap().open_gate(OpenGate);
    let gate = flow.gate();
    let flow = flow.pass(Pass::new(nothing(gate))).unwrap().infer(Infer).unwrap();
    let turn = Turn { calls: vec![CallRequest::new("pay_1", "pay", json!({}))], ..Turn::default() };
    let flow = flow.respond(Respond::new(turn)).accept(Accept);
    let due = flow.due();
    flow.call_tools(CallTools::new(receipt(due))).unwrap()
}

fn execution(flow: &RunFlow<ToolRound>) -> ToolExecution<BeforeToolExecute> {
    ToolExecution::new(ExecutionRecord::new("pay_1", "pay").of(flow.record().flow_id()))
}

fn started(flow: &mut RunFlow<ToolRound>, execution: &ToolExecution<BeforeToolExecute>) -> Started {
    let starting = flow.calls_started([execution]);
    let receipt = receipt(starting.due());
    let mut started = starting.committed(receipt).unwrap();
    started.pop().unwrap()
}

#[test]
fn a_receipt_of_one_flow_is_no_receipt_of_another() {
    let (flow, other) = (commit_user(), commit_user());
    let rejected = flow.commit(Commit::new(receipt(other.due()))).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the receipt is for commit 1 (UserMessage) of another flow or gate, where commit 1 (UserMessage) is due"
    );
    let due = rejected.machine.due();
    assert!(rejected.machine.commit(Commit::new(receipt(due))).is_ok());
}

#[test]
fn restored_flow_refuses_a_receipt_from_before() {
    let flow = commit_user();
    let before = receipt(flow.due());
    let AnyRunFlow::CommitUser(back) = Snapshot::of(&flow).unwrap().restore().unwrap() else {
        unreachable!()
    };
    let back = back.commit(Commit::new(before)).unwrap_err().machine;
    let due = back.due();
    assert!(back.commit(Commit::new(receipt(due))).is_ok());
}

#[test]
fn a_gate_of_one_flow_opens_no_other() {
    let (flow, mut other) = (at_the_gate(), at_the_gate());
    let rejected = flow.skip_replay(SkipReplay::new(nothing(other.gate()))).unwrap_err();
    assert_eq!(rejected.error.to_string(), "the proof is of a gate of another activation");
    let mut flow = rejected.machine;
    let gate = flow.gate();
    assert!(flow.skip_replay(SkipReplay::new(nothing(gate))).is_ok());
}

#[test]
fn a_proof_of_a_gate_is_of_its_last_opening() {
    let mut flow = at_the_gate();
    let before = nothing(flow.gate());
    // A second opening: what goes through it is not in the proof.
    let _again = flow.gate();
    let rejected = flow.skip_replay(SkipReplay::new(before)).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "gate 1 was opened again, and no proof covers the later opening: open a gate once"
    );

    let mut flow = at_the_gate();
    let gate = flow.gate();
    let mut flow = flow.skip_replay(SkipReplay::new(nothing(gate))).unwrap().open_gate(OpenGate);
    flow.request_stop(FinalReason::BEHAVIOR_REQUESTED);
    let unopened = flow.pass_to_stop().unwrap();
    let _opened = flow.gate();
    let rejected = flow.pass(Pass::new(unopened)).unwrap_err();
    assert_eq!(rejected.error.to_string(), "gate 2 was opened: drain it to pass it");
}

#[test]
fn a_start_that_a_throw_away_flow_gave_begins_no_execution() {
    let (mut flow, mut other) = (round(), round());
    let gate = execution(&flow);
    let elsewhere = started(&mut other, &gate);
    let rejected = gate.allow(Allow::once(elsewhere)).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the proof that pay_1 was started is of another flow than the execution: make its record with `of`"
    );
    let gate = rejected.machine;
    let here = started(&mut flow, &gate);
    assert!(gate.allow(Allow::once(here)).is_ok());
}

#[test]
fn one_start_begins_one_execution() {
    let mut flow = round();
    let (first, second) = (execution(&flow), execution(&flow));
    let mut both = [started(&mut flow, &first), started(&mut flow, &first)];
    // Two proofs of one execution do not make two executions.
    both.reverse();
    let [spare, proof] = both;
    assert!(first.allow(Allow::once(proof)).is_ok());
    let rejected = second.allow(Allow::once(spare)).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the proof is for another execution of pay_1: pass this one to `calls_started`"
    );
}

#[test]
fn two_executions_of_one_call_have_one_start() {
    let mut flow = round();
    let (first, second) = (execution(&flow), execution(&flow));
    let starting = flow.calls_started([&first, &second]);
    assert_eq!(starting.calls(), ["pay_1"]);
    let receipt = receipt(starting.due());
    let mut started = starting.committed(receipt).unwrap();
    let started = started.pop().unwrap();
    assert!(first.allow(Allow::once(started)).is_ok());
    assert!(second.allow(Allow::execution()).is_err(), "it has no proof");
}

assert_not_impl_any!(Receipt: Clone, Default, DeserializeOwned);
assert_not_impl_any!(Due: Default, DeserializeOwned);
assert_not_impl_any!(Started: Clone, Default, DeserializeOwned);
assert_not_impl_any!(StartPermit: Clone, Default, DeserializeOwned);
assert_not_impl_any!(NothingReplayed: Clone, Default, DeserializeOwned);
assert_not_impl_any!(Gate: Clone, Default, DeserializeOwned);
assert_not_impl_any!(RunFlow<ToolRound>: Clone, Default, DeserializeOwned);
assert_not_impl_any!(FlowRecord: Default, DeserializeOwned);
assert_not_impl_any!(Rehydration<AnyToolCall>: Clone, Default, DeserializeOwned);

/// `Any` gives a value back as what it is, and as nothing else.
#[test]
fn any_makes_no_proof_of_another_type() {
    let flow = round();
    let boxed: Box<dyn Any> = Box::new(execution(&flow));
    assert!(boxed.downcast::<Started>().is_err());
    let boxed: Box<dyn Any> = Box::new(AnyToolCall::new(CallRecord::new("c", "t", json!({}))));
    let boxed = boxed.downcast::<ToolCall<Succeeded>>().expect_err("it is no machine of that state");
    assert!(boxed.downcast::<AnyToolCall>().is_ok());
}

#[test]
fn an_execution_of_no_flow_is_not_begun_by_a_commit() {
    let mut flow = round();
    let stray = ToolExecution::new(ExecutionRecord::new("pay_1", "pay"));
    let proof = started(&mut flow, &stray);
    assert!(stray.allow(Allow::once(proof)).unwrap_err().error.to_string().contains("another flow"));
}

fn state<S: DeserializeOwned>(json: serde_json::Value) -> S {
    serde_json::from_value(json).unwrap()
}

/// A state can be read from text, and its entry can be called by hand. A machine that is made of the record afterwards is as new
/// as any other.
#[test]
fn a_record_does_not_age_by_hand() {
    use runstate::{run, service_run, tool_call};
    let mut record = RunRecord::new("r1");
    for _ in 0..76 {
        let waiting: run::Waiting = state(json!({ "calls": ["pay_1"] }));
        let _running =
            <run::Running as Enter<_, _>>::enter(waiting, run::Resume::user_message(), &mut record);
    }
    assert_eq!(record.activations(), 77);
    assert_eq!(Run::new(record).record().activations(), 1);

    let mut record = CallRecord::new("pay_1", "pay", json!({}));
    let _running =
        <tool_call::Running as Enter<_, _>>::enter(state::<tool_call::New>(json!(null)), Start, &mut record);
    assert_eq!(record.attempts(), 1);
    assert_eq!(AnyToolCall::new(record).record().attempts(), 0);

    let mut record = FlowRecord::new(&Run::new(RunRecord::new("r1")), 0);
    let _gate = <ResumeToolCall as Enter<_, _>>::enter(state::<LoopTop>(json!(null)), OpenGate, &mut record);
    assert_eq!(RunFlow::new(record).begin(Begin).due().number(), 1);

    let mut record = service_run::ServiceRunRecord::new("r1", "build");
    let paused: service_run::Paused = state(
        json!({ "pass": 1, "reason": { "final_status": "NEEDS_INPUT", "questions": ["which chain?"] } }),
    );
    let answers = service_run::Resume::with_answers([("chain", json!("base"))]);
    let _running = <service_run::Running as Enter<_, _>>::enter(paused, answers, &mut record);
    assert!(service_run::ServiceRun::new(record).record().user_inputs().is_empty());
}

#[test]
fn a_call_that_succeeded_was_started() {
    let call = AnyToolCall::new(CallRecord::new("pay_1", "pay", json!({})));
    let call = call.apply(Start.into()).unwrap().apply(Succeed::new("paid").into()).unwrap();
    let stored = Snapshot::of(&call).unwrap();
    assert!(stored.restore::<AnyToolCall>().is_ok());

    let mut never = stored;
    let mut json = serde_json::to_value(&never).unwrap();
    json["record"]["attempts"] = 0.into();
    never = serde_json::from_value(json).unwrap();
    assert!(matches!(never.verify(), Err(RestoreError::Digest { .. })), "the checksum tells an edit by hand");
    // Even where a person accepts the content.
    never.recompute_checksum();
    assert_eq!(
        never.restore::<AnyToolCall>().unwrap_err().to_string(),
        "the record is not that of a machine in Succeeded: no call in Succeeded has 0 attempts and 0 suspensions"
    );
}
