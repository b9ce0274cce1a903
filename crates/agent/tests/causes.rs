//! The cause for which a call was given up, and the tokens of each activation.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::tool_call::{AnyToolCall, CancelCause};
use runstate_agent::RunState;
use runstate_agent::StoredRun;
use runstate_agent::answer::Usage;
use runstate_agent::event::{CallOutcome, EventKind};

use super::parts::{Bit, World};

/// The state of a call with an expired question.
pub(crate) const EXPIRED: &str = "Cancelled";

fn cause(state: &RunState) -> CancelCause {
    match state.calls().next().unwrap().1 {
        AnyToolCall::Cancelled(call) => call.cause(),
        other => panic!("{}", other.status()),
    }
}

#[tokio::test(start_paused = true)]
async fn denied_expired_and_superseded_calls_have_distinct_causes() {
    for (tool, expected) in [
        ("write", CancelCause::Denied),
        ("lapsing", CancelCause::Expired),
        ("write", CancelCause::Superseded),
        ("write", CancelCause::RunEnded),
    ] {
        let mut world = World::new(&[&[("a", tool)]]);
        let mut state = world.state();
        world.start(&mut state).await;
        match expected {
            CancelCause::Denied => drop(world.decide(&mut state, &[("a", Cancel)]).await),
            CancelCause::Expired => {
                tokio::time::advance(std::time::Duration::from_secs(1)).await;
                world.resume(&mut state).await;
            }
            CancelCause::Superseded => drop(world.write(&mut state, "forget it").await),
            _ => drop(world.cancel(&mut state).await.unwrap()),
        }
        assert_eq!(cause(&state), expected);
        let stored = StoredRun::of(&state).unwrap().to_json();
        assert_eq!(cause(&StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap()), expected);
        let told = world.told.kinds().into_iter().find_map(|kind| match kind {
            EventKind::ToolCallDone { outcome: CallOutcome::Cancelled { cause, .. }, .. } => Some(cause),
            _ => None,
        });
        assert_eq!(told, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn each_activation_tells_its_own_tokens() {
    let said = |tokens, call: &str| {
        vec![Bit::Usage(tokens), Bit::Call(0, call.into(), "write".into()), Bit::Usage(1), Bit::Finish]
    };
    let mut world = World::with(vec![said(10, "a"), said(20, "b"), vec![Bit::Usage(30), Bit::Finish]]);
    let mut state = world.state();
    let used = |input_tokens| Usage { input_tokens, output_tokens: 0 };
    let first = world.start(&mut state).await;
    assert_eq!((first.used, state.usage()), (used(11), used(11)));
    let second = world.decide(&mut state, &[("a", Resume)]).await;
    assert_eq!((second.used, state.usage()), (used(21), used(32)));
    let third = world.decide(&mut state, &[("b", Resume)]).await;
    assert_eq!((third.used, state.usage()), (used(30), used(62)));
    let told: Vec<_> = world
        .told
        .kinds()
        .into_iter()
        .filter_map(|kind| match kind {
            EventKind::RunFinished { used, usage, .. } => Some((used.input_tokens, usage.input_tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(11, 11), (21, 32), (30, 62)]);
}

/// An activation that fails has used its tokens all the same, and a cancellation of a run that waits has used none.
#[tokio::test(start_paused = true)]
async fn failed_and_missing_activations_tell_their_tokens() {
    let used = |input_tokens| Usage { input_tokens, output_tokens: 0 };
    let asks = || vec![Bit::Usage(7), Bit::Call(0, "a".into(), "write".into()), Bit::Finish];

    let mut world = World::with(vec![asks(), vec![Bit::Usage(100), Bit::Fail("it failed")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let failed = world.decide(&mut state, &[("a", Resume)]).await;
    assert_eq!((failed.used, state.usage()), (used(100), used(107)));

    let mut world = World::with(vec![asks()]);
    let mut state = world.state();
    world.start(&mut state).await;
    let cancelled = world.cancel(&mut state).await.unwrap();
    assert_eq!((cancelled.used, state.usage()), (used(0), used(7)));
    let told = world.told.kinds().into_iter().rev().find_map(|kind| match kind {
        EventKind::RunFinished { used, usage, .. } => Some((used.input_tokens, usage.input_tokens)),
        _ => None,
    });
    assert_eq!(told, Some((0, 7)));
}

/// A process that dies within an activation: what its last commit had counts for the run, and the activation of the next process counts anew.
#[tokio::test(start_paused = true)]
async fn a_crash_keeps_the_committed_tokens_of_the_run() {
    let used = |input_tokens| Usage { input_tokens, output_tokens: 0 };
    let asks = vec![Bit::Usage(10), Bit::Call(0, "a".into(), "read".into()), Bit::Finish];
    // The script is asked for this answer again by the next process.
    let answers = vec![Bit::Usage(60), Bit::Sleep(1_000), Bit::Usage(5), Bit::Finish];
    let mut world = World::with(vec![asks, answers]);
    let mut state = world.state();
    let drive = world.start(&mut state);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(500), drive).await.is_err());
    assert_eq!(state.usage(), used(70));
    drop(state);

    let mut state = world.restored();
    assert_eq!(state.usage(), used(10), "the answer that was cut off was not committed");
    let outcome = world.resume(&mut state).await;
    assert_eq!((outcome.used, state.usage()), (used(65), used(75)));
    assert_eq!(world.restored().usage(), used(75));
    let told = world.told.kinds().into_iter().rev().find_map(|kind| match kind {
        EventKind::RunFinished { used, usage, .. } => Some((used.input_tokens, usage.input_tokens)),
        _ => None,
    });
    assert_eq!(told, Some((65, 75)));
}
