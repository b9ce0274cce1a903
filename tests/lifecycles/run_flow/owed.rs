//! What an activation owes: each guard hands activation and event back as they were.

use std::fmt::Debug;

use runstate::checkpoint::Trigger;
use runstate::decision::{Decision, DecisionAction};
use runstate::resume_tool_call::{Drained, Gate};
use runstate::run::{Resume, Run, RunRecord, Wait};
use runstate::run_flow::*;
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::ToolCallStatus;
use runstate::tool_execution::{Allow, ExecutionRecord, Started, ToolExecution};

use super::super::stored;
use super::reach::{self, nothing_replayed, one_replayed, outcome, receipt, waiting};

/// The state refuses the event for this reason, and both are as they were.
fn refuses(flow: AnyRunFlow, event: impl Into<RunFlowEvent>, why: &str) {
    let event = event.into();
    let (before, payload) = (stored::form(&flow), format!("{event:?}"));
    let refused = flow.apply(event).unwrap_err();
    assert_eq!(refused.guard().expect("the state has the edge").to_string(), why);
    let name = refused.event().name();
    assert_eq!(
        refused.to_string(),
        format!("run_flow in state {} refuses '{name}': {why}", refused.machine().status())
    );
    assert_eq!(stored::form(refused.machine()), before, "a refusal changes nothing");
    let (_, event) = refused.into_parts();
    assert_eq!(format!("{event:?}"), payload, "the event comes back whole");
}

#[test]
fn each_commit_wants_its_own_receipt() {
    let wrong = || receipt(reach::commit_finished().due());
    for (flow, due) in [
        (AnyRunFlow::from(reach::commit_user()), "commit 1 (UserMessage)"),
        (reach::commit_replay0().into(), "commit 2 (ToolResultsCommitted)"),
        (reach::commit_tool().into(), "commit 3 (ToolResultsCommitted)"),
    ] {
        let why = format!("the receipt is for commit 4 (RunFinished), where {due} is due");
        refuses(flow, Commit::new(wrong()), &why);
    }
    let why = "the receipt is for commit 4 (RunFinished), where commit 2 (AssistantTurnCommitted) is due";
    refuses(reach::commit_assistant(0).into(), Finish::new(wrong()), why);
    refuses(reach::commit_assistant(2).into(), CallTools::new(wrong()), why);
    refuses(reach::commit_assistant(2).into(), Halt::new(wrong(), FinalReason::BEHAVIOR_REQUESTED), why);
    let why = "the receipt is for commit 4 (RunFinished), where commit 2 (ToolResultsCommitted) is due";
    refuses(reach::commit_replay0().into(), Stay::new(wrong(), waiting()), why);
}

/// A receipt with the right trigger is still not one for a later commit of that kind.
#[test]
fn an_old_receipt_does_not_do() {
    let replayed_at_start = receipt(reach::commit_replay0().due());
    refuses(
        reach::commit_tool().into(),
        Commit::new(replayed_at_start),
        "the receipt is for commit 2 (ToolResultsCommitted), where commit 3 (ToolResultsCommitted) is due",
    );
}

#[test]
fn each_gate_wants_its_own_proof() {
    let other = || nothing_replayed(Gate::alone(9));
    let why = |at| format!("the proof is of gate 9, where the activation stands at gate {at}");
    refuses(reach::resume_replay0().into(), SkipReplay::new(other()), &why(1));
    refuses(reach::resume_replay0().into(), Replay::new(one_replayed(Gate::alone(9))), &why(1));
    refuses(reach::resume_tool_call().into(), Pass::new(other()), &why(2));
    refuses(reach::resume_after_tool().into(), Next::new(other()), &why(3));
    refuses(reach::resume_after_tool().into(), Park::new(other(), waiting()), &why(3));
}

