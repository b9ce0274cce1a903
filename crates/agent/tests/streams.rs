//! The loop as a stream of its events, and the events themselves.

use std::sync::Arc;

use futures_util::StreamExt;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::event::{AgentEvent, CallOutcome, EventKind};
use runstate_agent::{Incoming, Input, RunHandles, SuspensionPolicy, run_loop_stream};
use runstate_runtime::clock::Clock;
use serde_json::json;

use super::parts::{Bit, World, assert_golden, bits, statuses};
use super::rounds::timed;
use super::script::asks;
use super::tools::{repeatable, tool};

/// A run with some of everything.
fn eventful() -> World {
    let mut turn = asks([
        timed("a", "approved", 20),
        timed("b", "slow", 100),
        CallRequest::new("c", "fail", json!({})),
        CallRequest::new("d", "counts", json!({})),
    ]);
    turn.text = "let me see".into();
    let mut answer = bits(&turn);
    answer.insert(1, Bit::Usage(7));
    let mut world = World::with(vec![answer, vec![Bit::Text("done".into()), Bit::Finish, Bit::Usage(3)]]);
    world.mode = runstate_agent::ExecutionMode::Concurrent;
    world.tools.push(tool(&world.ledger, repeatable("counts"), |cx| {
        Box::pin(async move {
            for n in 1..=3 {
                cx.progress(n).await;
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            ToolResult::Warning { output: json!("counted"), warning: "slowly".into() }
        })
    }));
    world
}

pub fn lines(events: &[Arc<AgentEvent>]) -> String {
    events
        .iter()
        .map(|event| {
            let mut line = serde_json::to_value(&**event).unwrap();
            let fields = line.as_object_mut().unwrap();
            for known in ["run", "thread"] {
                assert_eq!(fields.remove(known).unwrap(), "r1");
            }
            let mut head = |name: &str| fields.remove(name).unwrap().to_string();
            let (seq, at, activation) = (head("seq"), head("at_ms"), head("activation"));
            let kind = head("type");
            let rest = serde_json::to_string(&line).unwrap();
            format!("{seq:>3} {at:>4} ms  {activation}  {}  {rest}\n", kind.trim_matches('"'))
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_all_that_happens() {
    let mut world = eventful();
    world.send_at(50, Incoming::new("d-a", "a", Resume));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_golden("events", &lines(&world.told.all()));
}

#[tokio::test(start_paused = true)]
async fn a_stream_gives_the_events_that_a_sink_is_told() {
    let mut world = eventful();
    world.send_at(50, Incoming::new("d-a", "a", Resume));
    let mut state = world.state();
    let agent = world.agent();
    let io = RunHandles::new().inbox(&mut world.inbox).committer(&mut world.kept).events(&world.told);
    let mut stream = run_loop_stream(&agent, &mut state, Input::message("tidy up"), io);
    let mut given = Vec::new();
    while let Some(event) = stream.next().await {
        // It is given when it happens.
        assert_eq!(event.at_ms, world.clock.now_ms());
        given.push(event);
    }
    assert_eq!(stream.into_outcome().unwrap().unwrap().reason, TerminationReason::NaturalEnd);
    assert_eq!(given, world.told.all());

    // And `run_loop` tells the same.
    let mut plain = eventful();
    plain.clock = runstate_runtime::clock::TokioClock::starting_at(0);
    plain.send_at(50, Incoming::new("d-a", "a", Resume));
    let mut state = plain.state();
    plain.start(&mut state).await;
    assert_eq!(lines(&plain.told.all()), lines(&given));
}

#[tokio::test(start_paused = true)]
async fn events_are_numbered_without_a_gap_over_all_activations() {
    for stream in [false, true] {
        let mut world = World::new(&[&[("a", "write"), ("b", "write")]]);
        world.stream = stream;
        let mut state = world.state();
        world.start(&mut state).await;
        world.decide(&mut state, &[("b", Resume)]).await;
        world.decide(&mut state, &[("a", Resume)]).await;
        let events = world.told.all();
        let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
        let activations: Vec<u32> = events.iter().map(|event| event.activation).collect();
        assert!(activations.is_sorted() && activations.last() == Some(&3), "{activations:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn activation_ends_with_run_finished_and_its_waiting_calls() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let Some(EventKind::RunFinished { reason, status, waiting, .. }) = world.told.kinds().pop() else {
        panic!()
    };
    assert_eq!((reason, status), (TerminationReason::Suspended, RunStatus::Waiting));
    assert_eq!((&*waiting[0].call, &*waiting[0].tool), ("a", "write"));
    assert_eq!(waiting[0].suspension, *state.pending()[0].suspension);
    assert_eq!(waiting[0].digest, world.handle.pending()[0].digest);
    world.decide(&mut state, &[("a", Resume)]).await;
    let Some(EventKind::RunFinished { reason, status, waiting, .. }) = world.told.kinds().pop() else {
        panic!()
    };
    assert_eq!((reason, status, waiting.len()), (TerminationReason::NaturalEnd, RunStatus::Done, 0));
}

#[tokio::test(start_paused = true)]
async fn decision_during_model_output_is_taken_early_only_in_streams() {
    for (stream, resumed) in [(true, 300), (false, 1_000)] {
        let mut world = World::with(vec![
            bits(&asks([timed("a", "approved", 50), timed("b", "slow", 0)])),
            vec![
                Bit::Text("one".into()),
                Bit::Sleep(1_000),
                Bit::Text("two".into()),
                Bit::Call(0, "e".into(), "read".into()),
                Bit::Finish,
            ],
        ]);
        (world.policy, world.stream) = (SuspensionPolicy::ContinueWhenAny, stream);
        world.send_at(300, Incoming::new("d-a", "a", Resume));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        let at = |wanted: &str| {
            let events = world.told.all();
            let found = events.iter().find(|event| {
                matches!(&event.kind, EventKind::ToolCallResumed { .. } if wanted == "resumed")
                    || matches!(&event.kind, EventKind::ToolCallDone { call, .. } if call == wanted)
            });
            found.unwrap().at_ms
        };
        assert_eq!((at("resumed"), at("a")), (resumed, resumed + 50), "stream: {stream}");
        // What the model was asked with stays as it was; the next request has the result.
        let seen = world.script.seen();
        assert_eq!((&*seen[1][2], &*seen[2][2]), ("a: open: waiting for a decision", "a: 50"));
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn answer_is_committed_after_replays_that_began_beside_it() {
    let mut world = World::with(vec![
        bits(&asks([timed("a", "approved", 5_000), timed("b", "slow", 0)])),
        vec![Bit::Sleep(100), Bit::Text("done".into()), Bit::Finish],
    ]);
    (world.policy, world.stream) = (SuspensionPolicy::ContinueWhenAny, true);
    world.send_at(50, Incoming::new("d-a", "a", Resume));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.clock.now_ms(), 5_050);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded"]);
    assert_eq!(world.executions("a"), 1);
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn call_resolved_during_a_round_is_not_announced_again() {
    let mut world = World::of([asks([timed("a", "approved", 10), timed("b", "slow", 100)])]);
    world.stream = true;
    world.send_at(50, Incoming::new("d-a", "a", Resume));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    let (mut suspended, mut finished) = (0, Vec::new());
    for kind in world.told.kinds() {
        match kind {
            EventKind::ToolCallSuspended { .. } => suspended += 1,
            EventKind::RunFinished { waiting, .. } => finished.push(waiting.len()),
            _ => {}
        }
    }
    assert_eq!((suspended, finished), (1, vec![0]));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_leaves_a_run_that_resumes() {
    let whole = {
        let mut world = eventful();
        world.put_patiently(&[("a", Resume)]);
        world.stream = true;
        let mut state = world.state();
        world.start(&mut state).await;
        world.told.all().len()
    };
    assert!(whole > 30);
    for most in 0..whole {
        let mut world = eventful();
        let mut state = world.state();
        {
            let agent = world.agent();
            let io =
                RunHandles::new().inbox(&mut world.inbox).committer(&mut world.kept).watch(&world.recorder);
            let mut stream = run_loop_stream(&agent, &mut state, Input::message("tidy up"), io);
            for _ in 0..most {
                if stream.next().await.is_none() {
                    break;
                }
            }
        }
        let input = if most == 0 { Input::message("tidy up") } else { Input::Resume };
        world.put_patiently(&[("a", Resume)]);
        let mut outcome = if state.run().status() == RunStatus::Running {
            world.try_drive(&mut state, input).await.unwrap()
        } else {
            world.resume(&mut state).await
        };
        for _ in 0..3 {
            if outcome.reason == TerminationReason::Suspended {
                world.put(&[("a", Resume)]);
                outcome = world.resume(&mut state).await;
            }
        }
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "dropped after {most} events");
        let done = world.told.kinds().into_iter().filter(
            |kind| matches!(kind, EventKind::ToolCallDone { call, outcome: CallOutcome::Succeeded { .. } } if call == "a"),
        );
        assert!(done.count() <= 1);
        assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Failed", "d Succeeded"]);
        assert_eq!(statuses(&world.restored()), statuses(&state));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_can_be_driven_to_its_end_without_looking() {
    let world = World::new(&[&[("a", "read")]]);
    let mut state = world.state();
    let agent = world.agent();
    let stream = run_loop_stream(&agent, &mut state, Input::message("hi"), RunHandles::new());
    assert_eq!(stream.outcome().await.unwrap().reason, TerminationReason::NaturalEnd);
    // A refused input is an outcome without events.
    let mut stream = run_loop_stream(&agent, &mut state, Input::message("hi"), RunHandles::new());
    assert!(stream.next().await.is_none());
    assert!(stream.into_outcome().unwrap().is_err());
}

/// A model that never waits, and counts what it has said.
struct Torrent(Arc<std::sync::atomic::AtomicUsize>);

impl runstate_agent::Model for Torrent {
    fn infer(&self, request: runstate_agent::InferenceRequest) -> runstate_agent::ModelStream<'_> {
        let said = Arc::clone(&self.0);
        let text = move |_| {
            said.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            ModelEvent::Text("more".into())
        };
        let call = ModelEvent::CallStart { index: 0, id: format!("c{}", request.step), tool: "read".into() };
        let end = [call, ModelEvent::Finish(FinishReason::Stop)];
        Box::pin(futures_util::stream::iter((0..5_000).map(text).chain(end)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_never_waits_is_read_while_it_goes_on() {
    let said = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let stop = runstate_agent::stop::StopConditionSpec::MaxRounds { rounds: 4 };
    let agent = runstate_agent::Agent::builder(Torrent(Arc::clone(&said)))
        .stop(runstate_agent::stop::StopConditions::new(vec![stop]).unwrap())
        .build()
        .unwrap();
    let mut state = runstate_agent::RunState::new("r1");
    let mut stream = run_loop_stream(&agent, &mut state, Input::message("go"), RunHandles::new());
    let mut read = 0;
    while let Some(event) = stream.next().await {
        read += usize::from(matches!(event.kind, EventKind::TextDelta { .. }));
        let ahead = said.load(std::sync::atomic::Ordering::Relaxed) - read;
        assert!(ahead < 200, "{ahead} events wait to be read");
    }
    assert_eq!(read, 20_000);
    assert!(matches!(stream.into_outcome(), Some(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_announced_under_the_name_that_it_keeps() {
    let mut world = World::new(&[
        &[("a", "read"), ("a", "read"), ("a#2", "read"), ("a", "read")],
        &[("b", "read"), ("a", "read")],
    ]);
    let mut state = world.state();
    world.start(&mut state).await;
    let (mut started, mut ready) = (Vec::new(), Vec::new());
    for kind in world.told.kinds() {
        match kind {
            EventKind::ToolCallStart { call, .. } => started.push(call),
            EventKind::ToolCallReady { call, .. } => ready.push(call),
            _ => {}
        }
    }
    let names: Vec<_> = state.calls().map(|(name, _)| name.to_owned()).collect();
    assert_eq!((&started, &ready), (&names, &names));
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 6, "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_takes_a_run_up_gives_no_number_again() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let first = world.told.all();
    let mut state = world.restored();
    world.decide(&mut state, &[("a", Resume)]).await;
    let all = world.told.all();
    let (before, after) = all.split_at(first.len());
    // The last two are told after the last commit, which knows of them all the same.
    assert_eq!(after[0].seq, before.last().unwrap().seq + 1);
}
