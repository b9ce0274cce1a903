//! The gates of an activation, and the windows beside them: which proofs it takes, and from whom.

use runstate::kernel::Observer;
use runstate::resume_tool_call::{self as gate, Drained, Gate, GatePassed};
use runstate::run::{Resume, Run, RunRecord, Wait};
use runstate::run_flow::*;
use runstate::termination::FinalReason;

use super::super::stored;
use super::reach::{self, nothing_replayed, one_replayed, receipt, replayed};

fn look(gate: &mut Gate) -> gate::ResumeToolCall<gate::NoDecision> {
    gate.pass(Observer::default()).find_nothing(gate::FindNothing)
}

/// The proof of a drained gate, whatever it replayed.
fn passed(drained: Drained) -> GatePassed {
    match drained {
        Drained::Nothing(nothing) => nothing.into(),
        Drained::Replayed(replayed) => {
            let receipt = receipt(replayed.due());
            replayed.committed(receipt).unwrap()
        }
    }
}

#[test]
fn several_calls_are_replayed_through_one_gate() {
    let mut flow = reach::resume_after_tool();
    let mut gate = flow.gate();
    let (first, second) = (gate.pass(Observer::default()), gate.pass(Observer::default()));
    gate.rejoin(replayed(second)).unwrap();
    gate.rejoin(replayed(first)).unwrap();
    let last = look(&mut gate);
    let gate = passed(gate.drained(last).unwrap());
    assert!(matches!(flow.passed(gate, Vec::new()), Ok(AfterTools::LoopTop(_))));
}

/// Who opens a gate twice has two half truths: what went through the first the second does not know.
#[test]
fn a_gate_that_was_opened_again_is_passed_by_no_proof() {
    let mut flow = reach::resume_after_tool();
    let (mut first, mut second) = (flow.gate(), flow.gate());
    let executing = first.pass(Observer::default());
    let last = look(&mut second);
    let (mut second, last, error) = second.drained(last).unwrap_err();
    assert_eq!(error.to_string(), "gate 3 was opened before: drain the earlier opening");

    // Nor does a pass of the second stand for one of the first.
    let (last, error) = first.rejoin(last).unwrap_err();
    assert_eq!(error.to_string(), "pass 1 through gate 3 was not given out by this gate");
    second.rejoin(last).unwrap();

    first.rejoin(replayed(executing)).unwrap();
    let last = look(&mut first);
    let gate = passed(first.drained(last).unwrap());
    let rejected = flow.next(Next::new(gate)).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "gate 3 was opened again, and no proof covers the later opening: open a gate once"
    );
}

/// The process that opened a gate may be gone with all its passes; the next one opens it anew.
#[test]
fn a_stored_activation_opens_its_gate_anew() {
    let mut flow = reach::resume_after_tool();
    let mut lost = flow.gate();
    let _executing = lost.pass(Observer::default());
    let AnyRunFlow::ResumeAfterTool(mut flow) = stored::form(&flow).restore().unwrap() else {
        panic!("another state came back")
    };
    let gate = nothing_replayed(flow.gate());
    assert!(flow.next(Next::new(gate)).is_ok());
}

#[test]
fn a_pass_of_another_activation_does_not_rejoin() {
    let again = Run::new(RunRecord::new("r1")).wait(Wait::new(["call_1"])).unwrap();
    let again = again.resume(Resume::user_message());
    for run in [Run::new(RunRecord::new("r2")), again] {
        let other = RunFlow::new(FlowRecord::new(&run, 4)).begin(Begin);
        let receipt = receipt(other.due());
        let mut other = other.commit(Commit::new(receipt)).unwrap().gate();
        let mut gate = reach::resume_replay0().gate();
        let _executing = gate.pass(Observer::default());
        let foreign = look(&mut other);
        let (_, error) = gate.rejoin(foreign).unwrap_err();
        assert_eq!(error.to_string(), "pass 1 through gate 1 was not given out by this gate");
    }
}

