//! The data that each state owns.

use runstate::checkpoint::Trigger;
use runstate::kernel::Machine;
use runstate::run::{Run, RunRecord};
use runstate::run_flow::*;
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::ToolCallStatus;
use serde_json::{Value, json};

use super::super::stored;
use super::reach::{self, outcomes, turn_with};

fn due(trigger: &str, number: u64) -> Value {
    json!({ "trigger": trigger, "number": number })
}

#[test]
fn the_record_knows_its_run_and_activation() {
    let flow = reach::run_start();
    let record = flow.record();
    assert_eq!((record.run(), record.activation(), record.step()), ("r1", 1, 4));
    assert_eq!(record.stopping(), None);

    let waiting = Run::new(RunRecord::new("r1")).wait(runstate::run::Wait::new(["call_1"])).unwrap();
    let run = waiting.resume(runstate::run::Resume::user_message());
    assert_eq!(FlowRecord::new(&run, 0).activation(), 2);
}

#[test]
fn states_that_own_nothing_store_nothing() {
    assert_eq!(stored::state(&reach::run_start()), Value::Null);
    assert_eq!(stored::state(&reach::loop_top()), Value::Null);
    assert_eq!(stored::state(&reach::step_prepare()), Value::Null);
    assert_eq!(stored::state(&reach::llm_call().cancel(Cancel)), Value::Null);
}

#[test]
fn commit_user_owns_the_first_commit() {
    let flow = reach::commit_user();
    assert_eq!((flow.due().trigger(), flow.due().number()), (Trigger::UserMessage, 1));
    assert_eq!(stored::state(&flow), json!({ "due": due("UserMessage", 1) }));
}

#[test]
fn a_gate_is_known_by_its_number() {
    let mut flow = reach::resume_replay0();
    let gate = flow.gate();
    assert_eq!((flow.gate_number(), gate.number(), gate.next_pass()), (1, 1, 1));
    assert_eq!(stored::state(&flow), json!({ "gate": 1 }), "that it was opened is not stored");
    let mut flow = reach::resume_tool_call();
    assert_eq!((flow.gate_number(), flow.gate().number()), (2, 2));
    assert_eq!(stored::state(&flow), json!({ "gate": 2 }));
}

#[test]
fn commit_replay0_owns_the_commit_of_what_was_replayed() {
    let flow = reach::commit_replay0();
    assert_eq!((flow.due().trigger(), flow.due().number()), (Trigger::ToolResultsCommitted, 2));
    assert_eq!(stored::state(&flow), json!({ "due": due("ToolResultsCommitted", 2) }));
}

#[test]
fn llm_call_owns_the_number_of_its_step() {
    // Steps are counted over all activations of the run.
    let flow = reach::llm_call();
    assert_eq!((flow.step(), flow.record().step()), (5, 5));
    assert_eq!(stored::state(&flow), json!({ "step": 5 }));
}

#[test]
fn after_inference_owns_an_answer_that_can_still_change() {
    let mut flow = reach::after_inference(2);
    assert_eq!(**flow.turn(), turn_with(2));
    assert_eq!(stored::state(&flow), json!({ "turn": turn_with(2) }));
    flow.turn_mut().calls.pop();
    assert_eq!(**flow.accept(Accept).turn(), turn_with(1));
}

#[test]
fn commit_assistant_owns_the_answer_and_its_commit() {
    let flow = reach::commit_assistant(1);
    assert_eq!(**flow.turn(), turn_with(1));
    assert_eq!((flow.due().trigger(), flow.due().number()), (Trigger::AssistantTurnCommitted, 2));
    assert_eq!(
        stored::state(&flow),
        json!({
            "turn": { "text": "let me look", "calls": [
                { "id": "call_1", "tool": "read_file", "arguments": { "path": "notes.md" } },
            ] },
            "due": due("AssistantTurnCommitted", 2),
        })
    );
}

#[test]
fn tool_round_owns_the_answer_whose_calls_it_executes() {
    let flow = reach::tool_round();
    assert_eq!(**flow.turn(), turn_with(2));
    assert_eq!(stored::state(&flow), json!({ "turn": turn_with(2) }));
}

#[test]
fn commit_tool_owns_the_outcomes_and_their_commit() {
    let flow = reach::commit_tool();
    assert_eq!(flow.outcomes(), outcomes());
    assert_eq!((flow.due().trigger(), flow.due().number()), (Trigger::ToolResultsCommitted, 3));
    assert_eq!(
        stored::state(&flow),
        json!({
            "outcomes": [
                { "call": "call_1", "status": "Succeeded" },
                { "call": "call_2", "status": "Suspended" },
            ],
            "due": due("ToolResultsCommitted", 3),
        })
    );
}

