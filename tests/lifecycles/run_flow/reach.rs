//! The states of an activation, reached by legal steps alone.

use runstate::checkpoint::without_committer;
use runstate::checkpoint::{Due, Receipt};
use runstate::decision::{Decision, DecisionAction};
use runstate::kernel::Observer;
use runstate::resume_tool_call::{self as gate, Drained, Gate, GatePassed, NothingReplayed};
use runstate::run::{Run, RunRecord};
use runstate::run_flow::*;
use runstate::termination::FinalReason;
use runstate::tool_call::ToolCallStatus;
use runstate::turn::{CallRequest, Turn};
use serde_json::json;

use crate::proof::flow_id;

pub(super) fn receipt(due: Due) -> Receipt {
    without_committer(due)
}

/// Drains a gate that nothing came in for.
pub(super) fn nothing_replayed(mut gate: Gate) -> NothingReplayed {
    let look = gate.pass(Observer::default()).find_nothing(gate::FindNothing);
    match gate.drained(look).unwrap() {
        Drained::Nothing(nothing) => nothing,
        Drained::Replayed(replayed) => panic!("a fresh gate replayed something: {replayed:?}"),
    }
}

/// Drains a gate in which one call is replayed.
pub(super) fn one_replayed(mut gate: Gate) -> Drained {
    let pass = replayed(gate.pass(Observer::default()));
    gate.rejoin(pass).unwrap();
    let look = gate.pass(Observer::default()).find_nothing(gate::FindNothing);
    gate.drained(look).unwrap()
}

/// Takes a pass through the replay of a call.
pub(super) fn replayed(
    pass: gate::ResumeToolCall<gate::DrainDecisionChannel>,
) -> gate::ResumeToolCall<gate::CommitReplay> {
    let decision = Decision::new("dec-1", "sus-1", DecisionAction::Resume);
    let pass = pass.match_call(gate::MatchCall::new("call_1", decision)).resolve(gate::Resolve);
    let durable = receipt(pass.due());
    let pass = pass.persist(gate::Persist::new(durable)).unwrap();
    let pass = pass.approve(gate::Approve).unwrap().execute(gate::Execute);
    let pass = pass.settle(gate::Settle::new(ToolCallStatus::Succeeded)).unwrap();
    pass.compare(gate::Compare::new(true)).close(gate::Close)
}

pub(super) fn turn_with(calls: u32) -> Turn {
    let call = |i| CallRequest::new(format!("call_{i}"), "read_file", json!({ "path": "notes.md" }));
    Turn { text: "let me look".into(), calls: (1..=calls).map(call).collect(), ..Turn::default() }
}

pub(super) fn outcome(call: &str, status: ToolCallStatus) -> CallOutcome {
    CallOutcome { call: call.into(), status }
}

pub(super) fn outcomes() -> Vec<CallOutcome> {
    vec![outcome("call_1", ToolCallStatus::Succeeded), outcome("call_2", ToolCallStatus::Suspended)]
}

pub(super) fn waiting() -> Vec<String> {
    vec!["call_2".into()]
}

pub(super) fn run_start() -> RunFlow<RunStart> {
    // Earlier activations took four steps.
    // All of them are taken for one flow, since the tests mix them.
    RunFlow::new(FlowRecord::new(&Run::new(RunRecord::new("r1")), 4).assuming(flow_id()))
}

pub(super) fn commit_user() -> RunFlow<CommitUser> {
    run_start().begin(Begin)
}

pub(super) fn resume_replay0() -> RunFlow<ResumeReplay0> {
    let flow = commit_user();
    let receipt = receipt(flow.due());
    flow.commit(Commit::new(receipt)).unwrap()
}

pub(super) fn commit_replay0() -> RunFlow<CommitReplay0> {
    let mut flow = resume_replay0();
    let drained = one_replayed(flow.gate());
    flow.replay(Replay::new(drained)).unwrap()
}

