//! Stop conditions through whole runs, and over resumes.

use std::time::Duration;

use runstate::decision::DecisionAction::Cancel;
use runstate::termination::TerminationReason;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::stop::StopConditionSpec as Spec;
use serde_json::json;

use super::parts::{Bit, World, bits, statuses, turn};
use super::rounds::timed;
use super::script::asks;

/// Drives it to its end, and says how it ended and after how many steps.
async fn stopped(mut world: World, stop: Vec<Spec>) -> (String, u32) {
    world.stop = stop;
    let mut state = world.state();
    let reason = world.start(&mut state).await.reason;
    world.assert_conforms();
    assert_eq!(world.restored().steps(), state.steps());
    (reason.to_string(), state.steps())
}

fn reads(steps: u32) -> World {
    World::of((0..steps).map(|step| asks([CallRequest::new("a", "read", json!(step))])))
}

#[tokio::test(start_paused = true)]
async fn run_stops_at_the_maximum_of_rounds() {
    let ended = stopped(reads(5), vec![Spec::MaxRounds { rounds: 3 }]).await;
    assert_eq!(ended, ("stopped:max_rounds:3 of 3 rounds".into(), 3));
}

#[tokio::test(start_paused = true)]
async fn run_stops_at_the_timeout() {
    let world = || World::of((0..5).map(|_| asks([timed("a", "slow", 400)])));
    let ended = stopped(world(), vec![Spec::Timeout { seconds: 1 }]).await;
    assert_eq!(ended, ("stopped:timeout:1.200 of 1 seconds".into(), 3));
    assert_eq!(stopped(world(), vec![Spec::Timeout { seconds: 3 }]).await.0, "natural_end");
}

#[tokio::test(start_paused = true)]
async fn run_stops_at_the_token_budget() {
    let mut answer = bits(&turn(&[("a", "read")]));
    answer.insert(0, Bit::Usage(40));
    let world = World::with(vec![answer; 5]);
    let ended = stopped(world, vec![Spec::TokenBudget { max_total: 80 }]).await;
    assert_eq!(ended, ("stopped:token_budget:80 of 80 tokens: 80 read, 0 written".into(), 2));
}

#[tokio::test(start_paused = true)]
async fn run_stops_at_consecutive_errors() {
    let limit = || vec![Spec::ConsecutiveErrors { max: 3 }];
    // One that succeeds between them makes no row.
    let world =
        World::new(&[&[("a", "fail"), ("b", "fail"), ("c", "read"), ("d", "fail")], &[("e", "fail")]]);
    assert_eq!(stopped(world, limit()).await, ("natural_end".into(), 3));
    // However they fail: in their tool, in its panic, at their gate.
    let world =
        World::new(&[&[("a", "read"), ("b", "fail")], &[("c", "panic"), ("d", "nowhere")], &[("e", "read")]]);
    let ended = stopped(world, limit()).await;
    assert_eq!(ended.1, 2);
    assert!(
        ended.0.starts_with("stopped:consecutive_errors:3 of 3 calls in a row failed, the last of"),
        "{}",
        ended.0
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_the_run_is_executed_first() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "note"), ("c", "read")], &[("d", "read")]]);
    world.stop = vec![Spec::StopOnTool { tool_name: "note".into() }];
    let mut state = world.state();
    let reason = world.start(&mut state).await.reason;
    assert_eq!(reason.to_string(), "stopped:stop_on_tool:\"note\" was called by \"b\"");
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_text_that_ends_the_run_wins_over_the_natural_end() {
    let said = |text: &str, calls: &[(&str, &str)]| Turn { text: text.into(), ..turn(calls) };
    let spec =
        || vec![Spec::MaxRounds { rounds: 1 }, Spec::ContentMatch { pattern: "(?i)task complete".into() }];
    let ended = stopped(World::of([said("Task complete.", &[])]), spec()).await;
    assert_eq!(ended.0, "stopped:content_match:the answer matches \"(?i)task complete\"");
    let ended = stopped(World::of([said("Not yet.", &[])]), spec()).await;
    assert_eq!(ended.0, "natural_end", "and that wins over all others");
    // With calls they are executed before the end.
    let mut world = World::of([said("Task complete.", &[("a", "note")])]);
    world.stop = vec![spec().pop().unwrap()];
    let mut state = world.state();
    assert!(matches!(world.start(&mut state).await.reason, TerminationReason::Stopped(_)));
    assert_eq!(statuses(&state), ["a Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn run_stops_at_a_repeated_call() {
    let call = |id: &str, n: u32| asks([CallRequest::new(id, "read", json!({ "n": n }))]);
    let world = || World::of([call("a", 1), call("b", 2), call("c", 1), call("d", 3)]);
    let ended = stopped(world(), vec![Spec::LoopDetection { window: 3 }]).await;
    assert_eq!(
        ended,
        (
            "stopped:loop_detection:\"read\" was called twice with the same arguments in 3 calls; the window is 3"
                .into(),
            3
        )
    );
    assert_eq!(stopped(world(), vec![Spec::LoopDetection { window: 2 }]).await.0, "natural_end");
}

#[tokio::test(start_paused = true)]
async fn the_first_in_configured_order_gives_the_reason() {
    let rounds = Spec::MaxRounds { rounds: 1 };
    let tool = Spec::StopOnTool { tool_name: "read".into() };
    assert!(stopped(reads(2), vec![rounds.clone(), tool.clone()]).await.0.starts_with("stopped:max_rounds"));
    assert!(stopped(reads(2), vec![tool, rounds]).await.0.starts_with("stopped:stop_on_tool"));
}

#[tokio::test(start_paused = true)]
async fn stop_counters_continue_in_another_process() {
    let same = json!({ "for": "a" });
    for (spec, code) in [
        (Spec::MaxRounds { rounds: 2 }, "max_rounds"),
        (Spec::Timeout { seconds: 10 }, "timeout"),
        (Spec::TokenBudget { max_total: 20 }, "token_budget"),
        (Spec::ConsecutiveErrors { max: 2 }, "consecutive_errors"),
        (Spec::LoopDetection { window: 3 }, "loop_detection"),
    ] {
        let mut first = bits(&asks([CallRequest::new("a", "fail", same.clone()), timed("b", "approved", 0)]));
        first.insert(0, Bit::Usage(10));
        let mut second = bits(&asks([CallRequest::new("c", "fail", same.clone())]));
        second.insert(0, Bit::Usage(10));
        let third = second.clone();
        let mut world = World::with(vec![first, second, third]);
        world.stop = vec![spec];
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["b"], "{code}");
        let mut state = world.restored();
        tokio::time::advance(Duration::from_secs(9)).await;
        if code == "timeout" {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let TerminationReason::Stopped(reason) = world.decide(&mut state, &[("b", Cancel)]).await.reason
        else {
            panic!("{code} does not hold after a resume")
        };
        assert_eq!((reason.code(), state.steps()), (code, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_behind_a_round_that_waits_gives_up_what_waits() {
    let mut world = World::new(&[&[("a", "write"), ("b", "read")]]);
    world.max_rounds(1);
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason.to_string(), "stopped:max_rounds:1 of 1 rounds");
    assert_eq!(
        (statuses(&state), outcome.waiting.len()),
        (vec!["a Cancelled".into(), "b Succeeded".into()], 0)
    );
    assert!(world.try_drive(&mut state, runstate_agent::Input::Resume).await.is_err());
    world.assert_conforms();
}
