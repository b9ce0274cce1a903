//! Calls that wait for a decision.

use runstate::agent::{RunState, StoredRun};
use runstate::checkpoint::Trigger::{
    AssistantTurnCommitted, DecisionAccepted, RunFinished, ToolResultsCommitted, UserMessage,
};
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;

use super::parts::{Queue, World, turn};

fn two_writes() -> World {
    World::new(vec![turn(&[("call_1", "write"), ("call_2", "write"), ("call_3", "read")])])
}

fn statuses(state: &RunState) -> Vec<String> {
    state.calls().map(|(name, call)| format!("{name} {}", call.status())).collect()
}

#[test]
fn a_run_waits_in_storage_and_goes_on_when_each_call_is_decided() {
    let mut world = two_writes();
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(outcome.reason, TerminationReason::Suspended);
    assert_eq!(outcome.waiting, ["call_1", "call_2"]);
    assert_eq!(statuses(&state), ["call_1 Suspended", "call_2 Suspended", "call_3 Succeeded"]);
    assert_eq!(world.kept.triggers, [UserMessage, AssistantTurnCommitted, ToolResultsCommitted, RunFinished]);

    // Only the bytes survive.
    let mut state = StoredRun::from_json(world.kept.json.as_bytes()).unwrap().restore().unwrap();
    state.watch(&world.recorder);
    assert_eq!(world.resume(&mut state).waiting, ["call_1", "call_2"]);

    world.queue = Queue::of(&[("call_2", Resume)]);
    world.kept.triggers.clear();
    let outcome = world.resume(&mut state);
    assert_eq!(outcome.waiting, ["call_1"]);
    assert_eq!(statuses(&state), ["call_1 Suspended", "call_2 Succeeded", "call_3 Succeeded"]);
    assert_eq!(world.kept.triggers, [UserMessage, DecisionAccepted, ToolResultsCommitted, RunFinished]);

    world.queue = Queue::of(&[("call_1", Cancel)]);
    let outcome = world.resume(&mut state);
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["call_1 Cancelled", "call_2 Succeeded", "call_3 Succeeded"]);
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(*world.ledger.borrow(), ["r1/call_3/1", "r1/call_2/1"]);

    let events = world.recorder.events();
    let book = runstate::trace::Rulebook::of(runstate::lifecycles().iter().copied());
    let report = runstate::trace::check(&events, &book);
    assert_eq!(report.verdict, runstate::trace::Verdict::Conforms, "{}", report.summary());
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("agent__approvals", runstate::trace::to_text(&events));
    });
}
