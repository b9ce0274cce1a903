//! An activation that was cut off, where the model goes on beside calls that wait: whether it is asked again depends on whether
//! it has something to read (A23).

use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{Input, SuspensionPolicy};

use super::parts::{World, statuses};

/// The run waits for `a`, behind an answer without calls or in its first round; `a` is approved, and the process dies at that
/// commit, counted from 0.
async fn died_behind_a_decision(turns: &[&[(&str, &str)]], at: usize) -> (World, usize) {
    let mut world = World::new(turns);
    world.policy = SuspensionPolicy::ContinueWhenAny;
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    world.put(&[("a", Resume)]);
    let asked = world.script.asked().len();
    world.kept.hangs_at = Some(world.kept.triggers().len() + at);
    let died = tokio::time::timeout(Duration::from_secs(1), world.try_drive(&mut state, Input::Resume)).await;
    assert!(died.is_err(), "the process went on to its end");
    world.kept.hangs_at = None;
    // Another process has another inbox.
    (world.handle, world.inbox) = runstate_agent::inbox();
    (world, asked)
}

#[tokio::test(start_paused = true)]
async fn resumed_run_waits_again_unless_the_model_has_new_input() {
    let in_its_round: &[&[_]] = &[&[("a", "write")]];
    let behind_an_answer: &[&[_]] = &[&[("a", "write"), ("r", "read")]];
    for turns in [in_its_round, behind_an_answer] {
        // The start, the decision, the replay, the answer.
        for (at, waits) in [(1, true), (2, true), (3, false)] {
            let (mut world, asked) = died_behind_a_decision(turns, at).await;
            let mut state = world.restored();
            assert_eq!(state.run().status(), RunStatus::Running);
            let outcome = world.resume(&mut state).await;
            let expected = if waits { TerminationReason::Suspended } else { TerminationReason::NaturalEnd };
            assert_eq!(outcome.reason, expected, "{turns:?}, at commit {at}: {:?}", statuses(&state));
            // Before the crash it was asked once if it got so far, and is asked again by the next process.
            let again = if waits { 0 } else { 2 };
            assert_eq!(world.script.asked().len(), asked + again, "{turns:?}, at commit {at}");
            if !waits {
                let read = world.script.seen().pop().unwrap();
                assert!(read.contains(&"a: \"written\"".to_owned()), "{read:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_round_waits_only_if_all_its_calls_wait() {
    for (calls, waits) in
        [(&[("a", "write"), ("b", "write")][..], true), (&[("a", "write"), ("r", "read")][..], false)]
    {
        for at in [2, 3] {
            let mut world = World::new(&[calls]);
            world.policy = SuspensionPolicy::ContinueWhenAny;
            world.kept.hangs_at = Some(at);
            let mut state = world.state();
            let drive = world.try_drive(&mut state, Input::message("tidy up"));
            assert!(tokio::time::timeout(Duration::from_secs(1), drive).await.is_err());
            world.kept.hangs_at = None;
            let asked = world.script.asked().len();
            let mut state = world.restored();
            assert_eq!(world.resume(&mut state).await.reason, TerminationReason::Suspended);
            let behind = world.script.asked().len();
            // One that waits behind its round asked no model; one that went on waits behind its last answer.
            assert_eq!(
                behind > asked,
                !waits && at == 3,
                "{calls:?}, at commit {at}: {:?}",
                statuses(&state)
            );
        }
    }
}