#[test]
fn resume_after_tool_owns_the_outcomes_and_its_gate() {
    let mut flow = reach::resume_after_tool();
    assert_eq!(flow.outcomes(), outcomes());
    assert_eq!((flow.gate_number(), flow.gate().number()), (3, 3));
    assert_eq!(stored::state(&flow), json!({ "outcomes": outcomes(), "gate": 3 }));
}

#[test]
fn terminate_owns_the_reason() {
    let flow = reach::terminate();
    assert_eq!(flow.reason(), &TerminationReason::BehaviorRequested);
    assert_eq!(stored::state(&flow), json!({ "reason": "behavior_requested" }));
}

#[test]
fn natural_end_owns_waiting_calls_of_earlier_answers() {
    let flow = reach::natural_end();
    assert_eq!((flow.calls().len(), stored::state(&flow)), (0, json!({})));
    let flow = reach::natural_end_while_waiting();
    assert_eq!(flow.calls(), ["call_2"]);
    assert_eq!(stored::state(&flow), json!({ "calls": ["call_2"] }));
}

#[test]
fn suspended_owns_the_calls_that_wait() {
    let flow = reach::suspended();
    assert_eq!(flow.calls(), ["call_2"]);
    assert_eq!(stored::state(&flow), json!({ "calls": ["call_2"] }));
}

#[test]
fn error_owns_its_message() {
    let flow = reach::tool_round().fail(Fail::new("the executor is gone"));
    assert_eq!(flow.message(), "the executor is gone");
    assert_eq!(stored::state(&flow), json!({ "message": "the executor is gone" }));
}

#[test]
fn run_end_owns_reason_and_waiting_calls() {
    let flow = reach::run_end();
    assert_eq!((flow.reason(), flow.calls()), (&TerminationReason::Suspended, &["call_2".to_owned()][..]));
    assert_eq!(stored::state(&flow), json!({ "reason": "suspended", "calls": ["call_2"] }));
}

#[test]
fn commit_finished_owns_the_last_commit_too() {
    let flow = reach::commit_finished();
    assert_eq!((flow.reason(), flow.calls()), (&TerminationReason::Suspended, &["call_2".to_owned()][..]));
    assert_eq!((flow.due().trigger(), flow.due().number()), (Trigger::RunFinished, 4));
    assert!(flow.due().trigger().is_forced());
    assert_eq!(
        stored::state(&flow),
        json!({ "reason": "suspended", "calls": ["call_2"], "due": due("RunFinished", 4) })
    );
}

#[test]
fn every_state_survives_storage() {
    stored::assert_forms("run_flow", RunFlowStatus::ALL.iter().map(|status| super::at(*status)));
}

#[test]
fn a_stored_activation_does_not_wait_for_nothing() {
    assert_eq!(
        super::super::doctored(&super::at(RunFlowStatus::Suspended), |stored| stored["state"] =
            json!({ "calls": [] })),
        "the state is not that of a machine in Suspended: a run waits for at least one suspended call, and none was named"
    );
}

/// A request to stop is part of the record, and no crash forgets it.
#[test]
fn a_pending_stop_survives_storage() {
    let mut flow = reach::tool_round();
    flow.request_stop(TerminationReason::Blocked("no".into()).try_into().unwrap());
    let AnyRunFlow::ToolRound(flow) = stored::brought_back(flow.into()) else {
        panic!("another state came back")
    };
    assert_eq!(
        flow.record().stopping().map(FinalReason::get),
        Some(&TerminationReason::Blocked("no".into()))
    );
}

#[test]
fn every_event_has_a_payload_that_fits() {
    super::super::assert_every_edge_is_taken(RunFlowStatus::ALL, super::ready, super::event);
}

#[test]
fn states_are_reached() {
    super::super::assert_states_are_reached(RunFlowStatus::ALL, super::at);
    let record = FlowRecord::new(&Run::new(RunRecord::new("r1")), 0);
    assert_eq!(AnyRunFlow::create(record).status(), RunFlowStatus::RunStart);
}

#[test]
fn an_outcome_reads_and_writes_the_documents_spelling() {
    let outcome = CallOutcome { call: "call_1".into(), status: ToolCallStatus::Cancelled };
    let json = json!({ "call": "call_1", "status": "Cancelled" });
    assert_eq!(serde_json::to_value(&outcome).unwrap(), json);
    assert_eq!(serde_json::from_value::<CallOutcome>(json).unwrap(), outcome);
    let wrong = json!({ "call": "call_1", "status": "cancelled" });
    assert!(serde_json::from_value::<CallOutcome>(wrong).is_err());
}