/// A process that drives several runs may mix them up: the same commit and the same gate of another run, or of another
/// activation of the same run, prove nothing here.
#[test]
fn proof_of_another_activation_is_refused() {
    let again = Run::new(RunRecord::new("r1")).wait(Wait::new(["call_1"])).unwrap();
    let decision = Decision::new("d1", "s1", DecisionAction::Resume);
    let again = again.resume(Resume::decided("call_1", &decision));
    for run in [Run::new(RunRecord::new("r2")), again] {
        let other = RunFlow::new(FlowRecord::new(&run, 4)).begin(Begin);
        let due = other.due();
        refuses(
            reach::commit_user().into(),
            Commit::new(receipt(due)),
            "the receipt is for commit 1 (UserMessage) of another flow or gate, where commit 1 (UserMessage) is due",
        );
        let why = "the proof is of a gate of another activation";
        let gate = || {
            let other = RunFlow::new(FlowRecord::new(&run, 4)).begin(Begin);
            let due = other.due();
            other.commit(Commit::new(receipt(due))).unwrap().gate()
        };
        refuses(reach::resume_replay0().into(), SkipReplay::new(nothing_replayed(gate())), why);
        refuses(reach::resume_replay0().into(), Replay::new(one_replayed(gate())), why);
    }
    let of_none = nothing_replayed(Gate::alone(1));
    refuses(
        reach::resume_replay0().into(),
        SkipReplay::new(of_none),
        "the proof is of a gate of another activation",
    );
}

#[test]
fn nothing_waits_for_no_call() {
    let why = "no call was named that waits";
    let flow = reach::commit_replay0();
    let due = flow.due();
    refuses(flow.into(), Stay::new(receipt(due), Vec::new()), why);
    let mut flow = reach::resume_after_tool();
    let gate = nothing_replayed(flow.gate());
    refuses(flow.into(), Park::new(gate, Vec::new()), why);
}

#[test]
fn the_calls_of_the_answer_decide_whether_there_is_a_round() {
    let flow = reach::commit_assistant(0);
    let receipt0 = receipt(flow.due());
    let why = "the model's answer has no calls: it is finished, not executed";
    refuses(flow.into(), CallTools::new(receipt0), why);
    let flow = reach::commit_assistant(1);
    let receipt1 = receipt(flow.due());
    let why = "the model's answer has calls: they are executed before the end";
    refuses(flow.into(), Finish::new(receipt1), why);
}

#[test]
fn a_round_is_over_when_each_call_has_an_outcome() {
    let complete = |outcomes: &[CallOutcome]| Complete::new(outcomes.to_vec());
    let done = outcome("call_1", ToolCallStatus::Succeeded);
    let round = || AnyRunFlow::from(reach::tool_round());
    let why = |what: &str| format!("the round is not complete: {what}");
    refuses(round(), complete(&[]), &why("expected an outcome for each of its 2 calls, got 0"));
    refuses(
        round(),
        complete(std::slice::from_ref(&done)),
        &why("expected an outcome for each of its 2 calls, got 1"),
    );
    let three = [done.clone(), done.clone(), done.clone()];
    refuses(round(), complete(&three), &why("expected an outcome for each of its 2 calls, got 3"));
    for status in ToolCallStatus::ALL.iter().copied() {
        let outcomes = [done.clone(), outcome("call_2", status)];
        if matches!(status, ToolCallStatus::Running | ToolCallStatus::Resuming) {
            refuses(round(), complete(&outcomes), &why(&format!("call_2 is still {status}")));
        } else {
            // A call that was not started stays New: a round in sequence stops at the first that waits.
            let flow = round().apply(complete(&outcomes).into()).unwrap();
            assert_eq!(flow.status(), RunFlowStatus::CommitTool, "{status}");
        }
    }
}

#[test]
fn a_pending_stop_keeps_the_model_from_being_asked() {
    let pending = || {
        let mut flow = reach::resume_tool_call();
        flow.request_stop(TerminationReason::Blocked("not allowed".into()).try_into().unwrap());
        // The first to ask is heard.
        flow.request_stop(FinalReason::BEHAVIOR_REQUESTED);
        let nothing = nothing_replayed(flow.gate());
        flow.pass(Pass::new(nothing)).unwrap()
    };
    refuses(pending().into(), Infer, "the activation is to end (blocked:not allowed) before its next step");
    let Prepared::Terminate(flow) = pending().prepared() else { panic!("the model is asked") };
    assert_eq!(flow.reason(), &TerminationReason::Blocked("not allowed".into()));
    assert_eq!(flow.record().stopping(), None, "it is taken, not kept");
    // Nor does a later stop displace it.
    let flow = pending().stop(Stop::new(FinalReason::BEHAVIOR_REQUESTED));
    assert_eq!(flow.reason(), &TerminationReason::Blocked("not allowed".into()));

    let Prepared::LlmCall(flow) = reach::step_prepare().prepared() else {
        panic!("nothing asked for the end")
    };
    assert_eq!(flow.step(), 5);
}

