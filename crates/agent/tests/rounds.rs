//! Execution modes, suspension policies, and what happens when calls wait. Times are virtual and exact.

use std::time::Duration;

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::trace::Ordinals;
use runstate::turn::CallRequest;
use runstate_agent::{
    ExecutionMode, Incoming, Input, Reply, RunHandles, SuspensionPolicy, WhenSuspended, run_loop,
};
use runstate_runtime::clock::Clock;
use serde_json::json;

use super::causes::EXPIRED;
use super::parts::{World, assert_golden, settled, statuses};
use super::script::{Bit, asks, bits};

pub fn timed(id: &str, tool: &str, ms: u64) -> CallRequest {
    CallRequest::new(id, tool, json!({ "ms": ms }))
}

/// When, in milliseconds, a machine of that lifecycle and name made that transition for the first time.
fn when(world: &World, instance: &str, transition: &str) -> u64 {
    let events = world.recorder.events();
    let event =
        events.iter().find(|event| event.instance == instance && event.to_string().starts_with(transition));
    event.unwrap_or_else(|| panic!("no {transition} of {instance}")).at_ms
}

/// Two calls that need approval and one that does not, as document 003 draws them.
fn six_steps(mode: ExecutionMode) -> World {
    let calls = [timed("A", "approved", 100), timed("B", "approved", 100), timed("C", "slow", 1_000)];
    let mut world = World::of([asks(calls)]);
    (world.mode, world.when_suspended) = (mode, WhenSuspended::WaitInPlace);
    world.send_at(200, Incoming::new("d-A", "A", Resume));
    world.send_at(2_000, Incoming::new("d-B", "B", Resume));
    world
}

#[tokio::test(start_paused = true)]
async fn concurrent_replay_starts_at_its_decision_beside_other_calls() {
    let mut world = six_steps(ExecutionMode::Concurrent);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(when(&world, "C", "New --> Running"), 0, "t0");
    assert_eq!(when(&world, "A", "Suspended --> Resuming"), 200, "t1: at its decision, while C executes");
    assert_eq!(when(&world, "A", "Running --> Succeeded"), 300, "t2");
    assert_eq!(when(&world, "C", "Running --> Succeeded"), 1_000, "t3");
    assert_eq!(when(&world, "r1", "Running --> Waiting"), 1_000, "t3: B alone waits");
    assert_eq!(when(&world, "B", "Suspended --> Resuming"), 2_000, "t4");
    assert_eq!(when(&world, "B", "Running --> Succeeded"), 2_100, "t5");
    assert_eq!(world.clock.now_ms(), 2_100);
    world.assert_conforms();
    let mut ordinals = Ordinals::new();
    let shown = |event: &&runstate::trace::Event<'_>| ["run", "tool_call"].contains(&&*event.lifecycle);
    let events = world.recorder.events();
    let lines: String = events
        .iter()
        .filter(shown)
        .map(|event| format!("{:>5} ms {}\n", event.at_ms, ordinals.line(event)))
        .collect();
    assert_golden("six_steps", &lines);
}

