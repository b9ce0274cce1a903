//! The user writes while calls wait.

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{ActivationError, Input};

use super::parts::{World, statuses};

#[tokio::test(start_paused = true)]
async fn a_new_message_supersedes_the_calls_that_wait() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let outcome = world.write(&mut state, "forget it").await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Cancelled", "b Succeeded"]);
    assert_eq!(
        world.script.seen()[1],
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

#[tokio::test(start_paused = true)]
async fn a_new_message_leaves_calls_that_never_started_unexecuted() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "note")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.write(&mut state, "forget it").await;
    assert_eq!(statuses(&state), ["a Cancelled", "b New"]);
    assert_eq!(world.done(), ["r1/a/1"], "the user moved on before b was executed");
    assert_eq!(world.script.seen()[1][3], "b: error: not executed");
}

#[tokio::test(start_paused = true)]
async fn a_late_decision_on_a_superseded_call_is_stale() {
    let mut world = World::new(&[&[("a", "write")], &[("b", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.write(&mut state, "rather b").await;
    world.put(&[("a", Resume)]);
    world.incoming[0].suspension_id = Some("r1/a/1".into());
    assert_eq!(world.resume(&mut state).await.waiting, ["b"]);
    assert_eq!(format!("{:?}", world.replies()), r#"[("d-a", Stale)]"#);
    assert!(world.done().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_over_takes_no_input() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let error = world.try_drive(&mut state, Input::Resume).await.unwrap_err();
    assert_eq!(error.to_string(), "the run is Running: it has not begun; start it with a message");
    world.start(&mut state).await;
    for input in [Input::message("again"), Input::Resume] {
        let error = world.try_drive(&mut state, input).await.unwrap_err();
        assert!(matches!(error, ActivationError::NotStartable { status: RunStatus::Done, .. }), "{error}");
    }
    assert_eq!(state.history().len(), 2, "the refused messages are not kept");
}