pub(super) fn loop_top() -> RunFlow<LoopTop> {
    let mut flow = resume_replay0();
    let nothing = nothing_replayed(flow.gate());
    flow.skip_replay(SkipReplay::new(nothing)).unwrap()
}

pub(super) fn resume_tool_call() -> RunFlow<ResumeToolCall> {
    loop_top().open_gate(OpenGate)
}

pub(super) fn step_prepare() -> RunFlow<StepPrepare> {
    let mut flow = resume_tool_call();
    let nothing = nothing_replayed(flow.gate());
    flow.pass(Pass::new(nothing)).unwrap()
}

pub(super) fn llm_call() -> RunFlow<LlmCall> {
    step_prepare().infer(Infer).unwrap()
}

pub(super) fn after_inference(calls: u32) -> RunFlow<AfterInference> {
    llm_call().respond(Respond::new(turn_with(calls)))
}

pub(super) fn commit_assistant(calls: u32) -> RunFlow<CommitAssistant> {
    after_inference(calls).accept(Accept)
}

pub(super) fn tool_round() -> RunFlow<ToolRound> {
    let flow = commit_assistant(2);
    let receipt = receipt(flow.due());
    flow.call_tools(CallTools::new(receipt)).unwrap()
}

pub(super) fn commit_tool() -> RunFlow<CommitTool> {
    tool_round().complete(Complete::new(outcomes())).unwrap()
}

pub(super) fn resume_after_tool() -> RunFlow<ResumeAfterTool> {
    let flow = commit_tool();
    let receipt = receipt(flow.due());
    flow.commit(Commit::new(receipt)).unwrap()
}

pub(super) fn terminate() -> RunFlow<Terminate> {
    step_prepare().stop(Stop::new(FinalReason::BEHAVIOR_REQUESTED))
}

pub(super) fn natural_end() -> RunFlow<NaturalEnd> {
    let flow = commit_assistant(0);
    let receipt = receipt(flow.due());
    flow.finish(Finish::new(receipt)).unwrap()
}

pub(super) fn natural_end_while_waiting() -> RunFlow<NaturalEnd> {
    let flow = commit_assistant(0);
    let receipt = receipt(flow.due());
    flow.finish(Finish::new(receipt).with_waiting_calls(waiting())).unwrap()
}

pub(super) fn suspended() -> RunFlow<Suspended> {
    let mut flow = resume_after_tool();
    let nothing = nothing_replayed(flow.gate());
    flow.park(Park::new(nothing, waiting())).unwrap()
}

pub(super) fn run_end() -> RunFlow<RunEnd> {
    suspended().wind_up(WindUp)
}

pub(super) fn commit_finished() -> RunFlow<CommitFinished> {
    run_end().close(Close)
}

/// An activation in that status, reached by legal steps.
pub(crate) fn at(status: RunFlowStatus) -> AnyRunFlow {
    match status {
        RunFlowStatus::RunStart => run_start().into(),
        RunFlowStatus::CommitUser => commit_user().into(),
        RunFlowStatus::ResumeReplay0 => resume_replay0().into(),
        RunFlowStatus::CommitReplay0 => commit_replay0().into(),
        RunFlowStatus::LoopTop => loop_top().into(),
        RunFlowStatus::ResumeToolCall => resume_tool_call().into(),
        RunFlowStatus::StepPrepare => step_prepare().into(),
        RunFlowStatus::LlmCall => llm_call().into(),
        RunFlowStatus::AfterInference => after_inference(2).into(),
        RunFlowStatus::CommitAssistant => commit_assistant(2).into(),
        RunFlowStatus::ToolRound => tool_round().into(),
        RunFlowStatus::CommitTool => commit_tool().into(),
        RunFlowStatus::ResumeAfterTool => resume_after_tool().into(),
        RunFlowStatus::Terminate => terminate().into(),
        RunFlowStatus::NaturalEnd => natural_end().into(),
        RunFlowStatus::Suspended => suspended().into(),
        RunFlowStatus::Cancelled => llm_call().cancel(Cancel).into(),
        RunFlowStatus::Error => tool_round().fail(Fail::new("the executor is gone")).into(),
        RunFlowStatus::RunEnd => run_end().into(),
        RunFlowStatus::CommitFinished => commit_finished().into(),
    }
}

