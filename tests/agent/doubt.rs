//! What a crash leaves `Running` or `Resuming`: whether the tool ran is not known.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use runstate::agent::{Agent, CommitError, Incoming, Reply, RunState, StateCommitter, StoredRun};
use runstate::checkpoint::Due;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use serde_json::json;

use super::parts::{World, statuses};
use super::tools::Rules;

struct Crash;

/// Commits, until the process dies at a commit: of that one and of all that happened since the last, nothing survives.
struct Dying<'a> {
    kept: &'a mut super::parts::Kept,
    dies_at: usize,
}

impl StateCommitter<RunState> for Dying<'_> {
    fn commit(&mut self, due: Due, state: &RunState) -> Result<(), CommitError> {
        if self.kept.triggers.len() == self.dies_at {
            panic_any(Crash);
        }
        self.kept.commit(due, state)
    }
}

/// Drives until the process dies at that commit, counted from 0 over the whole run.
fn dies(world: &mut World, dies_at: usize, drive: impl FnOnce(&mut Agent<'_>)) {
    let World { script, tools, queue, kept, recorder, .. } = world;
    let mut committer = Dying { kept, dies_at };
    let died = catch_unwind(AssertUnwindSafe(|| {
        drive(&mut Agent {
            model: script,
            tools,
            gate: &Rules,
            decisions: queue,
            committer: &mut committer,
            watch: &*recorder,
            cancelled: &|| false,
            max_steps: None,
        });
    }));
    assert!(died.is_err_and(|panic| panic.is::<Crash>()), "the process went on to its end");
}

fn start(agent: &mut Agent<'_>) {
    drop(agent.start(&mut RunState::new("r1"), "tidy up"));
}

/// The process dies behind the execution of `note`, whose start is durable and whose result is not.
fn died_while_noting() -> World {
    let mut world = World::new(&[&[("a", "read"), ("b", "note"), ("c", "read")]]);
    dies(&mut world, 3, start);
    assert_eq!(world.done(), ["r1/a/1", "r1/b/1", "r1/c/1"]);
    assert_eq!(statuses(&world.restored()), ["a Succeeded", "b Running", "c New"]);
    world
}

#[test]
fn a_call_that_must_not_run_twice_is_in_doubt_and_a_person_is_asked() {
    let mut world = died_while_noting();
    let mut state = world.restored();
    let outcome = world.resume(&mut state);
    assert_eq!(outcome.waiting, ["b"]);
    assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 1);
    let pending = state.pending();
    assert_eq!(pending[0].suspension.action, "in_doubt");
    assert_eq!(
        pending[0].suspension.message,
        "the run was interrupted while note may have been executing: resume to execute it again, cancel to give the \
         call up"
    );
    assert_eq!(world.restored().run().status(), RunStatus::Waiting, "the question is durable");
}

#[test]
fn a_call_in_doubt_is_executed_again_when_a_person_says_so() {
    let mut world = died_while_noting();
    let mut state = world.restored();
    world.resume(&mut state);
    assert_eq!(world.decide(&mut state, &[("b", Resume)]).reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Succeeded"]);
    assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 2);
}

#[test]
fn a_call_in_doubt_is_given_up_when_a_person_says_so() {
    let mut world = died_while_noting();
    let mut state = world.restored();
    world.resume(&mut state);
    assert_eq!(world.decide(&mut state, &[("b", Cancel)]).reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded", "b Cancelled", "c Succeeded"]);
    assert_eq!(world.done().iter().filter(|key| key.starts_with("r1/b/")).count(), 1);
}

#[test]
fn a_call_that_may_run_twice_is_repeated_with_the_same_idempotency_key() {
    // Dies at the commit of the round: of the two calls nothing is known but that they were asked for.
    let mut world = World::new(&[&[("a", "read"), ("b", "read")]]);
    dies(&mut world, 2, start);
    assert_eq!(statuses(&world.restored()), ["a New", "b New"]);
    let mut state = world.restored();
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1", "r1/b/1", "r1/a/1", "r1/b/1"]);
    assert_eq!(world.script.seen.len(), 2, "the model is not asked for its first answer again");
}

/// A call of that tool waits, is resumed with this result, and the process dies before the replay is durable.
fn died_in_the_replay(tool: &str, result: serde_json::Value) -> (World, RunState) {
    let mut world = World::new(&[&[("a", tool)]]);
    let mut state = world.state();
    world.start(&mut state);
    let mut incoming = Incoming::new("d1", "a", Resume);
    incoming.result = result;
    world.queue.incoming.push_back(incoming);
    let (mut state, at) = (world.restored(), world.kept.triggers.len() + 2);
    dies(&mut world, at, |agent| drop(agent.resume(&mut state)));
    assert_eq!(world.queue.replies, [("d1".to_owned(), Reply::Accepted)]);
    assert_eq!(statuses(&world.restored()), ["a Resuming"]);
    let state = world.restored();
    (world, state)
}

#[test]
fn a_replay_that_may_run_twice_is_repeated_with_the_same_idempotency_key() {
    let (mut world, mut state) = died_in_the_replay("ask", json!(null));
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1", "r1/a/2", "r1/a/2"]);
    assert_eq!(statuses(&state), ["a Succeeded"]);
}

#[test]
fn a_replay_that_must_not_run_twice_is_in_doubt() {
    let (mut world, mut state) = died_in_the_replay("write", json!(null));
    assert_eq!(world.resume(&mut state).waiting, ["a"]);
    assert_eq!(state.pending()[0].suspension.action, "in_doubt");
    assert_eq!(world.done(), ["r1/a/1"]);
    // The decision that was accepted before the crash is not offered again with success.
    world.queue.replies.clear();
    world.queue.incoming.push_back(Incoming::new("d1", "a", Resume));
    assert_eq!(world.resume(&mut state).waiting, ["a"]);
    assert_eq!(world.queue.replies, [("d1".to_owned(), Reply::Duplicate)]);
    world.queue.incoming.push_back(Incoming::new("d2", "a", Resume));
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done().len(), 2);
}

