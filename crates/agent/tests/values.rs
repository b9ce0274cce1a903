//! Keys of tools: snapshots, patches at the commit, conflicts, scopes.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate::decision::Suspension;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;
use runstate_agent::event::{EventKind, StateKey};
use runstate_agent::keys::{Key, Scope};
use runstate_agent::{
    ExecutionMode, Input, Phase, PhaseContext, Phases, Plugin, PluginError, RunState, Tool, WhenSuspended,
};
use serde_json::{Value, json};

use super::parts::{World, statuses};
use super::rounds::timed;
use super::script::asks;
use super::tools::{once, repeatable, tool};

const LAST: Key<Value> = Key::run("last").persistent();
const FLEETING: Key<Value> = Key::run("fleeting");
const NOTES: Key<Vec<String>> = Key::thread("notes").persistent();

/// A tool that keeps its argument `set` under `last`, and answers what was there before.
fn keeps(world: &World, name: &'static str, repeats: bool, then: fn(Value) -> ToolResult) -> Arc<dyn Tool> {
    let spec = if repeats { repeatable(name) } else { once(name) };
    tool(&world.ledger, spec, move |cx| {
        Box::pin(async move {
            let before = cx.get(&LAST).unwrap().unwrap_or(Value::Null);
            let set = cx.arguments()["set"].clone();
            cx.set(&LAST, &set).unwrap();
            cx.set(&FLEETING, &set).unwrap();
            assert_eq!(cx.get(&LAST).unwrap(), Some(set), "its own change shows");
            tokio::task::yield_now().await;
            then(before)
        })
    })
}

fn world(calls: &[(&str, &str, i32)]) -> World {
    let call = |(id, tool, set): &(&str, &str, i32)| CallRequest::new(*id, *tool, json!({ "set": set }));
    let mut world = World::of([asks(calls.iter().map(call))]);
    let tools = [
        keeps(&world, "keep", true, ToolResult::Success),
        keeps(&world, "keep_once", false, ToolResult::Success),
        keeps(&world, "keep_and_fail", true, |_| ToolResult::Error("no".into())),
        keeps(&world, "keep_and_ask", true, |_| ToolResult::Pending(Suspension::ask("ask", "?"))),
    ];
    world.tools.extend(tools);
    world
}

