//! A run is cancelled at each place where its flow may be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate::turn::CallRequest;
use runstate_agent::{
    ActivationError, CancellationToken, ExecutionMode, GateCall, InferenceRequest, Input, Outcome,
    PhaseContext, Plugin, PluginError, Reply, RunState, Verdict, WhenSuspended, async_trait,
};
use runstate_runtime::clock::Clock;
use serde_json::json;

use super::parts::{Bit, World, assert_golden, bits, history, of_lifecycle, statuses, turn};
use super::polls::before_poll;
use super::script::asks;

/// Takes its time wherever it is asked.
struct Slow;

impl Slow {
    async fn down() {
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
}

#[async_trait]
impl Plugin for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn run_start(&self, _: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Slow::down().await;
        Ok(())
    }

    async fn step_start(&self, _: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Slow::down().await;
        Ok(())
    }

    async fn before_inference(
        &self,
        _: &mut PhaseContext<'_>,
        _: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        Slow::down().await;
        Ok(())
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        _: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        Slow::down().await;
        Ok(Verdict::Allow)
    }

    async fn step_end(&self, _: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Slow::down().await;
        Ok(())
    }
}

/// Two rounds, of which the first waits and the second does not; each thing in them takes time.
fn script(mode: ExecutionMode, stream: bool, when_suspended: WhenSuspended) -> World {
    let slow = |id: &str, ms: u64| CallRequest::new(id, "slow_once", json!({ "ms": ms }));
    let mut first = vec![Bit::Sleep(11)];
    let approved = CallRequest::new("a", "approved", json!({ "ms": 40 }));
    first.extend(bits(&asks([approved, slow("b", 30), slow("c", 50)])));
    first.insert(3, Bit::Sleep(13));
    let mut world = World::with(vec![first, bits(&asks([slow("d", 10), slow("e", 20)]))]);
    world.plugins.push(Arc::new(Slow));
    (world.mode, world.stream, world.when_suspended) = (mode, stream, when_suspended);
    world
}

fn assert_ended_cancelled(world: &World, state: &RunState, at: usize) {
    assert_eq!(state.run().status(), RunStatus::Done, "cancelled at poll {at}");
    for (name, call) in state.calls() {
        let status = call.status();
        assert!(status.is_terminal() || status == ToolCallStatus::New, "{name} is {status} at the end");
    }
    let restored = world.restored();
    assert_eq!(restored.run().status(), RunStatus::Done, "the end is durable");
    assert_eq!(statuses(&restored), statuses(state));
    assert_eq!(history(&restored), history(state));
    let report = world.report();
    assert!(report.violation.is_none(), "{}", report.summary());
    // What a cancelled round had ready to execute is abandoned, a pass of a gate with it, and the rest has ended.
    for it in &report.unfinished {
        assert!(
            ["tool_execution", "tool_call", "resume_tool_call"].contains(&it.lifecycle.as_str()),
            "{}",
            report.summary()
        );
    }
}

/// Drives it with one decision that comes so long after its call waits, and cancels before one of the polls.
async fn cancelled(
    world: &mut World,
    state: &mut RunState,
    late_ms: u64,
    at: usize,
) -> (Outcome, Option<u64>) {
    let (token, clock) = (world.token.clone(), world.clock);
    let mut handle = world.handle.clone();
    let decider = tokio::spawn(async move {
        while handle.pending().is_empty() {
            handle.pending_changed().await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(late_ms)).await;
        drop(handle.decide(runstate_agent::Incoming::new("d-a", "a", Resume)).await);
    });
    let mut when = None;
    let parks = world.when_suspended == WhenSuspended::Park;
    let driven = async {
        let mut outcome = world.drive(state, Input::message("tidy up")).await.unwrap();
        while parks && outcome.reason == TerminationReason::Suspended {
            tokio::time::sleep(Duration::from_millis(1)).await;
            outcome = world.drive(state, Input::Resume).await.unwrap();
        }
        outcome
    };
    let (outcome, _) = before_poll(driven, at, || {
        when = Some(clock.now_ms());
        token.cancel();
    })
    .await;
    decider.abort();
    (outcome, when)
}

