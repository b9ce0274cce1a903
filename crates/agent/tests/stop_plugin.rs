//! Who stops a run behind a step: conditions as a plugin, plugins of one's own, and what is asked when a run is taken up again.

use std::sync::Arc;
use std::time::Duration;

use runstate::termination::{FinalReason, StoppedReason, TerminationReason};
use runstate::turn::{CallRequest, Turn};
use runstate_agent::stop::{StopConditionSpec as Spec, StopConditions};
use runstate_agent::{EndedStep, Input, Plugin, RunState};
use serde_json::json;

use super::parts::{Bit, World, bits, history};
use super::rounds::timed;
use super::script::asks;

/// Stops as it is told.
struct Stops {
    window: u32,
    why: fn(&EndedStep<'_>) -> Option<String>,
}

impl Plugin for Stops {
    fn name(&self) -> &str {
        "stops"
    }

    fn stops(&self, step: &EndedStep<'_>) -> Option<FinalReason> {
        let why = (self.why)(step)?;
        Some(StoppedReason::new("mine", Some(&why)).unwrap().into())
    }

    fn window(&self) -> u32 {
        self.window
    }
}

/// Steps that hold each condition sooner or later.
fn busy() -> World {
    let step = |n: u32, tool: &str| {
        let mut turn =
            asks([timed(&format!("a{n}"), "slow", 600), CallRequest::new(format!("b{n}"), tool, json!({}))]);
        turn.text = format!("step {n}");
        let mut bits = bits(&turn);
        bits.insert(0, Bit::Usage(10));
        bits
    };
    World::with(vec![step(1, "read"), step(2, "fail"), step(3, "fail"), step(4, "note"), step(5, "read")])
}

#[tokio::test(start_paused = true)]
async fn conditions_given_as_a_plugin_stop_as_those_of_the_builder_do() {
    for (spec, steps) in [
        (Spec::MaxRounds { rounds: 3 }, 3),
        (Spec::Timeout { seconds: 2 }, 4),
        (Spec::TokenBudget { max_total: 20 }, 2),
        (Spec::ConsecutiveErrors { max: 1 }, 2),
        (Spec::StopOnTool { tool_name: "note".into() }, 4),
        (Spec::ContentMatch { pattern: "step [35]".into() }, 3),
        (Spec::LoopDetection { window: 3 }, 2),
    ] {
        let mut ends = Vec::new();
        for as_plugin in [false, true] {
            let mut world = busy();
            if as_plugin {
                world.plugins.push(Arc::new(StopConditions::new(vec![spec.clone()]).unwrap()));
            } else {
                world.stop = vec![spec.clone()];
            }
            let mut state = world.state();
            let reason = world.start(&mut state).await.reason;
            world.assert_conforms();
            assert!(reason.to_string().starts_with(&format!("stopped:{}:", spec.code())), "{reason}");
            assert_eq!(state.steps(), steps, "{reason}");
            ends.push((reason, history(&world.restored()), world.recorder.events().len()));
        }
        assert_eq!(ends[0], ends[1]);
    }
}

#[tokio::test(start_paused = true)]
async fn first_plugin_that_stops_a_run_gives_the_reason() {
    let rounds = || Arc::new(StopConditions::new(vec![Spec::MaxRounds { rounds: 2 }]).unwrap());
    let mine =
        || Arc::new(Stops { window: 0, why: |step| (step.counters().rounds() >= 2).then(|| "2".to_owned()) });
    for (plugins, code) in [
        ([rounds() as Arc<dyn Plugin>, mine()], "max_rounds"),
        ([mine() as Arc<dyn Plugin>, rounds()], "mine"),
    ] {
        let mut world = busy();
        world.plugins.extend(plugins);
        // Those of the builder come last.
        world.stop = vec![Spec::TokenBudget { max_total: 20 }];
        let mut state = world.state();
        let TerminationReason::Stopped(reason) = world.start(&mut state).await.reason else { panic!() };
        assert_eq!((reason.code(), state.steps()), (code, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_plugin_is_told_what_the_step_was() {
    let mut world = World::of([
        asks([CallRequest::new("a", "read", json!(1))]),
        Turn { text: "well".into(), ..Turn::default() },
    ]);
    world.plugins.push(Arc::new(Stops {
        window: 0,
        why: |step| {
            let natural = step.ends_naturally();
            assert_eq!(natural, step.answer().calls.is_empty());
            natural.then(|| format!("{} at {} ms", step.answer().text, step.now_ms()))
        },
    }));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason.to_string(), "stopped:mine:well at 0 ms");
}

#[tokio::test(start_paused = true)]
async fn a_plugin_knows_of_repetitions_in_its_window_and_of_no_others() {
    let call = |id: &str, n: u32| asks([CallRequest::new(id, "read", json!({ "n": n }))]);
    for (window, stopped) in [(3, Some(3)), (1, None), (0, None), (u32::MAX, Some(3))] {
        let mut world = World::of([call("a", 1), call("b", 2), call("c", 1), call("d", 3)]);
        let why = |step: &EndedStep<'_>| {
            step.counters().repeated_within(3).map(|(tool, within)| format!("{tool} {within}"))
        };
        world.plugins.push(Arc::new(Stops { window, why }));
        let mut state = world.state();
        let reason = world.start(&mut state).await.reason.to_string();
        let expected = if stopped.is_some() { "stopped:mine:read 3" } else { "natural_end" };
        assert_eq!((&*reason, state.steps()), (expected, stopped.unwrap_or(5)), "window {window}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_panics_where_it_is_asked_ends_the_run() {
    for steps in [&[][..], &[&[("a", "read")][..]]] {
        let mut world = World::new(steps);
        let why = |_: &EndedStep<'_>| std::panic::resume_unwind(Box::new("lost count"));
        world.plugins.push(Arc::new(Stops { window: 0, why }));
        let mut state = world.state();
        let reason = world.start(&mut state).await.reason.to_string();
        assert_eq!(reason, "error:plugin \"stops\" panicked in StepEnd: lost count");
        assert_eq!(world.restored().run().status(), runstate::run::RunStatus::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_run_is_not_stopped_by_an_earlier_runs_output() {
    let stop =
        || vec![Spec::ContentMatch { pattern: "DONE".into() }, Spec::StopOnTool { tool_name: "note".into() }];
    let said = |text: &str| Turn { text: text.into(), ..Turn::default() };
    for first in [said("all is DONE"), asks([CallRequest::new("a", "note", json!({}))])] {
        let mut world = World::of([first]);
        world.stop = stop();
        let mut state = world.state();
        assert!(matches!(world.start(&mut state).await.reason, TerminationReason::Stopped(_)));
        let thread = state.into_thread().unwrap();
        for from_memory in [true, false] {
            let mut world = World::with(vec![vec![Bit::Text("not yet".into()), Bit::Sleep(10), Bit::Finish]]);
            world.stop = stop();
            let mut state = RunState::on_thread("r2", thread.clone());
            let drive = world.drive(&mut state, Input::message("more"));
            assert!(tokio::time::timeout(Duration::from_millis(5), drive).await.is_err());
            assert_eq!((state.steps(), world.script.seen().len()), (0, 1), "it was asked");
            if !from_memory {
                state = world.kept.memory.restore().unwrap();
            }
            let outcome = world.resume(&mut state).await;
            assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "from memory: {from_memory}");
            assert_eq!(state.steps(), 1);
        }
    }
}
