//! The user writes while calls wait.

use runstate::agent::ActivationError;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;

use super::parts::{World, statuses};

#[test]
fn a_new_message_supersedes_the_calls_that_wait() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    let mut state = world.state();
    world.start(&mut state);
    let outcome = world.drive(|agent| agent.resume_with_message(&mut state, "forget it")).unwrap();
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Cancelled", "b Succeeded"]);
    assert_eq!(
        world.script.seen[1],
        [
            "user: tidy up",
            "assistant: [write a, read b]",
            "a: error: superseded by a new message",
            r#"b: {"for":"b"}"#,
            "user: forget it",
        ]
    );
    assert_eq!(world.done(), ["r1/b/1"]);
    world.assert_trace("superseded");
}

#[test]
fn a_new_message_leaves_calls_that_never_started_unexecuted() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "note")]]);
    let mut state = world.state();
    world.start(&mut state);
    world.drive(|agent| agent.resume_with_message(&mut state, "forget it")).unwrap();
    assert_eq!(statuses(&state), ["a Cancelled", "b New"]);
    assert_eq!(world.done(), ["r1/a/1"], "the user moved on before b was executed");
    assert_eq!(world.script.seen[1][3], "b: error: not executed");
}

#[test]
fn a_late_decision_on_a_superseded_call_is_stale() {
    let mut world = World::new(&[&[("a", "write")], &[("b", "write")]]);
    let mut state = world.state();
    world.start(&mut state);
    world.drive(|agent| agent.resume_with_message(&mut state, "rather b")).unwrap();
    world.queue.put(&[("a", Resume)]);
    world.queue.incoming[0].suspension_id = Some("r1/a/1".into());
    assert_eq!(world.resume(&mut state).waiting, ["b"]);
    assert_eq!(format!("{:?}", world.queue.replies), r#"[("d-a", Stale)]"#);
    assert!(world.done().is_empty());
}

#[test]
fn a_message_is_for_a_run_that_waits() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let error = world.drive(|agent| agent.resume_with_message(&mut state, "hello?")).unwrap_err();
    assert_eq!(error.to_string(), "the run is Running: a message is for a run that waits");
    world.start(&mut state);
    for error in [
        world.drive(|agent| agent.resume_with_message(&mut state, "again")).unwrap_err(),
        world.drive(|agent| agent.resume(&mut state)).unwrap_err(),
        world.try_start(&mut state).unwrap_err(),
    ] {
        assert!(matches!(error, ActivationError::NotStartable { status: RunStatus::Done, .. }), "{error}");
    }
    assert_eq!(state.messages().len(), 2, "the refused messages are not kept");
}