#[tokio::test(start_paused = true)]
async fn values_of_a_call_are_visible_after_its_round() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        for tool in ["keep", "keep_once"] {
            let mut world = world(&[("a", tool, 7), ("b", tool, 7)]);
            world.mode = mode;
            let mut state = world.state();
            assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
            assert_eq!(world.script.seen()[1][2..], ["a: null", "b: null"], "{tool} in {mode:?}: not before");
            assert_eq!(state.get(&LAST).unwrap(), Some(json!(7)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn conflicting_calls_end_the_run_and_keep_no_values() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        let mut world = world(&[("a", "keep", 7), ("b", "keep", 8)]);
        world.mode = mode;
        let mut state = world.state();
        let TerminationReason::Error(said) = world.start(&mut state).await.reason else { panic!() };
        assert!(said.contains("of one round set \"fleeting\" in the run differently"), "{said}");
        let conflicts = world.told.kinds().into_iter().filter_map(|kind| match kind {
            EventKind::StateConflict { conflict } => Some(conflict),
            _ => None,
        });
        let conflicts: Vec<_> = conflicts.collect();
        assert_eq!(conflicts.len(), 1);
        assert_eq!([&*conflicts[0].first, &*conflicts[0].second], ["a", "b"]);
        assert_eq!(state.get(&LAST).unwrap(), None, "{mode:?}");
        assert_eq!(world.restored().get(&LAST).unwrap(), None);
        assert_eq!(statuses(&world.restored()), ["a Succeeded", "b Succeeded"], "what was done is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn once_only_calls_conflict_in_sequential_mode_too() {
    let mut world = world(&[("a", "keep_once", 7), ("b", "keep_once", 8)]);
    let mut state = world.state();
    let TerminationReason::Error(said) = world.start(&mut state).await.reason else { panic!() };
    assert!(said.contains("the values written since the last commit are not applied"), "{said}");
    assert_eq!(
        world.restored().get(&LAST).unwrap(),
        Some(json!(7)),
        "it was committed before the other began"
    );
}

#[tokio::test(start_paused = true)]
async fn failed_call_drops_its_values_and_a_suspended_call_keeps_them() {
    for (tool, kept) in [("keep_and_fail", None), ("keep_and_ask", Some(json!(7)))] {
        let mut world = world(&[("a", tool, 7)]);
        let mut state = world.state();
        world.start(&mut state).await;
        assert_eq!(state.get(&LAST).unwrap(), kept, "{tool}");
        assert_eq!(world.restored().get(&LAST).unwrap(), kept);
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_is_persistent_survives_the_process() {
    let mut world = world(&[("a", "keep", 7), ("b", "write", 0)]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!((state.get(&LAST).unwrap(), state.get(&FLEETING).unwrap()), (Some(json!(7)), Some(json!(7))));
    let mut state = world.restored();
    assert_eq!((state.get(&LAST).unwrap(), state.get(&FLEETING).unwrap()), (Some(json!(7)), None));
    // And it is there for whoever reads it in the next activation.
    world.decide(&mut state, &[("b", Resume)]).await;
    assert_eq!(world.restored().get(&LAST).unwrap(), Some(json!(7)));
}

#[tokio::test(start_paused = true)]
async fn state_snapshot_event_lists_only_changed_keys() {
    let mut world = world(&[("a", "keep", 7)]);
    let mut state = world.state();
    world.start(&mut state).await;
    let key =
        |key: &str, persistent| StateKey { scope: Scope::Run, key: key.into(), persistent, removed: false };
    let told = world.told.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::StateSnapshot { changed } => Some(changed),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [vec![key("fleeting", false), key("last", true)]]);
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_changes_state_is_told_before_its_commit() {
    let mut world = World::new(&[&[("a", "learns")]]);
    world.tools.push(tool(&world.ledger, once("learns"), |cx| {
        Box::pin(async move {
            let Some(decision) = cx.decision().cloned() else {
                return ToolResult::Pending(Suspension::ask("ask", "what?"));
            };
            cx.set(&LAST, &decision.result).unwrap();
            ToolResult::Success(json!("learnt"))
        })
    }));
    let mut state = world.state();
    world.start(&mut state).await;
    world.incoming.push(runstate_agent::Incoming::new("d1", "a", Resume).with_result("blue"));
    world.resume(&mut state).await;
    assert_eq!(world.restored().get(&LAST).unwrap(), Some(json!("blue")));
    let names: Vec<_> = world
        .told
        .kinds()
        .into_iter()
        .filter_map(|kind| match kind {
            EventKind::StateSnapshot { .. } => Some("snapshot".to_owned()),
            EventKind::Checkpoint { trigger, .. } => Some(trigger.to_string()),
            _ => None,
        })
        .collect();
    let snapshot = names.iter().position(|name| name == "snapshot").unwrap();
    assert_eq!(names[snapshot + 1], "ToolResultsCommitted", "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn thread_values_outlive_the_run() {
    let mut world = World::new(&[&[("a", "remember")]]);
    world.tools.push(tool(&world.ledger, repeatable("remember"), |cx| {
        Box::pin(async move {
            let mut notes = cx.get(&NOTES).unwrap().unwrap_or_default();
            notes.push(cx.run().to_owned());
            cx.set(&NOTES, &notes).unwrap();
            cx.set(&LAST, &json!(notes.len())).unwrap();
            ToolResult::Success(json!(notes))
        })
    }));
    let mut state = RunState::on_thread_watched("r1", runstate_agent::Thread::new("t1"), &world.recorder);
    world.start(&mut state).await;
    assert_eq!(world.restored().thread().id(), "t1");
    let thread = state.into_thread().unwrap();
    assert_eq!(thread.history().len(), 4);

    let mut second = World::new(&[&[("a", "remember")]]);
    second.tools = world.tools.clone();
    let mut state = RunState::on_thread("r2", thread);
    assert_eq!(state.get(&LAST).unwrap(), None, "what is the run's is gone with it");
    second.write(&mut state, "once more").await;
    assert_eq!(
        second.script.seen()[1][4..],
        ["user: once more", "assistant: [remember a]", r#"a: ["r1","r2"]"#]
    );
    assert_eq!(second.script.seen()[0][..2], ["user: tidy up", "assistant: [remember a]"]);
    assert_eq!(state.get(&NOTES).unwrap(), Some(vec!["r1".to_owned(), "r2".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn run_on_an_earlier_thread_is_stored_with_that_thread() {
    let mut first = World::new(&[&[("a", "read")]]);
    first.tools.push(tool(&first.ledger, repeatable("remember"), |cx| {
        Box::pin(async move {
            cx.set(&NOTES, &vec!["kept".to_owned()]).unwrap();
            ToolResult::Success(json!(1))
        })
    }));
    first.script =
        super::parts::Script::new(vec![super::parts::bits(&super::parts::turn(&[("a", "remember")]))]);
    let mut state = first.state();
    first.start(&mut state).await;

    let mut second = World::new(&[&[("a", "write")]]);
    let mut state = RunState::on_thread("r2", state.into_thread().unwrap());
    second.write(&mut state, "more").await;
    let restored = second.restored();
    assert_eq!(super::parts::history(&restored), super::parts::history(&state));
    assert_eq!(restored.history().len(), 7);
    assert_eq!(statuses(&restored), ["a Suspended"]);
    assert_eq!(restored.get(&NOTES).unwrap(), Some(vec!["kept".to_owned()]));
    let mut state = restored;
    assert_eq!(second.decide(&mut state, &[("a", Resume)]).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(super::parts::history(&second.restored()), super::parts::history(&state));
}

#[tokio::test(start_paused = true)]
async fn rounds_do_not_contradict_each_other() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Concurrent] {
        let call = |id: &str, set: i32| asks([CallRequest::new(id, "keep_once", json!({ "set": set }))]);
        let mut world = world(&[]);
        world.mode = mode;
        let turns = [call("a", 1), call("b", 2), call("c", 3)];
        world.script = super::parts::Script::new(turns.iter().map(super::parts::bits).collect());
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        let seen = world.script.seen();
        assert_eq!([&*seen[1][2], &*seen[2][4], &*seen[3][6]], ["a: null", "b: 1", "c: 2"]);
        assert_eq!(world.restored().get(&LAST).unwrap(), Some(json!(3)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_does_not_contradict_the_round_that_it_was_asked_in() {
    // Its question is shown while `b` executes, and the decision is taken behind the round.
    let mut world = World::of([asks([timed("a", "learns", 0), timed("b", "slow", 20)])]);
    world.mode = ExecutionMode::Parallel;
    world.tools.push(tool(&world.ledger, once("learns"), |cx| {
        Box::pin(async move {
            let asked = cx.decision().is_none();
            cx.set(&LAST, &json!(if asked { "asked" } else { "told" })).unwrap();
            if asked {
                ToolResult::Pending(Suspension::ask("ask", "?"))
            } else {
                ToolResult::Success(json!(1))
            }
        })
    }));
    world.put_patiently(&[("a", Resume)]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.restored().get(&LAST).unwrap(), Some(json!("told")));
}

/// Asks first where its tool is `asks`; then keeps, under a name of its call's, how often it executed.
fn keeps_own(world: &World, name: &'static str, repeats: bool, ms: u64) -> Arc<dyn Tool> {
    let spec = if repeats { repeatable(name) } else { once(name) };
    tool(&world.ledger, spec, move |cx| {
        Box::pin(async move {
            if name == "asks" && cx.decision().is_none() {
                return ToolResult::Pending(Suspension::ask("ask", "?"));
            }
            cx.set(&own(cx.call()), &json!(cx.idempotency_key())).unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            ToolResult::Success(json!(1))
        })
    })
}

fn own(call: &str) -> Key<Value> {
    Key::named(format!("own/{call}"), Scope::Thread).persistent()
}

/// Each call that has its result has what it wrote.
fn assert_written(state: &RunState, what: &str) {
    for (name, call) in state.calls().filter(|(_, call)| call.status() == ToolCallStatus::Succeeded) {
        let written = state.get(&own(name)).unwrap();
        assert!(written.is_some(), "{what}: {name} is {} and wrote nothing", call.status());
    }
}

#[tokio::test(start_paused = true)]
async fn call_values_stay_with_their_result_in_commits_and_drops() {
    for (mode, stream) in [
        (ExecutionMode::Sequential, false),
        (ExecutionMode::Parallel, true),
        (ExecutionMode::Concurrent, true),
    ] {
        let (mut results, mut drops) = (0, 0);
        for polls in 0.. {
            let mut ended = false;
            for from_memory in [true, false] {
                let what = format!("{mode:?}, dropped after {polls} polls, memory: {from_memory}");
                let calls = [("a", "fast"), ("b", "slow_own"), ("c", "asks"), ("d", "once_own")];
                let mut world = World::new(&[&calls]);
                let tools = [
                    keeps_own(&world, "fast", true, 0),
                    keeps_own(&world, "slow_own", true, 30),
                    keeps_own(&world, "asks", true, 5),
                    keeps_own(&world, "once_own", false, 10),
                ];
                world.tools = tools.into();
                (world.mode, world.stream, world.when_suspended) = (mode, stream, WhenSuspended::WaitInPlace);
                let mut state = world.state();
                world.put_patiently(&[("c", Resume)]);
                let dropped = {
                    let send = world.start_senders().await;
                    let drive = world.drive(&mut state, Input::message("tidy up"));
                    let dropped = super::polls::dropped_after(drive, polls).await;
                    send.iter().for_each(tokio::task::JoinHandle::abort);
                    dropped
                };
                ended = dropped.is_some();
                drops += usize::from(!ended);
                for commit in 1..=world.kept.memory.triggers().count() {
                    let state = world.kept.memory.stored_after(commit).unwrap().restore().unwrap();
                    assert_written(&state, &format!("{what}, commit {commit}"));
                }
                if !from_memory && let Ok(stored) = world.kept.memory.restore() {
                    state = stored;
                }
                if state.run().status() != RunStatus::Done && state.steps() > 0 {
                    results += state
                        .calls()
                        .filter(|(name, call)| {
                            call.status() == ToolCallStatus::Succeeded
                                && state.get(&own(name)).unwrap().is_none()
                        })
                        .count();
                    // What is in doubt is executed again.
                    (world.handle, world.inbox) = runstate_agent::inbox();
                    world.put_patiently(&[("c", Resume), ("d", Resume)]);
                    let outcome = world.try_drive(&mut state, Input::Resume).await.unwrap();
                    assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "{what}");
                    assert!(state.calls().all(|(_, call)| call.status() == ToolCallStatus::Succeeded));
                    assert_written(&state, &what);
                    assert_written(&world.restored(), &what);
                }
            }
            if ended {
                break;
            }
        }
        assert!(drops > 30, "{drops} drops");
        assert!(results > 0, "none was dropped between a result and its commit in {mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_dropped_behind_a_contradiction_finds_it_again() {
    for polls in 0.. {
        let mut world = world(&[("a", "keep", 7), ("b", "keep", 8)]);
        world.mode = ExecutionMode::Parallel;
        world.plugins.push(Arc::new(Lingers));
        let mut state = world.state();
        let drive = world.drive(&mut state, Input::message("tidy up"));
        let outcome = match super::polls::dropped_after(drive, polls).await {
            None if state.history().is_empty() => continue,
            None => world.try_drive(&mut state, Input::Resume).await.unwrap(),
            Some(outcome) => {
                assert!(polls > 10, "{polls}");
                outcome.unwrap();
                break;
            }
        };
        assert!(matches!(outcome.reason, TerminationReason::Error(_)), "{polls}: {}", outcome.reason);
        assert_eq!(state.get(&LAST).unwrap(), None);
    }
}

/// Takes its time when a run ends.
struct Lingers;

#[runstate_agent::async_trait]
impl Plugin for Lingers {
    fn name(&self) -> &str {
        "lingers"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::RunEnd])
    }

    async fn run_end(&self, _: &mut PhaseContext<'_>, _: &TerminationReason) -> Result<(), PluginError> {
        super::parts::settled().await;
        Ok(())
    }
}