#[test]
fn a_replay_whose_result_is_the_decision_is_never_in_doubt() {
    let (mut world, mut state) = died_in_the_replay("ask_result", json!("blue"));
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.done(), ["r1/a/1"], "no tool executes, so nothing is in doubt");
    assert_eq!(world.script.seen[1][2], "a: \"blue\"");
}

#[test]
fn a_replay_in_doubt_goes_on_with_the_arguments_that_the_decision_gave() {
    let (mut world, mut state) = died_in_the_replay("ask_arguments", json!({ "for": "one file only" }));
    assert_eq!(world.resume(&mut state).waiting, ["a"]);
    world.queue.incoming.push_back(Incoming::new("d2", "a", Resume));
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.script.seen[1][2], r#"a: {"for":"one file only"}"#, "not with those of the model");
}

#[test]
fn a_leftover_that_must_not_run_twice_is_marked_as_started_too() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "note")]]);
    let mut state = world.state();
    world.start(&mut state);
    world.queue.put(&[("a", Resume)]);
    // Dies at the commit behind the leftovers; the start of `b` is durable by then.
    let (mut state, at) = (world.restored(), world.kept.triggers.len() + 3);
    dies(&mut world, at, |agent| drop(agent.resume(&mut state)));
    let mut state = world.restored();
    assert_eq!(world.resume(&mut state).waiting, ["b"]);
    assert_eq!(world.done().iter().filter(|key| *key == "r1/b/1").count(), 1, "{:?}", world.done());
}

#[test]
fn an_interrupted_run_does_not_take_more_steps_than_it_may() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "read")]]);
    world.max_steps = Some(1);
    dies(&mut world, 3, start);
    let mut state = world.restored();
    let outcome = world.resume(&mut state);
    assert_eq!(outcome.reason.to_string(), "stopped:max_rounds:1 of 1");
    assert_eq!(state.steps(), 1);
}

#[test]
fn an_interrupted_run_does_not_execute_what_stands_behind_a_call_that_asked() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "read")]]);
    dies(&mut world, 3, start);
    let mut state = world.restored();
    assert_eq!(statuses(&state), ["a Suspended", "b New"]);
    assert_eq!(world.resume(&mut state).waiting, ["a"]);
    assert_eq!(statuses(&state), ["a Suspended", "b New"]);
}

#[test]
fn a_run_that_died_before_its_last_answer_ended_it_ends_naturally() {
    let mut world = World::new(&[]);
    dies(&mut world, 2, start);
    let mut state = world.restored();
    let asked = world.script.seen.len();
    assert_eq!(world.resume(&mut state).reason, TerminationReason::NaturalEnd);
    assert_eq!(world.script.seen.len(), asked);
}

#[test]
fn a_run_that_died_before_its_first_commit_is_started_again() {
    let mut world = World::new(&[]);
    dies(&mut world, 0, start);
    assert!(world.kept.json.is_empty());
    let json = StoredRun::of(&RunState::new("r1")).unwrap().to_json();
    let mut state = StoredRun::from_json(json.as_bytes()).unwrap().restore().unwrap();
    let error = world.drive(|agent| agent.resume(&mut state)).unwrap_err();
    assert_eq!(error.to_string(), "the run is Running: it has not begun; start it with a message");
    assert_eq!(world.start(&mut state).reason, TerminationReason::NaturalEnd);
}
