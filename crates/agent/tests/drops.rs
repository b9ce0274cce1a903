//! The loop is dropped at each of its polls, and goes on: from memory, and from the bytes that were committed.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{ExecutionMode, Incoming, Input, Message, Outcome, RunState, WhenSuspended};

use super::parts::{World, book, history, of_lifecycle, statuses};
use super::polls::dropped_after;
use super::rounds::timed;
use super::script::{asks, turn};

fn world(mode: ExecutionMode, stream: bool) -> World {
    let first = asks([
        timed("a", "approved", 20),
        timed("b", "slow_once", 10),
        runstate::turn::CallRequest::new("c", "ask_once", serde_json::json!({})),
        timed("d", "slow", 30),
    ]);
    let mut world = World::of([first, turn(&[("e", "note"), ("f", "write")])]);
    (world.mode, world.stream, world.when_suspended) = (mode, stream, WhenSuspended::WaitInPlace);
    world
}

/// Decides all that waits but what is in doubt, which is given up.
async fn to_the_end(world: &mut World, state: &mut RunState) -> Outcome {
    world.when_suspended = WhenSuspended::Park;
    let input = if state.history().is_empty() { Input::message("tidy up") } else { Input::Resume };
    let mut outcome = world.try_drive(state, input).await.unwrap();
    for round in 0..20 {
        if outcome.reason != TerminationReason::Suspended {
            return outcome;
        }
        for pending in state.pending() {
            let action = if pending.suspension.action == "in_doubt" { Cancel } else { Resume };
            let id = format!("late-{round}-{}", pending.call);
            world.incoming.push(Incoming::new(id, pending.call, action).on(&*pending.suspension.id));
        }
        outcome = world.try_drive(state, Input::Resume).await.unwrap();
    }
    panic!("the run does not end: {:?}", statuses(state));
}

/// Each text that was committed is in the run.
fn assert_nothing_lost(before: &World, committed: Option<&RunState>, state: &RunState, what: &str) {
    let Some(committed) = committed else { return };
    for message in committed.history().iter().filter(|message| !matches!(message, Message::Open(_))) {
        assert!(state.history().contains(message), "{what}: {message:?} is lost: {:?}", history(state));
    }
    for decided in before.replies.lock().unwrap().iter().filter(|it| it.1 == runstate_agent::Reply::Accepted)
    {
        let stored = before.kept.memory.stored().unwrap().to_json();
        assert!(
            stored.contains(&format!("\"decision_id\": \"{}\"", decided.0)),
            "{what}: {} is lost",
            decided.0
        );
    }
}

fn assert_effects_once(world: &World, what: &str) {
    let done = world.done();
    for key in &done {
        let of_once = ["a", "b", "e", "f"].iter().any(|call| key.starts_with(&format!("r1/{call}/")));
        if of_once {
            let call = key.split('/').nth(1).unwrap();
            assert_eq!(world.executions(call), 1, "{what}: {call} executed more than once: {done:?}");
        }
    }
    // It asks once and executes once; each of the two must not happen twice.
    for attempt in ["r1/c/1", "r1/c/2"] {
        assert!(done.iter().filter(|key| *key == attempt).count() <= 1, "{what}: {done:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_dropped_at_any_poll_goes_on_and_loses_nothing() {
    for (mode, stream) in [
        (ExecutionMode::Sequential, false),
        (ExecutionMode::Parallel, true),
        (ExecutionMode::Concurrent, false),
        (ExecutionMode::Concurrent, true),
    ] {
        let (mut drops, mut doubted) = (0, 0);
        for polls in 0.. {
            let mut ended = false;
            for from_memory in [true, false] {
                let what =
                    format!("{mode:?}, stream: {stream}, dropped after {polls} polls, memory: {from_memory}");
                let mut world = world(mode, stream);
                world.put_patiently(&[("a", Resume), ("c", Resume), ("f", Resume)]);
                let mut state = world.state();
                // The deciders look on while it goes on, and are gone with their process.
                world.incoming = Vec::new();
                let dropped = {
                    let send = world.start_senders().await;
                    let outcome =
                        dropped_after(world.drive(&mut state, Input::message("tidy up")), polls).await;
                    super::parts::settled().await;
                    send.iter().for_each(tokio::task::JoinHandle::abort);
                    outcome
                };
                if let Some(outcome) = dropped {
                    assert_eq!(outcome.unwrap().reason, TerminationReason::NaturalEnd, "{what}");
                    ended = true;
                    break;
                }
                drops += 1;
                // A new process has a new inbox.
                (world.handle, world.inbox) = runstate_agent::inbox();
                let committed = world.kept.memory.restore().ok();
                if !from_memory {
                    state = world.kept.memory.restore().unwrap_or_else(|_| RunState::new("r1"));
                    state.watch(&world.recorder);
                }
                let over = |state: &RunState| state.run().status() == RunStatus::Done;
                if committed.as_ref().is_some_and(over) {
                    assert!(over(&state), "{what}");
                    continue;
                }
                let outcome = to_the_end(&mut world, &mut state).await;
                assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "{what}");
                assert_nothing_lost(&world, committed.as_ref(), &state, &what);
                assert_effects_once(&world, &what);
                doubted += statuses(&state).iter().filter(|status| status.ends_with("Cancelled")).count();
                for (name, call) in state.calls() {
                    assert!(call.status().is_terminal(), "{what}: {name} is {}", call.status());
                }
                assert_eq!(statuses(&world.restored()), statuses(&state), "{what}");
                assert_eq!(history(&world.restored()), history(&state), "{what}");
                if from_memory {
                    let report = runstate::trace::check(&world.recorder.events(), &book());
                    assert!(report.violation.is_none(), "{what}: {}", report.summary());
                    let ends = of_lifecycle(&world.recorder.events(), "run");
                    assert_eq!(ends.iter().filter(|event| event.contains("--> Done")).count(), 1, "{what}");
                }
            }
            if ended {
                break;
            }
        }
        assert!(drops > 40 && doubted > 0, "{drops} drops, {doubted} calls in doubt in {mode:?}");
    }
}