#[tokio::test(start_paused = true)]
async fn run_cancelled_at_any_await_ends_at_that_instant() {
    for (mode, stream, when_suspended) in [
        (ExecutionMode::Sequential, false, WhenSuspended::Park),
        (ExecutionMode::Sequential, true, WhenSuspended::WaitInPlace),
        (ExecutionMode::Parallel, false, WhenSuspended::WaitInPlace),
        (ExecutionMode::Parallel, true, WhenSuspended::Park),
        (ExecutionMode::Concurrent, false, WhenSuspended::WaitInPlace),
        (ExecutionMode::Concurrent, true, WhenSuspended::WaitInPlace),
    ] {
        let mut from = BTreeSet::new();
        // During the round, and behind it.
        for late_ms in [25, 400] {
            let mut ended_by_itself = 0;
            for at in 0.. {
                let mut world = script(mode, stream, when_suspended);
                let mut state = world.state();
                let (outcome, when) = cancelled(&mut world, &mut state, late_ms, at).await;
                let Some(when) = when else {
                    assert!(at > 30, "there are more awaits than {at}");
                    break;
                };
                if outcome.reason == TerminationReason::NaturalEnd {
                    // It came while the end was being committed.
                    ended_by_itself += 1;
                    continue;
                }
                assert_eq!(ended_by_itself, 0, "cancelled at poll {at}, later than where it could not be");
                assert_eq!(outcome.reason, TerminationReason::Cancelled, "at poll {at} of {mode:?}");
                // Parked, it is seen by the loop that comes next.
                let parked = u64::from(when_suspended == WhenSuspended::Park);
                let took = world.clock.now_ms() - when;
                assert!(took <= parked, "cancelled at poll {at} of {mode:?}, it took {took} ms");
                assert_ended_cancelled(&world, &state, at);
                let events = world.recorder.events();
                let flow = of_lifecycle(&events, "run_flow");
                if let Some(cancel) = flow.iter().find(|event| event.ends_with("--> Cancelled : cancel")) {
                    from.insert(cancel.split(' ').nth(1).unwrap().to_owned());
                }
                if of_lifecycle(&events, "run").last().is_some_and(|event| event.contains("Waiting --> Done"))
                {
                    from.insert("(waiting)".to_owned());
                }
            }
            assert!(
                (1..=6).contains(&ended_by_itself),
                "{ended_by_itself} polls behind the last that can be cancelled"
            );
        }
        let all = [
            "(waiting)",
            "LlmCall",
            "ResumeAfterTool",
            "ResumeReplay0",
            "ResumeToolCall",
            "StepPrepare",
            "ToolRound",
        ];
        let from: Vec<_> = from.iter().map(String::as_str).collect();
        assert_eq!(from, all, "the ways to Cancelled that are taken in {mode:?}, stream: {stream}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_the_token_is_dropped() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        let mut world = World::new(&[&[("a", "hang"), ("b", "hang")]]);
        world.mode = mode;
        let mut state = world.state();
        let token = world.token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            token.cancel();
        });
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::Cancelled);
        assert_eq!(world.clock.now_ms(), 3_000, "at once");
        assert_eq!(history(&state)[2], "a: error: the run ended: cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_dropped() {
    for answer in [vec![Bit::Hang], vec![Bit::Text("well".into()), Bit::Hang]] {
        let mut world = World::with(vec![answer]);
        let mut state = world.state();
        let token = world.token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            token.cancel();
        });
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::Cancelled);
        assert_eq!(world.clock.now_ms(), 3_000, "at once");
        assert_eq!(history(&state), ["user: tidy up"], "half an answer is none");
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_that_is_cancelled_executes_nothing_more() {
    let mut world = World::new(&[&[("a", "read"), ("b", "hang"), ("c", "read")]]);
    let mut state = world.state();
    let token = world.token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::Cancelled);
    assert_eq!(statuses(&state), ["a Succeeded", "b Cancelled", "c New"]);
    assert_eq!(world.done(), ["r1/a/1", "r1/b/1"]);
    assert_eq!(history(&state)[3..], ["b: error: the run ended: cancelled", "c: error: not executed"]);
    assert_golden("cancelled_round", &runstate::trace::to_text(&world.recorder.events()));
}

#[tokio::test(start_paused = true)]
async fn run_cancelled_before_its_start_asks_no_question() {
    let mut world = World::with(vec![bits(&turn(&[("a", "read")]))]);
    world.token.cancel();
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::Cancelled);
    assert!(world.script.seen().is_empty());
    assert_eq!(history(&world.restored()), ["user: tidy up"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_is_cancelled_with_its_calls_in_one_commit() {
    for by_token in [false, true] {
        let mut world = World::new(&[&[("a", "write"), ("b", "read"), ("c", "note")]]);
        let mut state = world.state();
        world.start(&mut state).await;
        let commits = world.kept.triggers().len();
        let outcome = if by_token {
            // A run that was cancelled from outside takes no decision any more.
            world.put(&[("a", Resume)]);
            world.token.cancel();
            world.resume(&mut state).await
        } else {
            world.cancel(&mut state).await.unwrap()
        };
        assert_eq!(outcome.reason, TerminationReason::Cancelled);
        assert_eq!(statuses(&state)[0], "a Cancelled");
        assert_eq!(world.kept.triggers().len(), commits + 1);
        assert_ended_cancelled(&world, &state, 0);
        assert!(world.replies().iter().all(|(_, reply)| *reply == Reply::Stale), "no decision was taken");
        world.assert_trace("cancelled_while_waiting");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_was_not_committed_can_be_committed_again() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.kept.fail_at = Some(world.kept.triggers().len());
    let error = world.cancel(&mut state).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run's state could not be committed: the disk is full; do the same again to commit it"
    );
    assert!(matches!(error, ActivationError::NotCommitted(_)));
    assert_eq!(world.restored().run().status(), RunStatus::Waiting, "what was committed stays");
    world.cancel(&mut state).await.unwrap();
    assert_ended_cancelled(&world, &state, 0);
}

#[tokio::test(start_paused = true)]
async fn only_a_run_that_waits_is_cancelled_between_activations() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let error = world.cancel(&mut state).await.unwrap_err();
    assert_eq!(error.to_string(), "the run is Running: it executes; cancel the token of its loop");
    world.token = CancellationToken::new();
    world.start(&mut state).await;
    let error = world.cancel(&mut state).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run is Done: it is over; start a new run, on its thread if it is to go on from there"
    );
}