/// What is replayed behind a gate is owed a commit, whatever was asked for since.
#[test]
fn opened_gate_is_drained_even_before_an_end() {
    let mut flow = reach::resume_tool_call();
    let gate = flow.gate();
    flow.request_stop(FinalReason::BEHAVIOR_REQUESTED);
    assert_eq!(flow.pass_to_stop().unwrap_err().to_string(), "gate 2 was opened: drain it to pass it");
    let gate = passed(one_replayed(gate));
    let Prepared::Terminate(_) = flow.pass(Pass::new(gate)).unwrap().prepared() else {
        panic!("the model is asked")
    };
}

/// Windows are numbered among the gates, and each has its own number.
#[test]
fn a_window_is_a_gate_of_its_own() {
    let mut flow = reach::llm_call();
    let windows = [flow.window(), flow.window()];
    assert_eq!(windows.map(|window| window.number()), [3, 4]);
    // Their numbers are stored, so that the gates of a later process do not bear them again.
    let AnyRunFlow::LlmCall(mut flow) = stored::brought_back(flow.into()) else {
        panic!("another state came back")
    };
    assert_eq!(flow.window().number(), 5);

    let mut flow = reach::tool_round();
    assert_eq!(flow.window().number(), 3);
    let flow = flow.complete(Complete::new(reach::outcomes())).unwrap();
    let receipt = receipt(flow.due());
    assert_eq!(flow.commit(Commit::new(receipt)).unwrap().gate_number(), 4);
}

/// Each pass through a window is committed by itself.
#[test]
fn a_pass_through_a_window_owes_its_own_commit() {
    let mut flow = reach::tool_round();
    let mut window = flow.window();
    let passes = [window.pass(Observer::default()), window.pass(Observer::default())].map(replayed);
    let dues = [passes[0].due(), passes[1].due()];
    assert_eq!(
        dues.map(|due| due.to_string()),
        ["commit 1 (ToolResultsCommitted) of gate 3", "commit 2 (ToolResultsCommitted) of gate 3"]
    );
    for pass in passes {
        let committed = receipt(pass.due());
        window.rejoin_committed(pass, &committed).unwrap();
    }
    assert_eq!(window.under_way(), 0);
}

/// A window is no gate that the activation stands at: neither its passes nor its proofs take it on.
#[test]
fn a_window_proves_no_gate() {
    for with_replay in [false, true] {
        let mut round = reach::tool_round();
        let mut window = round.window();
        let mut flow = {
            let flow = round.complete(Complete::new(reach::outcomes())).unwrap();
            let receipt = receipt(flow.due());
            flow.commit(Commit::new(receipt)).unwrap()
        };
        let mut gate = flow.gate();
        let executing = gate.pass(Observer::default());

        // A pass through the window does not rejoin the gate,
        let pass = look(&mut window);
        let (pass, error) = gate.rejoin(pass).unwrap_err();
        assert_eq!(error.to_string(), "the pass is of gate 3, where gate 4 is drained");
        window.rejoin(pass).unwrap();
        if with_replay {
            let pass = replayed(window.pass(Observer::default()));
            let (pass, _) = gate.rejoin(pass).unwrap_err();
            window.rejoin(pass).unwrap();
        }

        // and the window, drained, is not what the flow waits for.
        let last = look(&mut window);
        let proof = passed(window.drained(last).unwrap());
        let rejected = flow.next(Next::new(proof)).unwrap_err();
        let why = "the proof is of gate 3, where the activation stands at gate 4";
        assert_eq!(rejected.error.to_string(), why);

        gate.rejoin(executing.find_nothing(gate::FindNothing)).unwrap();
        let last = look(&mut gate);
        let proof = passed(gate.drained(last).unwrap());
        assert!(rejected.machine.next(Next::new(proof)).is_ok());
    }
}
