//! How activations branch and end.

use runstate::run::{AnyRun, Ended, Run, RunRecord, RunStatus};
use runstate::run_flow::*;
use runstate::termination::{FinalReason, TerminationReason};

use super::reach::{self, nothing_replayed, receipt, waiting};

#[test]
fn a_committed_answer_goes_on_as_its_calls_and_the_action_say() {
    let branch = |calls, action| {
        let flow = reach::commit_assistant(calls);
        let receipt = receipt(flow.due());
        flow.committed(receipt, action, waiting()).unwrap()
    };
    assert!(matches!(branch(0, None), AfterAssistant::NaturalEnd(flow) if flow.calls() == waiting()));
    assert!(matches!(branch(2, None), AfterAssistant::ToolRound(flow) if flow.turn().calls.len() == 2));
    for calls in [0, 2] {
        let reason = TerminationReason::Blocked("no".into());
        let AfterAssistant::Terminate(flow) = branch(calls, reason.clone().try_into().ok()) else {
            panic!("the action is not heeded")
        };
        assert_eq!(flow.reason(), &reason);
    }
}

/// Document 000, where the loop goes on while a call waits: the answer without calls is no end of the run.
#[test]
fn a_natural_end_while_calls_wait_suspends_the_activation() {
    let flow = reach::commit_assistant(0);
    let committed = receipt(flow.due());
    let waits = vec!["call_1".to_owned(), "call_1#2".to_owned()];
    let AfterAssistant::NaturalEnd(flow) = flow.committed(committed, None, waits.clone()).unwrap() else {
        panic!("an answer without calls is a natural end")
    };
    let AnyRunFlow::NaturalEnd(flow) = super::super::stored::brought_back(flow.into()) else {
        panic!("another state came back")
    };
    let flow = flow.wind_up(WindUp);
    assert_eq!((flow.reason(), flow.calls()), (&TerminationReason::Suspended, &waits[..]));
    let flow = flow.close(Close);
    let committed = receipt(flow.due());
    let calls = flow.calls().to_vec();
    let (_, reason) = flow.committed(&committed).unwrap();
    let Ok(Ended::Waiting(run)) = Run::new(RunRecord::new("r1")).end_activation(reason, calls) else {
        panic!("the run waits")
    };
    assert_eq!(run.calls(), waits);
}

/// What asked for the end ends the run, whatever waits: its calls are the driver's to cancel.
#[test]
fn an_end_that_was_asked_for_waits_for_no_call() {
    let flow = reach::commit_assistant(0);
    let committed = receipt(flow.due());
    let action = Some(FinalReason::BEHAVIOR_REQUESTED);
    let AfterAssistant::Terminate(flow) = flow.committed(committed, action, waiting()).unwrap() else {
        panic!("the action is not heeded")
    };
    let flow = flow.wind_up(WindUp);
    assert_eq!((flow.reason(), flow.calls().len()), (&TerminationReason::BehaviorRequested, 0));
}

#[test]
fn the_gates_go_on_or_wait_as_calls_are_left() {
    let replay0 = |waits| {
        let flow = reach::commit_replay0();
        let receipt = receipt(flow.due());
        flow.committed(receipt, waits).unwrap()
    };
    assert!(matches!(replay0(Vec::new()), AfterReplay0::LoopTop(_)));
    assert!(matches!(replay0(waiting()), AfterReplay0::Suspended(flow) if flow.calls() == waiting()));
    let after_tools = |waits| {
        let mut flow = reach::resume_after_tool();
        let gate = nothing_replayed(flow.gate());
        flow.passed(gate.into(), waits).unwrap()
    };
    assert!(matches!(after_tools(Vec::new()), AfterTools::LoopTop(_)));
    assert!(matches!(after_tools(waiting()), AfterTools::Suspended(flow) if flow.calls() == waiting()));
}

/// Each of the five ends gives the activation its reason, and the run the status that follows from it.
#[test]
fn each_end_has_its_reason_and_its_run_status() {
    let stopped = TerminationReason::BehaviorRequested;
    #[rustfmt::skip]
    let rows = [
        (reach::terminate().wind_up(WindUp),                      stopped,                              RunStatus::Done),
        (reach::natural_end().wind_up(WindUp),                    TerminationReason::NaturalEnd,        RunStatus::Done),
        (reach::natural_end_while_waiting().wind_up(WindUp),      TerminationReason::Suspended,         RunStatus::Waiting),
        (reach::suspended().wind_up(WindUp),                      TerminationReason::Suspended,         RunStatus::Waiting),
        (reach::llm_call().cancel(Cancel).wind_up(WindUp),        TerminationReason::Cancelled,         RunStatus::Done),
        (reach::llm_call().fail(Fail::new("down")).wind_up(WindUp), TerminationReason::Error("down".into()), RunStatus::Done),
    ];
    for (flow, reason, status) in rows {
        assert_eq!(flow.reason(), &reason);
        let calls = flow.calls().to_vec();
        assert_eq!(calls.is_empty(), reason != TerminationReason::Suspended);
        let flow = flow.close(Close);
        let receipt = receipt(flow.due());
        let (record, committed) = flow.committed(&receipt).unwrap();
        assert_eq!((record.run(), &committed), ("r1", &reason));
        let run = Run::new(RunRecord::new("r1")).end_activation(committed, calls).unwrap();
        assert_eq!(AnyRun::from(run).status(), status, "{reason}");
    }
}

/// The last commit can fail and be made again: the activation is not lost with the wrong receipt.
#[test]
fn the_end_is_not_over_before_its_commit() {
    let wrong = receipt(reach::commit_user().due());
    let (flow, error) = reach::commit_finished().committed(&wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the receipt is for commit 1 (UserMessage), where commit 4 (RunFinished) is due"
    );
    let right = receipt(flow.due());
    let (record, reason) = flow.committed(&right).unwrap();
    assert_eq!((record.run(), reason), ("r1", TerminationReason::Suspended));
}

#[test]
fn every_step_is_counted_once() {
    let mut flow = reach::loop_top();
    for step in 5..8 {
        let mut gate = flow.open_gate(OpenGate);
        let nothing = nothing_replayed(gate.gate());
        let asked = gate.pass(Pass::new(nothing)).unwrap().infer(Infer).unwrap();
        assert_eq!(asked.step(), step);
        let answer = asked.respond(Respond::new(reach::turn_with(2))).accept(Accept);
        let committed = receipt(answer.due());
        let round = answer.call_tools(CallTools::new(committed)).unwrap();
        let round = round.complete(Complete::new(reach::outcomes())).unwrap();
        let committed = receipt(round.due());
        let mut gate = round.commit(Commit::new(committed)).unwrap();
        let nothing = nothing_replayed(gate.gate());
        flow = gate.next(Next::new(nothing)).unwrap();
        assert_eq!(flow.record().step(), step);
    }
}
