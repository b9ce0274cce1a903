//! Models that do not answer and commits that fail.

use runstate::agent::{ActivationError, Outcome, RunState};
use runstate::checkpoint::Trigger;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;

use super::parts::{World, history, statuses};

#[test]
fn a_model_that_does_not_answer_ends_the_run() {
    let mut world = World::new(&[&[("a", "read")]]);
    world.script.fails_at = Some(2);
    let mut state = world.state();
    let outcome = world.start(&mut state);
    assert_eq!(outcome.reason.to_string(), "error:the model did not answer: the line is dead");
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(statuses(&world.restored()), ["a Succeeded"], "what was done is kept");
    world.assert_trace("model_error");
}

/// A run through each kind of commit: one activation until `a` waits, and one from its decision to the end.
fn script() -> World {
    let mut world = World::new(&[
        &[("a", "write"), ("b", "note")],
        &[("c", "write")],
        &[("d", "ask_once"), ("e", "note")],
    ]);
    world.queue.patient = true;
    world
}

fn decide_all(world: &mut World, state: &mut RunState) -> Outcome {
    world.decide(state, &[("a", Resume), ("c", Resume), ("d", Resume)])
}

#[test]
fn a_commit_that_fails_ends_the_run_with_an_error_and_what_was_committed_stays() {
    let mut whole = script();
    let mut state = whole.state();
    whole.start(&mut state);
    let first = whole.kept.triggers.len();
    assert_eq!(decide_all(&mut whole, &mut state).reason, TerminationReason::NaturalEnd);
    let all = whole.kept.triggers.clone();
    let ends = [first - 1, all.len() - 1];

    for at in (0..all.len()).filter(|at| !ends.contains(at)) {
        let mut world = script();
        world.kept.fail_at = Some(at);
        let mut state = world.state();
        let mut outcome = world.start(&mut state);
        if outcome.reason == TerminationReason::Suspended {
            outcome = decide_all(&mut world, &mut state);
        }
        assert_eq!(
            outcome.reason.to_string(),
            "error:the run's state could not be committed: the disk is full",
            "commit {at} ({})",
            all[at]
        );
        // The end was committed, with all that was done by then.
        let restored = world.restored();
        assert_eq!(restored.run().status(), RunStatus::Done);
        assert_eq!(history(&restored), history(&state));
        for (_, call) in restored.calls() {
            assert!(call.status().is_terminal() || call.status().name() == "New", "{}", call.status());
        }
        let report = world.report();
        assert!(report.violation.is_none(), "{}", report.summary());
        for it in &report.unfinished {
            // A decision that is not durable is not replayed, and the calls behind it have not started.
            let cut =
                it.state == "PersistResumeDecision" || it.state == "New" || it.lifecycle == "tool_execution";
            assert!(cut, "commit {at}: {}", report.summary());
        }
    }
    for trigger in [
        Trigger::UserMessage,
        Trigger::AssistantTurnCommitted,
        Trigger::CallsStarted,
        Trigger::ToolResultsCommitted,
        Trigger::DecisionAccepted,
    ] {
        assert!(all.contains(&trigger), "{trigger} is among {all:?}");
    }
}

#[test]
fn a_tool_that_could_not_be_marked_as_started_does_not_execute() {
    let mut world = World::new(&[&[("a", "read"), ("b", "note"), ("c", "read")]]);
    world.kept.fail_at = Some(2);
    let mut state = world.state();
    assert!(matches!(world.start(&mut state).reason, TerminationReason::Error(_)));
    assert_eq!(statuses(&state), ["a Succeeded", "b Cancelled", "c New"]);
    assert_eq!(world.done(), ["r1/a/1"]);
}

#[test]
fn an_end_that_could_not_be_committed_is_handed_back_and_committed_again() {
    for calls in [&[][..], &[("a", "write")]] {
        let mut world = World::new(&[calls]);
        let ends = 2 + calls.len();
        (world.kept.fail_at, world.kept.fail_on) = (Some(ends), true);
        let mut state = world.state();
        let Err(ActivationError::Unfinished(unfinished)) = world.try_start(&mut state) else {
            panic!("the end was committed")
        };
        assert_eq!(
            unfinished.error().to_string(),
            "the run's state could not be committed: the disk is full"
        );
        assert_eq!(world.restored().run().status(), RunStatus::Running, "what was committed stays");
        let unfinished = unfinished.retry(&mut world.kept, &state).unwrap_err();
        world.kept.fail_at = None;
        let outcome = unfinished.retry(&mut world.kept, &state).unwrap();
        assert_eq!(outcome.reason.to_run_status(), state.run().status());
        assert_eq!(world.kept.triggers.last(), Some(&Trigger::RunFinished));
        let restored = world.restored();
        assert_eq!(statuses(&restored), statuses(&state));
        assert_eq!(restored.run().status(), state.run().status());
        world.assert_conforms();
    }
}

#[test]
fn a_run_whose_end_was_never_committed_goes_on_from_what_was() {
    for calls in [&[][..], &[("a", "write")]] {
        let mut world = World::new(&[calls]);
        (world.kept.fail_at, world.kept.fail_on) = (Some(2 + calls.len()), true);
        let mut state = world.state();
        drop(world.try_start(&mut state).unwrap_err());
        world.kept.fail_at = None;
        // The trace ends with what was committed too; here it is the state that counts.
        let mut state = world.restored();
        let asked = world.script.seen.len();
        let outcome = world.resume(&mut state);
        assert_eq!(world.script.seen.len(), asked, "the model is not asked again");
        match calls {
            [] => assert_eq!(outcome.reason, TerminationReason::NaturalEnd),
            _ => assert_eq!(outcome.waiting, ["a"]),
        }
    }
}
