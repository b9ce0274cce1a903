//! The eight phases, and what a plugin may do in them.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate::decision::Suspension;
use runstate::run::{AnyRun, RunStatus};
use runstate::termination::{FinalReason, StoppedReason, TerminationReason};
use runstate::turn::CallRequest;
use runstate_agent::event::EventKind;
use runstate_agent::keys::Key;
use runstate_agent::{ExecutionMode, Message, Phase, Plugin, Verdict};
use serde_json::json;

use super::acts::{Acts, Diary};
use super::parts::{World, history, statuses};

fn with(turns: &[&[(&str, &str)]], acts: Acts) -> (World, Diary) {
    let mut world = World::new(turns);
    let diary = Arc::clone(&acts.diary);
    world.plugins.push(Arc::new(acts));
    (world, diary)
}

fn read(diary: &Diary) -> Vec<String> {
    std::mem::take(&mut diary.lock().unwrap())
}

fn enough() -> FinalReason {
    StoppedReason::new("enough", None).unwrap().into()
}

#[tokio::test(start_paused = true)]
async fn each_phase_comes_once_where_it_is_due() {
    for (mode, stream) in [(ExecutionMode::Sequential, false), (ExecutionMode::Concurrent, true)] {
        let (mut world, diary) = with(&[&[("a", "read"), ("b", "fail")]], Acts::new("diary"));
        (world.mode, world.stream) = (mode, stream);
        let mut state = world.state();
        world.start(&mut state).await;
        let mut expected = [
            "RunStart 0",
            "StepStart 1",
            "BeforeInference 1",
            "AfterInference 1",
            "BeforeToolExecute 1 a",
            "BeforeToolExecute 1 b",
            "AfterToolExecute 1 a Succeeded",
            "AfterToolExecute 1 b Failed",
            "StepEnd 1",
            "StepStart 2",
            "BeforeInference 2",
            "AfterInference 2",
            "StepEnd 2",
            "RunEnd 2 natural_end",
        ];
        let mut asked = read(&diary);
        if mode == ExecutionMode::Concurrent {
            // Two tools that are ready at the same instant are so in any order.
            asked[6..8].sort();
            expected[6..8].sort();
        }
        assert_eq!(asked, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn parked_run_has_run_start_and_run_end_in_each_activation() {
    let (mut world, diary) = with(&[&[("a", "write"), ("b", "fixed"), ("c", "nowhere")]], Acts::new("diary"));
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(
        read(&diary)[4..],
        [
            "BeforeToolExecute 1 a",
            "AfterToolExecute 1 a Suspended",
            "BeforeToolExecute 1 b",
            // There is no such tool: no plugin is asked whether it may execute.
            "AfterToolExecute 1 c Failed",
            "AfterToolExecute 1 b Succeeded",
            "StepEnd 1",
            "RunEnd 1 suspended",
        ]
    );
    world.decide(&mut state, &[("a", Resume)]).await;
    assert_eq!(
        read(&diary),
        [
            "RunStart 1",
            "BeforeToolExecute 1 a",
            "AfterToolExecute 1 a Succeeded",
            "StepStart 2",
            "BeforeInference 2",
            "AfterInference 2",
            "StepEnd 2",
            "RunEnd 2 natural_end",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn plugins_edit_the_request_but_not_the_stored_thread() {
    let edit = Acts::new("edit").request(|request| {
        request.system = Some(format!("be brief in step {}", request.step).into());
        request.set_parameter("temperature", 0.5);
        request.offer_only(|tool| ["read", "note"].contains(&tool.name()));
        request.history.edit().insert(0, Message::User("a hint".into()));
    });
    let (mut world, _) = with(&[&[("a", "read"), ("b", "fail")]], edit);
    let mut state = world.state();
    world.start(&mut state).await;
    for (step, asked) in (1..).zip(world.script.asked()) {
        assert_eq!(asked.system, Some(format!("be brief in step {step}")));
        assert_eq!(asked.tools, ["read", "note"]);
        assert_eq!(json!(asked.parameters), json!({ "temperature": 0.5 }));
        assert_eq!(world.script.seen()[step - 1][..2], ["user: a hint", "user: tidy up"]);
    }
    assert_eq!(history(&state)[0], "user: tidy up");
    assert_eq!(history(&world.restored()), history(&state));
    // A tool that was not offered is out of scope.
    assert_eq!(statuses(&state), ["a Succeeded", "b Failed"]);
    assert_eq!(world.script.seen()[1][4], "b: error: the tool \"fail\" is not offered in this step");
    assert_eq!(world.executions("b"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_later_plugin_sees_what_an_earlier_one_changed() {
    let (mut world, _) = with(&[], Acts::new("one").request(|request| request.set_parameter("n", 1)));
    world.plugins.push(Arc::new(Acts::new("two").request(|request| {
        let n = request.parameters["n"].as_i64().unwrap();
        request.set_parameter("n", n + 1);
    })));
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.script.asked()[0].parameters["n"], 2);
}

#[tokio::test(start_paused = true)]
async fn an_inference_is_skipped_and_the_run_ends() {
    let skip = Acts::new("skip").act(|phase, cx| {
        if phase == Phase::BeforeInference && cx.step() == 2 {
            cx.skip_inference();
        }
        Ok(())
    });
    let (mut world, diary) = with(&[&[("a", "read")], &[("b", "read")]], skip);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::BehaviorRequested);
    assert_eq!(world.script.seen().len(), 1);
    assert_eq!(state.steps(), 1);
    assert_eq!(read(&diary).last().unwrap(), "RunEnd 1 behavior_requested");
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_as_the_plugins_leave_it() {
    let edit = Acts::new("edit").turn(|turn| {
        turn.text = turn.text.replace("secret", "***");
        turn.calls.retain(|call| call.tool != "fail");
        if !turn.calls.is_empty() {
            turn.calls.push(CallRequest::new("added", "note", json!(1)));
        }
    });
    let mut turn = super::parts::turn(&[("a", "fail"), ("b", "read")]);
    turn.text = "the secret is out".into();
    let mut world = World::of([turn]);
    world.plugins.push(Arc::new(edit));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["b Succeeded", "added Succeeded"]);
    assert_eq!(world.script.seen()[1][1], "assistant: the *** is out[read b, note added]");
    assert_eq!(history(&world.restored()), history(&state));
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_calls_are_all_taken_away_is_the_natural_end() {
    let (mut world, _) = with(&[&[("a", "note")]], Acts::new("edit").turn(|turn| turn.calls.clear()));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!((world.done().len(), state.calls().count()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_plugin_ends_the_run_from_each_phase() {
    for (ends_in, asked, executed) in [
        (Phase::RunStart, 0, 0),
        (Phase::StepStart, 0, 0),
        (Phase::BeforeInference, 0, 0),
        (Phase::AfterInference, 1, 0),
        (Phase::BeforeToolExecute, 1, 1),
        (Phase::AfterToolExecute, 1, 1),
        (Phase::StepEnd, 1, 1),
        // Too late: it ends as it does.
        (Phase::RunEnd, 2, 1),
    ] {
        let end = Acts::new("end").act(move |phase, cx| {
            if phase == ends_in {
                cx.end_run(enough());
                cx.end_run(FinalReason::BEHAVIOR_REQUESTED);
            }
            Ok(())
        });
        let (mut world, diary) = with(&[&[("a", "note")]], end);
        let mut state = world.state();
        let reason = world.start(&mut state).await.reason.to_string();
        let expected = if ends_in == Phase::RunEnd { "natural_end" } else { "stopped:enough" };
        assert_eq!(reason, expected, "the first that asks in {ends_in} is heard");
        assert_eq!(world.script.seen().len(), asked, "ended in {ends_in}");
        assert_eq!(world.done().len(), executed, "ended in {ends_in}");
        let diary = read(&diary);
        let ends = diary.iter().filter(|line| line.starts_with("RunEnd")).count();
        assert_eq!(
            (ends, diary.iter().filter(|line| *line == "StepEnd 1").count()),
            (1, asked.min(1)),
            "{diary:?}"
        );
        let restored = world.restored();
        let AnyRun::Done(run) = restored.run() else { panic!("the end is not durable") };
        assert_eq!(run.reason().to_string(), expected);
        if executed == 0 && asked == 1 {
            assert_eq!(history(&state)[2], "a: error: not executed");
        }
        world.assert_conforms();
    }
}

fn verdict(rank: usize, who: &'static str) -> Verdict {
    match rank {
        0 => Verdict::Allow,
        1 => Verdict::SetResult(json!(who)),
        2 => Verdict::Suspend(Suspension::ask("approve", who)),
        3 => Verdict::Block(who.into()),
        _ => Verdict::BlockRun(who.into()),
    }
}

#[tokio::test(start_paused = true)]
async fn the_strongest_verdict_counts_and_of_two_as_strong_the_first() {
    for (first, second) in (0..5).flat_map(|first| (0..5).map(move |second| (first, second))) {
        let gate = |name: &'static str, rank| Acts::new(name).verdict(move |_| verdict(rank, name));
        let (mut world, _) = with(&[&[("a", "read"), ("b", "fail")]], Acts::new("none"));
        let (one, two) = (gate("one", first), gate("two", second));
        let diaries = [Arc::clone(&one.diary), Arc::clone(&two.diary)];
        let gates: [Arc<dyn Plugin>; 2] = [Arc::new(one), Arc::new(two)];
        world.plugins.extend(gates);
        let mut state = world.state();
        let outcome = world.start(&mut state).await;
        let who = if second > first { "two" } else { "one" };
        let reads = format!("{} {}", history(&state)[2], outcome.reason);
        let expected = match first.max(second) {
            0 => "a: {\"for\":\"a\"} natural_end".to_owned(),
            1 => format!("a: {who:?} natural_end"),
            2 => "a: open: waiting for a decision suspended".to_owned(),
            3 => format!("a: error: {who} natural_end"),
            _ => format!("a: error: {who} blocked:{who}"),
        };
        assert_eq!(reads, expected, "verdicts {first} and {second}");
        if first.max(second) == 2 {
            assert_eq!(state.pending()[0].suspension.message, who);
            assert_eq!(state.pending()[0].suspension.id, "r1/a/1");
        }
        for diary in diaries {
            assert!(read(&diary).contains(&"BeforeToolExecute 1 a".to_owned()), "all plugins are asked");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_blocks_the_run_lets_nothing_execute() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        let block = Acts::new("block").verdict(|call| match call.name() {
            "b" => Verdict::BlockRun("no shell here".into()),
            _ => Verdict::Allow,
        });
        let (mut world, _) = with(&[&[("a", "read"), ("b", "note"), ("c", "read")], &[("d", "read")]], block);
        world.mode = mode;
        let mut state = world.state();
        let outcome = world.start(&mut state).await;
        assert_eq!(outcome.reason, TerminationReason::Blocked("no shell here".into()));
        assert_eq!(statuses(&state), ["a New", "b Failed", "c New"]);
        assert!(world.done().is_empty(), "{mode:?}");
        assert_eq!(world.script.seen().len(), 1);
        assert_eq!(
            history(&state)[2..],
            ["a: error: not executed", "b: error: no shell here", "c: error: not executed"]
        );
        world.abandoned = vec!["a.1"];
        world.assert_conforms();
    }
}

const COUNT: Key<u32> = Key::run("count").persistent();

#[tokio::test(start_paused = true)]
async fn value_set_by_a_plugin_is_visible_to_the_next() {
    let count = |name| {
        Acts::new(name).act(|_, cx| {
            let count = cx.get(&COUNT)?.unwrap_or(0);
            cx.set(&COUNT, &(count + 1))?;
            Ok(())
        })
    };
    let (mut world, one) = with(&[&[("a", "read")]], count("one"));
    let two = count("two");
    let diary = Arc::clone(&two.diary);
    world.plugins.push(Arc::new(two));
    let mut state = world.state();
    world.start(&mut state).await;
    let asked = u32::try_from(read(&one).len() + read(&diary).len()).unwrap();
    assert_eq!(state.get(&COUNT).unwrap(), Some(asked), "in every phase, RunEnd too");
    assert_eq!(world.restored().get(&COUNT).unwrap(), Some(asked), "and all of it is committed");
}

#[tokio::test(start_paused = true)]
async fn plugin_failure_or_panic_ends_the_run_with_a_committed_error() {
    for faulty_in in Phase::ALL {
        for panics in [false, true] {
            let faulty = Acts::new("faulty").act(move |phase, _| {
                if phase == faulty_in && panics {
                    std::panic::resume_unwind(Box::new("out of order"));
                }
                if phase == faulty_in { Err("out of order".into()) } else { Ok(()) }
            });
            let (mut world, _) = with(&[&[("a", "note")]], faulty);
            let mut state = world.state();
            let outcome = world.start(&mut state).await;
            let how = if panics { "panicked" } else { "failed" };
            let said = format!("plugin \"faulty\" {how} in {faulty_in}: out of order");
            let restored = world.restored();
            assert_eq!(restored.run().status(), RunStatus::Done);
            let AnyRun::Done(done) = restored.run() else { panic!() };
            assert_eq!(*done.reason(), outcome.reason, "{faulty_in}");
            if faulty_in == Phase::RunEnd {
                assert_eq!(
                    (outcome.reason, outcome.problems),
                    (TerminationReason::NaturalEnd, vec![said.clone()])
                );
            } else {
                assert_eq!(outcome.reason, TerminationReason::Error(said.clone()));
                assert_eq!(outcome.problems, [""; 0]);
            }
            let errors =
                world.told.kinds().into_iter().filter(|kind| matches!(kind, EventKind::Error { .. }));
            assert_eq!(errors.collect::<Vec<_>>(), [EventKind::Error { message: said }]);
            let report = world.report();
            assert!(report.violation.is_none(), "{}", report.summary());
        }
    }
}
