//! A run that is to end takes no decision any more, whatever asked for the end: what came in stays where it is.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate::termination::{FinalReason, TerminationReason};
use runstate_agent::{ExecutionMode, GateCall, Phase, PhaseContext, Reply, Verdict};

use super::acts::Acts;
use super::parts::{World, statuses};
use super::rounds::timed;
use super::script::asks;

const LOOPS: [(ExecutionMode, bool); 6] = [
    (ExecutionMode::Sequential, false),
    (ExecutionMode::Sequential, true),
    (ExecutionMode::Parallel, false),
    (ExecutionMode::Parallel, true),
    (ExecutionMode::Concurrent, false),
    (ExecutionMode::Concurrent, true),
];

fn ends(at: Phase, activation: u32) -> Acts {
    Acts::new("ends").act(move |phase, cx: &mut PhaseContext<'_>| {
        if phase == at && cx.activation() == activation {
            cx.end_run(FinalReason::BEHAVIOR_REQUESTED);
        }
        Ok(())
    })
}

fn blocks_at(tool: &'static str, is_replayed: bool) -> Acts {
    Acts::new("blocks").verdict(move |call: &GateCall<'_>| {
        if call.tool() == tool && call.decision().is_some() == is_replayed {
            Verdict::BlockRun("no more".into())
        } else {
            Verdict::Allow
        }
    })
}

#[tokio::test(start_paused = true)]
async fn decision_during_the_last_round_is_not_taken() {
    let blocked = TerminationReason::Blocked("no more".into());
    for (mode, stream) in LOOPS {
        for (plugin, reason, b) in [
            (blocks_at("slow", false), blocked.clone(), "b Failed"),
            (ends(Phase::BeforeToolExecute, 1), TerminationReason::BehaviorRequested, "b Succeeded"),
        ] {
            let mut world = World::of([asks([timed("a", "approved", 1), timed("b", "slow", 100)])]);
            (world.mode, world.stream) = (mode, stream);
            world.plugins.push(Arc::new(plugin));
            world.put_patiently(&[("a", Resume)]);
            let mut state = world.state();
            assert_eq!(world.start(&mut state).await.reason, reason, "{mode:?}, stream: {stream}");
            assert_eq!(statuses(&state), ["a Cancelled", b], "{mode:?}, stream: {stream}");
            assert_eq!((world.executions("a"), world.replies()), (0, vec![("d-a".to_owned(), Reply::Stale)]));
            world.assert_conforms();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn decisions_beside_a_call_that_blocks_the_run_do_not_replay() {
    for (mode, stream) in LOOPS {
        let mut world = World::new(&[&[("a", "write"), ("b", "write_twice"), ("c", "revoked")]]);
        (world.mode, world.stream) = (mode, stream);
        world.plugins.push(Arc::new(blocks_at("write", true)));
        let mut state = world.state();
        world.start(&mut state).await;
        let outcome = world.decide(&mut state, &[("a", Resume), ("b", Resume), ("c", Resume)]).await;
        assert_eq!(
            outcome.reason,
            TerminationReason::Blocked("no more".into()),
            "{mode:?}, stream: {stream}"
        );
        assert_eq!(statuses(&state), ["a Failed", "b Cancelled", "c Cancelled"]);
        assert_eq!(world.done(), Vec::<String>::new());
        let replied: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply.name()).collect();
        assert_eq!(replied, ["accepted", "stale", "stale"]);
        world.assert_conforms();
    }
}

#[tokio::test(start_paused = true)]
async fn waking_decision_is_not_replayed_if_run_start_ends_the_run() {
    let mut world = World::new(&[&[("a", "write")]]);
    world.plugins.push(Arc::new(ends(Phase::RunStart, 2)));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    let outcome = world.decide(&mut state, &[("a", Resume)]).await;
    assert_eq!(outcome.reason, TerminationReason::BehaviorRequested);
    assert_eq!(statuses(&state), ["a Cancelled"]);
    assert_eq!((world.executions("a"), world.replies()), (0, vec![("d-a".to_owned(), Reply::Stale)]));
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn remaining_calls_do_not_execute_after_a_blocking_gate() {
    let mut world = World::new(&[&[("q", "ask"), ("a", "write"), ("b", "note")]]);
    world.plugins.push(Arc::new(blocks_at("write", true)));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["q", "a"]);
    let outcome = world.decide(&mut state, &[("a", Resume), ("q", Resume)]).await;
    assert_eq!(outcome.reason, TerminationReason::Blocked("no more".into()));
    assert_eq!(statuses(&state), ["q Cancelled", "a Failed", "b New"]);
    assert_eq!(world.executions("b"), 0);
    world.abandoned = vec!["b.1"];
    world.assert_conforms();
}
