//! Tokens of inferences that come to nothing: they were paid for.

use std::sync::Arc;
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate_agent::answer::Usage;
use runstate_agent::event::EventKind;
use runstate_agent::stop::StopConditionSpec;
use runstate_agent::{Input, PluginError};

use super::acts::Acts;
use super::parts::{Bit, World, bits, turn};

fn read(tokens: u64) -> Usage {
    Usage { input_tokens: tokens, output_tokens: 0 }
}

/// The run is over, and has used so many tokens wherever one asks.
fn assert_used(world: &World, tokens: u64, what: &str) {
    assert_eq!(world.restored().usage(), read(tokens), "{what}");
    let mut told = world.told.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::RunFinished { usage, .. } => Some(usage),
        _ => None,
    });
    assert_eq!(told.next_back(), Some(read(tokens)), "{what}");
}

#[tokio::test(start_paused = true)]
async fn an_inference_that_fails_or_is_cancelled_has_used_its_tokens() {
    for (bit, cancels) in [
        (Bit::Fail("overloaded"), false),
        (Bit::Panic("out of words"), false),
        (Bit::Arguments(3, String::new()), false),
        (Bit::Hang, true),
    ] {
        let mut first = bits(&turn(&[("a", "read")]));
        first.insert(0, Bit::Usage(7));
        let mut world =
            World::with(vec![first, vec![Bit::Usage(100), Bit::Usage(5), bit.clone(), Bit::Finish]]);
        let token = world.token.clone();
        if cancels {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                token.cancel();
            });
        }
        let mut state = world.state();
        let reason = world.start(&mut state).await.reason;
        assert_eq!(reason == TerminationReason::Cancelled, cancels, "{reason}");
        assert_used(&world, 112, &format!("{bit:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_plugin_refuses_was_paid_for() {
    let mut answer = bits(&turn(&[("a", "read")]));
    answer.insert(0, Bit::Usage(40));
    let mut world = World::with(vec![answer]);
    world.plugins.push(Arc::new(Acts::new("strict").act(|phase, _| match phase {
        runstate_agent::Phase::AfterInference => Err(PluginError::from("no such answers")),
        _ => Ok(()),
    })));
    let mut state = world.state();
    assert!(matches!(world.start(&mut state).await.reason, TerminationReason::Error(_)));
    assert_used(&world, 40, "refused");
}

#[tokio::test(start_paused = true)]
async fn usage_of_a_dropped_inference_counts_toward_the_budget() {
    let answer = vec![Bit::Usage(60), Bit::Sleep(10), Bit::Call(0, "a".into(), "read".into()), Bit::Finish];
    let mut world = World::with(vec![answer; 3]);
    world.stop = vec![StopConditionSpec::TokenBudget { max_total: 120 }];
    let mut state = world.state();
    let drive = world.drive(&mut state, Input::message("tidy up"));
    assert!(tokio::time::timeout(Duration::from_millis(5), drive).await.is_err());
    assert_eq!((state.usage(), state.steps()), (read(60), 0));
    let reason = world.resume(&mut state).await.reason;
    assert_eq!(reason.to_string(), "stopped:token_budget:120 of 120 tokens: 120 read, 0 written");
    assert_eq!(state.steps(), 1);
    assert_used(&world, 120, "dropped");
}