/// An activation in that status that the guard of `event` lets pass, where the status has an edge for it.
pub(crate) fn ready(status: RunFlowStatus, event: &str) -> AnyRunFlow {
    match (status, event) {
        // An answer without calls is finished, one with calls is executed.
        (RunFlowStatus::CommitAssistant, "finish") => commit_assistant(0).into(),
        _ => at(status),
    }
}

/// The event of that name, with a payload that fits the activation where there is one: a receipt for the commit that is
/// due in it, the proof of the gate that it stands at, outcomes for the calls of its round.
pub(crate) fn event(flow: &AnyRunFlow, name: &str) -> RunFlowEvent {
    let fitting_receipt = || receipt(due_of(flow).unwrap_or_else(|| commit_user().due()));
    let fitting_gate = || gate_of(flow.status()).unwrap_or_else(|| Gate::alone(1));
    match name {
        "begin" => Begin.into(),
        "commit" => Commit::new(fitting_receipt()).into(),
        "replay" => Replay::new(one_replayed(fitting_gate())).into(),
        "skip_replay" => SkipReplay::new(nothing_replayed(fitting_gate())).into(),
        "stay" => Stay::new(fitting_receipt(), waiting()).into(),
        "open_gate" => OpenGate.into(),
        "pass" => Pass::new(nothing_replayed(fitting_gate())).into(),
        "stop" => Stop::new(FinalReason::BEHAVIOR_REQUESTED).into(),
        "infer" => Infer.into(),
        "respond" => Respond::new(turn_with(2)).into(),
        "accept" => Accept.into(),
        "halt" => Halt::new(fitting_receipt(), FinalReason::BEHAVIOR_REQUESTED).into(),
        "finish" => Finish::new(fitting_receipt()).into(),
        "call_tools" => CallTools::new(fitting_receipt()).into(),
        "complete" => {
            let calls = match flow {
                AnyRunFlow::ToolRound(round) => round.turn().calls.clone(),
                _ => turn_with(2).calls,
            };
            let done = calls.iter().map(|call| outcome(&call.id, ToolCallStatus::Succeeded)).collect();
            Complete::new(done).into()
        }
        "park" => Park::new(GatePassed::from(nothing_replayed(fitting_gate())), waiting()).into(),
        "next" => Next::new(nothing_replayed(fitting_gate())).into(),
        "wind_up" => WindUp.into(),
        "close" => Close.into(),
        "fail" => Fail::new("the executor is gone").into(),
        "cancel" => Cancel.into(),
        other => unreachable!("run_flow has no event {other}"),
    }
}

/// The commit that is due, if one is.
fn due_of(flow: &AnyRunFlow) -> Option<Due> {
    match flow {
        AnyRunFlow::CommitUser(flow) => Some(flow.due()),
        AnyRunFlow::CommitReplay0(flow) => Some(flow.due()),
        AnyRunFlow::CommitAssistant(flow) => Some(flow.due()),
        AnyRunFlow::CommitTool(flow) => Some(flow.due()),
        AnyRunFlow::CommitFinished(flow) => Some(flow.due()),
        _ => None,
    }
}

/// The gate that an activation in that status stands at, if it does.
fn gate_of(status: RunFlowStatus) -> Option<Gate> {
    match at(status) {
        AnyRunFlow::ResumeReplay0(mut flow) => Some(flow.gate()),
        AnyRunFlow::ResumeToolCall(mut flow) => Some(flow.gate()),
        AnyRunFlow::ResumeAfterTool(mut flow) => Some(flow.gate()),
        _ => None,
    }
}