/// Only an activation that is to end passes a gate undrained, and from there the end is its only way on.
#[test]
fn a_pending_stop_passes_its_gate_undrained() {
    let mut flow = reach::resume_tool_call();
    assert_eq!(
        flow.pass_to_stop().unwrap_err().to_string(),
        "nothing asked for the end: drain the gate to pass it"
    );
    flow.request_stop(FinalReason::BEHAVIOR_REQUESTED);
    let gate = flow.pass_to_stop().unwrap();
    let flow = flow.pass(Pass::new(gate)).unwrap();
    assert_eq!(
        flow.infer(Infer).unwrap_err().to_string(),
        "the activation is to end (behavior_requested) before its next step"
    );
}

/// Calls that must not run twice are committed before they execute, each by itself or several together.
#[test]
fn a_round_can_owe_a_commit_before_it_executes() {
    let mut flow = reach::tool_round();
    let executions = ["call_1", "call_2"].map(|call| {
        ToolExecution::new(ExecutionRecord::new(call, "delete_file").of(flow.record().flow_id()))
    });
    let starting = flow.calls_started(&executions);
    assert_eq!((starting.due().trigger(), starting.due().number()), (Trigger::CallsStarted, 3));
    let wrong = receipt(reach::commit_user().due());
    let (starting, error) = starting.committed(wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the receipt is for commit 1 (UserMessage), where commit 3 (CallsStarted) is due"
    );
    assert_eq!(starting.calls(), ["call_1", "call_2"]);
    let right = receipt(starting.due());
    let started = starting.committed(right).unwrap();
    assert_eq!(started.iter().map(Started::call).collect::<Vec<_>>(), ["call_1", "call_2"]);
    for (execution, started) in executions.into_iter().zip(started) {
        assert!(execution.allow(Allow::once(started)).is_ok());
    }
    // The results of the round are the commit after it.
    assert_eq!(flow.complete(Complete::new(reach::outcomes())).unwrap().due().number(), 4);
}

/// The typed branches refuse the same, and give the activation back.
#[test]
fn typed_branches_give_the_activation_back() {
    fn back<T: Debug, F>(result: Result<T, (F, RunFlowError)>, why: &str) -> F {
        let (flow, unmet) = result.unwrap_err();
        assert_eq!(unmet.to_string(), why);
        flow
    }
    let wrong = || receipt(reach::commit_finished().due());

    let why = "the receipt is for commit 4 (RunFinished), where commit 2 (AssistantTurnCommitted) is due";
    for (calls, action) in [(0, None), (2, None), (2, Some(FinalReason::BEHAVIOR_REQUESTED))] {
        let flow = back(reach::commit_assistant(calls).committed(wrong(), action, waiting()), why);
        assert_eq!(flow.turn().calls.len(), calls as usize);
    }
    let why = "the receipt is for commit 4 (RunFinished), where commit 2 (ToolResultsCommitted) is due";
    for waits in [Vec::new(), waiting()] {
        let flow = back(reach::commit_replay0().committed(wrong(), waits), why);
        assert_eq!(flow.due().number(), 2);
    }
    let why = "the proof is of gate 9, where the activation stands at gate 3";
    for waits in [Vec::new(), waiting()] {
        let gate = nothing_replayed(Gate::alone(9)).into();
        let flow = back(reach::resume_after_tool().passed(gate, waits), why);
        assert_eq!(flow.gate_number(), 3);
    }
}

/// What a gate replayed must be committed before the gate counts as passed.
#[test]
fn a_gate_with_effects_is_passed_by_their_commit() {
    let mut flow = reach::resume_tool_call();
    let Drained::Replayed(replayed) = one_replayed(flow.gate()) else { panic!("nothing was replayed") };
    let receipt = receipt(replayed.due());
    let gate = replayed.committed(receipt).unwrap();
    assert_eq!(AnyRunFlow::from(flow.pass(Pass::new(gate)).unwrap()).status(), RunFlowStatus::StepPrepare);
}
