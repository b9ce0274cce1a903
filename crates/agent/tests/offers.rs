//! The tools that a step offers count for its calls, and for no others, whoever executes them.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate_agent::{
    ExecutionMode, FileCommitter, Incoming, Input, RunHandles, RunState, StoredRun, SuspensionPolicy,
    read_run, run_loop,
};
use runstate_store::{Claim, MemoryStore, NewRun, RunStore, StoreCommitter};
use serde_json::{Value, json};

use super::acts::Acts;
use super::parts::{World, history, statuses};

const REFUSED: &str = "w: error: the tool \"note\" is not offered in this step";

/// A plugin offers `read` and `ask` alone in these steps.
fn world(steps: &'static [u32], turns: &[&[(&str, &str)]]) -> World {
    let mut world = World::new(turns);
    world.plugins.push(Arc::new(Acts::new("offer").request(move |request| {
        if steps.contains(&request.step) {
            request.offer_only(|tool| ["read", "ask"].contains(&tool.name()));
        }
    })));
    world
}

/// The process dies behind the commit of the answer: its calls have not seen a gate.
async fn dies_behind_the_answer(world: &mut World) {
    world.kept.hangs_at = Some(2);
    let mut state = RunState::new("r1");
    let second = std::time::Duration::from_secs(1);
    let died = tokio::time::timeout(second, world.try_drive(&mut state, Input::message("tidy up"))).await;
    assert!(died.is_err(), "the process went on to its end");
    world.kept.hangs_at = None;
}

#[tokio::test(start_paused = true)]
async fn withheld_tool_stays_withheld_after_a_crash() {
    let mut world = world(&[1], &[&[("w", "note"), ("r", "read")]]);
    // The third commit is that of the round: gates and tools alike are forgotten.
    dies_behind_the_answer(&mut world).await;
    let mut state = world.restored();
    assert_eq!(statuses(&state), ["w New", "r New"]);
    world.resume(&mut state).await;
    assert_eq!(statuses(&state), ["w Failed", "r Succeeded"]);
    assert_eq!(history(&state)[2], REFUSED);
    assert_eq!(world.executions("w"), 0);
}

#[tokio::test(start_paused = true)]
async fn withheld_tool_stays_withheld_after_a_dropped_loop() {
    let mut world = world(&[1], &[&[("w", "note"), ("r", "read")]]);
    for polls in 0.. {
        let mut state = world.state();
        let ended =
            super::polls::dropped_after(world.drive(&mut state, Input::message("tidy up")), polls).await;
        if ended.is_some() {
            assert!(polls > 10, "it was dropped {polls} times");
            break;
        }
        if state.history().is_empty() {
            continue;
        }
        (world.kept, world.token) = Default::default();
        world.resume(&mut state).await;
        assert_eq!(statuses(&state), ["w Failed", "r Succeeded"], "dropped after {polls} polls");
    }
    assert_eq!(world.executions("w"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_later_step_withholds_nothing_from_an_earlier_call() {
    for (mode, stream) in [
        (ExecutionMode::Sequential, false),
        (ExecutionMode::Sequential, true),
        (ExecutionMode::Concurrent, false),
        (ExecutionMode::Concurrent, true),
    ] {
        let turns: &[&[_]] = &[&[("w", "write"), ("r", "read")], &[("v", "write"), ("s", "slow")]];
        let mut world = world(&[2], turns);
        (world.mode, world.stream, world.policy) = (mode, stream, SuspensionPolicy::ContinueWhenAny);
        world.put_patiently(&[("w", Resume)]);
        let mut state = world.state();
        world.start(&mut state).await;
        // `slow` and `write` are not offered in the second step; the `write` of the first is approved all the same.
        assert_eq!(
            statuses(&state),
            ["w Succeeded", "r Succeeded", "v Failed", "s Failed"],
            "{mode:?} {stream}"
        );
        assert_eq!((world.executions("w"), world.executions("v")), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn tool_offer_is_stored_only_by_the_step_that_changes_it() {
    let mut world = world(&[2, 3], &[&[("a", "read")], &[("b", "read")], &[("c", "read")], &[("d", "read")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let deltas = |commits: usize| {
        let stored = world.kept.memory.stored_after(commits).unwrap().to_json();
        serde_json::from_str::<Value>(&stored).unwrap()["offer"].clone()
    };
    let commits = usize::try_from(state.commits()).unwrap();
    let mut offers: Vec<_> = (1..=commits).map(deltas).collect();
    offers.dedup();
    // Absent where all are offered, as in runs that were stored before there was this field.
    assert_eq!(offers, [Value::Null, json!(["read", "ask"]), Value::Null]);
    assert!(!StoredRun::of(&state).unwrap().to_json().contains("offer"));
}

#[tokio::test]
async fn an_offer_is_in_the_file_of_a_run_and_taken_back_there() {
    let folder = super::files::Folder::new();
    let mut world = world(&[1], &[&[("w", "write"), ("r", "read")], &[("v", "note")]]);
    let agent = world.agent();
    let mut file = FileCommitter::create(folder.run()).unwrap();
    let mut state = world.state();
    let io = RunHandles::new().committer(&mut file).inbox(&mut world.inbox);
    run_loop(&agent, &mut state, Input::message("go"), io).await.unwrap();
    drop(file);
    let lines = std::fs::read_to_string(folder.run()).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains("\"offer\"")).collect();
    assert_eq!(lines.len(), 2, "a line has it where it is another: {lines:?}");
    assert!(
        lines[0].contains(r#""offer":["read","ask"]"#) && lines[1].contains(r#""offer":null"#),
        "{lines:?}"
    );
    let stored = read_run(folder.run()).unwrap();
    assert_eq!(stored, StoredRun::of(&state).unwrap());
    assert_eq!(statuses(&stored.restore().unwrap()), ["w Failed", "r Succeeded", "v Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn an_offer_is_in_the_store_of_a_run_and_taken_back_there() {
    let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
    store.create(&NewRun::new("r1", Value::Null, 0)).await.unwrap();
    let lease = store.claim(&Claim::of("r1", "the test", std::time::Duration::MAX)).await.unwrap().unwrap();
    let mut world = world(&[1], &[&[("w", "note"), ("q", "ask")]]);
    for (waiting, expected) in [(&["q"][..], json!(["read", "ask"])), (&[], Value::Null)] {
        let loaded = store.load("r1").await.unwrap();
        let (mut state, input) = match &loaded.stored {
            None => (world.state(), Input::message("go")),
            Some(stored) => (stored.restore().unwrap(), Input::Resume),
        };
        let recorder = world.recorder.clone();
        let mut committer =
            StoreCommitter::new(store.clone(), lease.clone(), &loaded, recorder, Arc::new(world.clock));
        let agent = world.agent();
        let io = RunHandles::new().committer(&mut committer).inbox(&mut world.inbox);
        assert_eq!(run_loop(&agent, &mut state, input, io).await.unwrap().waiting, waiting);
        world.inbox.put(Incoming::new("d1", "q", Resume));
        let stored = store.load("r1").await.unwrap().stored.unwrap();
        assert_eq!(stored, StoredRun::of(&state).unwrap());
        assert_eq!(serde_json::to_value(&stored).unwrap()["offer"], expected);
    }
    assert_eq!((world.executions("w"), world.executions("q")), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_withheld_is_not_named_to_the_model() {
    let mut world = world(&[1], &[&[("w", "format_disk")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(history(&state)[2], "w: error: there is no tool \"format_disk\"; there is ask, read");
}
