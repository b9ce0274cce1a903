//! Models that do not answer and commits that fail.

use runstate::checkpoint::Trigger;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{ActivationError, ExecutionMode, Input, Outcome, RunHandles, RunState, WhenSuspended};

use super::parts::{Bit, World, bits, history, statuses, turn};

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_ends_the_run() {
    let mut world = World::with(vec![bits(&turn(&[("a", "read")])), vec![Bit::Fail("the line is dead")]]);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason.to_string(), "error:the model did not answer: the line is dead");
    assert_eq!(state.run().status(), RunStatus::Done);
    assert_eq!(statuses(&world.restored()), ["a Succeeded"], "what was done is kept");
    world.assert_trace("model_error");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_no_answer_ends_the_run() {
    let call = || Bit::Call(0, "a".into(), "read".into());
    for (answer, said) in [
        (vec![], "the model's stream ended without a finish, after 0 bytes of text and 0 calls"),
        (vec![Bit::Text("hello".into()), call()], "without a finish, after 5 bytes of text and 1 calls"),
        (vec![Bit::Finish, Bit::Text("more".into())], "the model's stream gave text after its finish"),
        (vec![call(), call(), Bit::Finish], "the model's stream began call 0 twice"),
        (vec![Bit::Arguments(3, "{}".into()), Bit::Finish], "data for call 3, which had not begun"),
        (vec![Bit::Text("well".into()), Bit::Panic("out of words")], "the model panicked: out of words"),
        (vec![call(), Bit::Fail("overloaded")], "the model did not answer: overloaded"),
    ] {
        for stream in [false, true] {
            let mut world = World::with(vec![answer.clone()]);
            world.stream = stream;
            let mut state = world.state();
            let TerminationReason::Error(error) = world.start(&mut state).await.reason else {
                panic!("{said}")
            };
            assert!(error.contains(said), "{error}");
            assert_eq!(history(&world.restored()), ["user: tidy up"], "half an answer is none");
            assert_eq!(world.restored().run().status(), RunStatus::Done);
            assert!(world.done().is_empty());
            world.assert_conforms();
        }
    }
}

/// Panics before it says anything.
struct Broken;