#[tokio::test(start_paused = true)]
async fn non_concurrent_replay_waits_for_the_round_unless_streaming() {
    for (mode, stream, starts) in [
        (ExecutionMode::Sequential, false, 1_000),
        (ExecutionMode::Parallel, false, 1_000),
        (ExecutionMode::Sequential, true, 200),
        (ExecutionMode::Parallel, true, 200),
    ] {
        let mut world = six_steps(mode);
        world.stream = stream;
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(when(&world, "A", "Suspended --> Resuming"), starts, "{mode:?}, stream: {stream}");
        assert_eq!(when(&world, "B", "Suspended --> Resuming"), 2_000);
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn simultaneous_decisions_replay_serially_unless_concurrent() {
    for (mode, second) in
        [(ExecutionMode::Sequential, 300), (ExecutionMode::Parallel, 300), (ExecutionMode::Concurrent, 200)]
    {
        // While a third call executes, and while the model speaks.
        for speaks in [false, true] {
            let calls = [timed("A", "approved", 100), timed("B", "approved", 100), timed("C", "slow", 1_000)];
            let mut world = if speaks {
                World::with(vec![bits(&asks(calls)), vec![Bit::Sleep(1_000), Bit::Finish]])
            } else {
                World::of([asks(calls)])
            };
            (world.mode, world.stream) = (mode, true);
            world.policy = SuspensionPolicy::ContinueWhenAny;
            let at_ms = if speaks { 1_200 } else { 200 };
            world.send_at(at_ms, Incoming::new("d-A", "A", Resume));
            world.send_at(at_ms, Incoming::new("d-B", "B", Resume));
            let mut state = world.state();
            assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
            let starts = ["A", "B"].map(|call| when(&world, call, "Suspended --> Resuming"));
            let second = second + at_ms - 200;
            assert_eq!(starts, [at_ms, second], "{mode:?}, the model speaks: {speaks}");
            world.assert_conforms();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_execute_one_by_one_or_all_at_once() {
    for (mode, took) in
        [(ExecutionMode::Sequential, 600), (ExecutionMode::Parallel, 300), (ExecutionMode::Concurrent, 300)]
    {
        let calls = [timed("a", "slow", 300), timed("b", "slow_once", 200), timed("c", "slow", 100)];
        let mut world = World::of([asks(calls)]);
        world.mode = mode;
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(world.clock.now_ms(), took, "{mode:?}");
        // Whatever the order in which they ended, the model reads the results in call order.
        assert_eq!(world.script.seen()[1][2..], ["a: 300", "b: 200", "c: 100"]);
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_holds_up_those_behind_it_in_sequence_only() {
    for (mode, left) in [
        (ExecutionMode::Sequential, ["a Suspended", "b New", "c New"]),
        (ExecutionMode::Parallel, ["a Suspended", "b Succeeded", "c Failed"]),
        (ExecutionMode::Concurrent, ["a Suspended", "b Succeeded", "c Failed"]),
    ] {
        let mut world = World::new(&[&[("a", "ask"), ("b", "note"), ("c", "fail")]]);
        world.mode = mode;
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a"]);
        assert_eq!(statuses(&state), left, "{mode:?}");
        let outcome = world.decide(&mut state, &[("a", Resume)]).await;
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Failed"]);
        assert_eq!(world.executions("b"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn once_only_tools_started_together_are_marked_in_one_commit() {
    use runstate::checkpoint::Trigger::CallsStarted;
    for (mode, commits) in
        [(ExecutionMode::Sequential, 2), (ExecutionMode::Parallel, 1), (ExecutionMode::Concurrent, 1)]
    {
        let mut world = World::new(&[&[("a", "note"), ("b", "read"), ("c", "note")]]);
        world.mode = mode;
        let mut state = world.state();
        world.start(&mut state).await;
        let started = world.kept.triggers().iter().filter(|trigger| **trigger == CallsStarted).count();
        assert_eq!(started, commits, "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_goes_on_with_some_results_or_waits_for_all() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
        (world.policy, world.mode) = (SuspensionPolicy::WaitForAll, mode);
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a"]);
        assert_eq!(world.script.seen().len(), 1, "the model is not asked while a waits");

        let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
        (world.policy, world.mode) = (SuspensionPolicy::ContinueWhenAny, mode);
        let mut state = world.state();
        let outcome = world.start(&mut state).await;
        assert_eq!(world.script.seen()[1][2..], ["a: open: waiting for a decision", r#"b: {"for":"b"}"#]);
        // Its answer has no calls, and that is no end while one waits.
        assert_eq!(
            (outcome.reason, &*outcome.waiting),
            (TerminationReason::Suspended, &["a".to_owned()][..])
        );
        assert_eq!(world.restored().run().status(), RunStatus::Waiting);

        let outcome = world.decide(&mut state, &[("a", Resume)]).await;
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
        let seen = world.script.seen();
        assert_eq!((seen.len(), &*seen[2][2]), (3, "a: \"written\""), "it is asked again, with the result");
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn round_with_all_calls_waiting_suspends_the_run() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write")]]);
    world.policy = SuspensionPolicy::ContinueWhenAny;
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a", "b"]);
    assert_eq!(world.script.seen().len(), 1);
    // One result is enough.
    assert_eq!(world.decide(&mut state, &[("b", Cancel)]).await.waiting, ["a"]);
    assert_eq!(world.script.seen()[1][2..], ["a: open: waiting for a decision", "b: error: denied"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_anew_at_the_start_is_waited_for() {
    let mut world = World::new(&[&[("a", "write_twice"), ("b", "read")]]);
    world.policy = SuspensionPolicy::ContinueWhenAny;
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.script.seen().len(), 2);
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.waiting, ["a"]);
    assert_eq!(world.script.seen().len(), 2, "the model learnt nothing new");
    assert_eq!(state.pending()[0].suspension.id, "r1/a/2");
}

/// One asks again and another is given up, so that as much was asked as before.
#[tokio::test(start_paused = true)]
async fn call_that_asks_again_still_waits_when_another_is_denied() {
    let mut world = World::new(&[&[("a", "write_twice"), ("b", "write"), ("c", "read")]]);
    world.policy = SuspensionPolicy::ContinueWhenAny;
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.script.seen().len(), 2, "there is a result of c");
    assert_eq!(world.decide(&mut state, &[("b", Cancel), ("a", Resume)]).await.waiting, ["a"]);
    assert_eq!(world.script.seen().len(), 2, "a asked at the start, and is waited for");
    assert_eq!(statuses(&state), ["a Suspended", "b Cancelled", "c Succeeded"]);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_in_place_resumes_call_by_call() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Concurrent] {
        let mut world = World::new(&[&[("a", "write"), ("b", "write"), ("c", "write")]]);
        (world.mode, world.when_suspended) = (mode, WhenSuspended::WaitInPlace);
        world.send_at(100, Incoming::new("d-b", "b", Resume));
        world.send_at(300, Incoming::new("d-c", "c", Cancel));
        world.send_at(700, Incoming::new("d-a", "a", Resume));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(when(&world, "b", "Running --> Succeeded"), 100, "at once, while the others wait");
        assert_eq!(when(&world, "c", "Suspended --> Cancelled"), 300);
        assert_eq!(when(&world, "a", "Running --> Succeeded"), 700);
        assert_eq!(state.run().record().activations(), 4);
        assert_eq!(world.script.seen().len(), 2, "the model is asked when all are decided");
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn decisions_of_a_batch_are_taken_in_together_and_in_order() {
    for (mode, took) in [(ExecutionMode::Sequential, 400), (ExecutionMode::Concurrent, 300)] {
        let mut world = World::of([asks([timed("a", "approved", 300), timed("b", "approved", 100)])]);
        (world.mode, world.when_suspended) = (mode, WhenSuspended::WaitInPlace);
        let handle = world.handle.clone();
        let batch = tokio::spawn(async move {
            settled().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            let other = Incoming::new("d-b2", "b", Cancel);
            let batch = [("d-a", "a"), ("d-b", "b")].map(|(id, call)| Incoming::new(id, call, Resume));
            handle.decide_all(batch.into_iter().chain([other]).collect()).await
        });
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        let replies = batch.await.unwrap().unwrap();
        assert_eq!(replies[..2], [Reply::Accepted, Reply::Accepted]);
        assert!(
            matches!(replies[2], Reply::Conflict(_) | Reply::Unknown),
            "the first wins: {:?}",
            replies[2]
        );
        assert_eq!(world.clock.now_ms(), 50 + took, "several replays at once in {mode:?}");
        assert_eq!(state.run().record().activations(), 2, "one activation takes the batch");
        assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded"]);
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_begins_beside_another_that_executes() {
    let mut world = World::of([asks([timed("a", "approved", 300), timed("b", "approved", 100)])]);
    (world.mode, world.when_suspended) = (ExecutionMode::Concurrent, WhenSuspended::WaitInPlace);
    world.send_at(10, Incoming::new("d-a", "a", Resume));
    world.send_at(110, Incoming::new("d-b", "b", Resume));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(when(&world, "b", "Running --> Succeeded"), 210);
    assert_eq!(when(&world, "a", "Running --> Succeeded"), 310);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_what_cannot_come() {
    let mut world = World::new(&[&[("a", "write")]]);
    world.when_suspended = WhenSuspended::WaitInPlace;
    let mut state = world.state();
    let outcome =
        run_loop(&world.agent(), &mut state, Input::message("hi"), RunHandles::new()).await.unwrap();
    assert_eq!(outcome.waiting, ["a"], "without an inbox nobody can decide");
}

#[tokio::test(start_paused = true)]
async fn expiring_suspension_ends_its_wait_at_that_time() {
    for (mode, in_place) in [(ExecutionMode::Sequential, true), (ExecutionMode::Concurrent, false)] {
        // In place, or while another call executes.
        let calls = [CallRequest::new("a", "lapsing", json!({})), timed("b", "slow", 3_000)];
        let mut world = World::of([asks(calls.into_iter().take(if in_place { 1 } else { 2 }))]);
        (world.mode, world.when_suspended) = (mode, WhenSuspended::WaitInPlace);
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(when(&world, "a", &format!("Suspended --> {EXPIRED}")), 1_000);
        assert_eq!(world.script.seen()[1][2], "a: error: no decision came in time");
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn user_message_to_a_run_waiting_in_place_supersedes_its_calls() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    world.when_suspended = WhenSuspended::WaitInPlace;
    let handle = world.handle.clone();
    let writer = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(40)).await;
        handle.write("forget it").await
    });
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(writer.await.unwrap(), Ok(true));
    assert_eq!(statuses(&state), ["a Cancelled", "b Succeeded"]);
    assert_eq!(
        world.script.seen()[1][2..],
        ["a: error: superseded by a new message", r#"b: {"for":"b"}"#, "user: forget it"]
    );
    assert_eq!(super::parts::history(&world.restored()), super::parts::history(&state));
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn message_to_a_run_that_does_not_wait_is_refused() {
    let mut world = World::of([asks([timed("a", "slow", 100)])]);
    let handle = world.handle.clone();
    let writer = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(40)).await;
        handle.write("wait!").await
    });
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(writer.await.unwrap(), Ok(false));
    assert_eq!(state.history().len(), 4);
}