impl runstate_agent::Model for Broken {
    fn infer(&self, _: runstate_agent::InferenceRequest) -> runstate_agent::ModelStream<'_> {
        std::panic::resume_unwind(Box::new("no connection".to_owned()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_when_it_is_asked_ends_the_run() {
    let agent = runstate_agent::Agent::builder(Broken).build().unwrap();
    let mut state = RunState::new("r1");
    let io = RunHandles::new();
    let outcome = runstate_agent::run_loop(&agent, &mut state, Input::message("hi"), io).await.unwrap();
    assert_eq!(outcome.reason.to_string(), "error:the model panicked: no connection");
}

#[tokio::test(start_paused = true)]
async fn call_with_non_json_arguments_fails_and_the_model_sees_why() {
    let mut world = World::with(vec![vec![
        Bit::Call(0, "a".into(), "read".into()),
        Bit::Arguments(0, "{\"path\": ".into()),
        Bit::Call(1, "b".into(), "read".into()),
        Bit::Finish,
    ]]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&world.restored()), ["a Failed", "b Succeeded"]);
    let seen = world.script.seen();
    assert!(
        seen[1][2].starts_with("a: error: the arguments cannot be read: the arguments are not JSON: "),
        "{seen:?}"
    );
    assert_eq!(seen[1][3], "b: {}", "none at all are none");
    assert_eq!(world.done(), ["r1/b/1"]);
}

/// A run through each kind of commit: one activation until `a` waits, and one from its decision to the end.
fn script() -> World {
    World::new(&[&[("a", "write"), ("b", "note")], &[("c", "write")], &[("d", "ask_once"), ("e", "note")]])
}

async fn decide_all(world: &mut World, state: &mut RunState) -> Outcome {
    world.when_suspended = WhenSuspended::WaitInPlace;
    world.put_patiently(&[("c", Resume), ("d", Resume)]);
    world.decide(state, &[("a", Resume)]).await
}

#[tokio::test(start_paused = true)]
async fn failed_commit_ends_the_run_and_keeps_earlier_commits() {
    for (mode, stream) in [
        (ExecutionMode::Sequential, false),
        (ExecutionMode::Parallel, false),
        (ExecutionMode::Sequential, true),
        (ExecutionMode::Concurrent, true),
    ] {
        let script = || {
            let mut world = script();
            (world.mode, world.stream) = (mode, stream);
            world
        };
        let mut whole = script();
        let mut state = whole.state();
        whole.start(&mut state).await;
        let first = whole.kept.triggers().len();
        assert_eq!(decide_all(&mut whole, &mut state).await.reason, TerminationReason::NaturalEnd);
        let all = whole.kept.triggers().clone();
        assert_eq!(all[first - 1], Trigger::RunFinished);

        for at in (0..all.len()).filter(|at| all[*at] != Trigger::RunFinished) {
            let mut world = script();
            world.kept.fail_at = Some(at);
            let mut state = world.state();
            let mut outcome = world.start(&mut state).await;
            if outcome.reason == TerminationReason::Suspended {
                outcome = decide_all(&mut world, &mut state).await;
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
            let once = world.done().into_iter().filter(|key| key.contains("/b/") || key.contains("/e/"));
            assert!(once.collect::<std::collections::BTreeSet<_>>().len() <= 2);
            for (_, call) in restored.calls() {
                assert!(call.status().is_terminal() || call.status().name() == "New", "{}", call.status());
            }
            let report = world.report();
            assert!(report.violation.is_none(), "{}", report.summary());
            for it in &report.unfinished {
                // A decision that is not durable is not replayed, and the calls behind it have not started.
                let cut = it.lifecycle == "resume_tool_call"
                    || it.state == "New"
                    || it.lifecycle == "tool_execution";
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
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_could_not_be_marked_as_started_does_not_execute() {
    let mut world = World::new(&[&[("a", "read"), ("b", "note"), ("c", "read")]]);
    world.kept.fail_at = Some(2);
    let mut state = world.state();
    assert!(matches!(world.start(&mut state).await.reason, TerminationReason::Error(_)));
    assert_eq!(statuses(&state), ["a Succeeded", "b Cancelled", "c New"]);
    assert_eq!(world.done(), ["r1/a/1"]);
}

#[tokio::test(start_paused = true)]
async fn uncommitted_end_is_handed_back_and_committed_by_retry() {
    for calls in [&[][..], &[("a", "write")]] {
        let mut world = World::new(&[calls]);
        let ends = 2 + calls.len();
        (world.kept.fail_at, world.kept.fail_on) = (Some(ends), true);
        let mut state = world.state();
        let Err(ActivationError::Unfinished(unfinished)) =
            world.try_drive(&mut state, Input::message("tidy up")).await
        else {
            panic!("the end was committed")
        };
        assert_eq!(
            unfinished.error().to_string(),
            "the run's state could not be committed: the disk is full"
        );
        let unfinished = ActivationError::Unfinished(unfinished);
        assert!(unfinished.to_string().contains("`Unfinished::retry` commits it"), "{unfinished}");
        let ActivationError::Unfinished(unfinished) = unfinished else { unreachable!() };
        assert_eq!(world.restored().run().status(), RunStatus::Running, "what was committed stays");
        let agent = world.agent();
        let io = RunHandles::new().committer(&mut world.kept);
        let unfinished = unfinished.retry(&agent, &mut state, io).await.unwrap_err();
        world.kept.fail_at = None;
        let io = RunHandles::new().committer(&mut world.kept);
        let outcome = unfinished.retry(&agent, &mut state, io).await.unwrap();
        assert_eq!(outcome.reason.to_run_status(), state.run().status());
        assert_eq!(world.kept.triggers().last(), Some(&Trigger::RunFinished));
        let restored = world.restored();
        assert_eq!(statuses(&restored), statuses(&state));
        assert_eq!(restored.run().status(), state.run().status());
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_end_was_never_committed_goes_on_from_what_was() {
    for calls in [&[][..], &[("a", "write")]] {
        let mut world = World::new(&[calls]);
        (world.kept.fail_at, world.kept.fail_on) = (Some(2 + calls.len()), true);
        let mut state = world.state();
        world.try_drive(&mut state, Input::message("tidy up")).await.unwrap_err();
        world.kept.fail_at = None;
        // The trace ends with what was committed too; here it is the state that counts.
        let mut state = world.restored();
        let asked = world.script.seen().len();
        let outcome = world.resume(&mut state).await;
        assert_eq!(world.script.seen().len(), asked, "the model is not asked again");
        match calls {
            [] => assert_eq!(outcome.reason, TerminationReason::NaturalEnd),
            _ => assert_eq!(outcome.waiting, ["a"]),
        }
    }
}
