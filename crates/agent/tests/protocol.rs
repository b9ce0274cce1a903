//! The whole protocol of decisions: what each reply is given for, over the handle that other tasks hold.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::decision::{ResumeMode, Suspension};
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;
use runstate_agent::{ExecutionMode, Incoming, Reply, RunGone, SuspensionPolicy, WhenSuspended};
use runstate_runtime::clock::Clock;
use serde_json::json;

use super::parts::{World, settled, statuses};
use super::rounds::timed;
use super::script::{Bit, asks};
use super::tools::{once, repeatable, tool};

/// With tools that ask, or do not, after a while, and one whose question has a schema.
fn world(calls: &[(&str, &str)]) -> World {
    let mut world = World::new(&[calls]);
    world.mode = ExecutionMode::Concurrent;
    world.tools.push(tool(&world.ledger, repeatable("asks_late"), |cx| {
        Box::pin(async move {
            if cx.decision().is_some() {
                return ToolResult::Success(json!("thanks"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            ToolResult::Pending(Suspension::ask("ask", "may I?"))
        })
    }));
    world.tools.push(tool(&world.ledger, repeatable("asks_not"), |_| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            ToolResult::Success(json!("no need"))
        })
    }));
    world.tools.push(tool(&world.ledger, once("asks_for_text"), |_| {
        Box::pin(async move {
            let ask = Suspension::ask("ask", "which name?").resuming_by(ResumeMode::UseDecisionAsToolResult);
            ToolResult::Pending(ask.with_response_schema(json!({ "type": "string" })))
        })
    }));
    world
}

fn on(id: &str, call: &str) -> Incoming {
    Incoming::new(id, call, Resume)
}

#[tokio::test(start_paused = true)]
async fn a_decision_before_its_question_is_unknown() {
    for (mode, stream, _) in every_way() {
        let mut world = world(&[("a", "asks_late"), ("b", "asks_not")]);
        (world.mode, world.stream) = (mode, stream);
        for incoming in
            [on("d1", "a"), on("d1", "a").on("r1/a/1"), on("d1", "a").for_question("sha256:x"), on("d2", "b")]
        {
            world.send_at(10, incoming);
        }
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a"], "{mode:?}, stream: {stream}");
        let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply).collect();
        assert_eq!(replies, vec![Reply::Unknown; 4], "{mode:?}, stream: {stream}");
        // It was never accepted: its id is as good as new.
        world.incoming.push(on("d1", "a"));
        world.resume(&mut state).await;
        assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
    }
}

#[tokio::test(start_paused = true)]
async fn decision_before_its_call_is_streamed_is_unknown() {
    for (mode, stream, _) in every_way() {
        let mut world = World::with(vec![
            vec![
                Bit::Sleep(100),
                Bit::Call(0, "a".into(), "write".into()),
                Bit::Arguments(0, "{}".into()),
                Bit::Finish,
            ],
            vec![Bit::Text("done".into()), Bit::Finish],
        ]);
        (world.mode, world.stream) = (mode, stream);
        world.send_at(50, on("d1", "a"));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a"], "{mode:?}, stream: {stream}");
        assert_eq!(world.replies(), [("d1".to_owned(), Reply::Unknown)]);
    }
}

/// A question is shown once it is committed: beside a call that executes that is at once, with a commit of its own.
#[tokio::test(start_paused = true)]
async fn a_question_is_committed_before_it_is_shown() {
    for (mode, stream, _) in every_way() {
        let mut world = world(&[("a", "asks_late"), ("b", "takes_500")]);
        (world.mode, world.stream) = (mode, stream);
        world.tools.push(tool(&world.ledger, repeatable("takes_500"), |_| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                ToolResult::Success(json!("at last"))
            })
        }));
        let commits = Arc::clone(&world.kept.commits);
        let mut handle = world.handle.clone();
        let clock = world.clock;
        let seen = tokio::spawn(async move {
            while handle.pending().is_empty() {
                handle.pending_changed().await.unwrap();
            }
            let shown = handle.pending()[0].suspension.id.clone();
            (clock.now_ms(), shown, commits.load(Ordering::SeqCst))
        });
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a"]);
        let (at_ms, shown, commits) = seen.await.unwrap();
        let stored = world.kept.memory.stored_after(commits).unwrap().to_json();
        assert!(stored.contains(&shown), "{mode:?}, stream: {stream}");
        assert_eq!(at_ms, 50, "{mode:?}, stream: {stream}");
        if mode == ExecutionMode::Sequential {
            world.abandoned = vec!["b.1"];
        }
        world.assert_conforms();
    }
}

/// A double click: the second one is given before the question that the first one brings about.
#[tokio::test(start_paused = true)]
async fn a_second_click_does_not_answer_the_second_question() {
    for (mode, stream, in_place) in every_way() {
        let mut world = World::new(&[&[("a", "write_twice")]]);
        (world.mode, world.stream) = (mode, stream);
        if in_place {
            world.when_suspended = WhenSuspended::WaitInPlace;
            for id in ["d1", "d2"] {
                world.send_at(100, on(id, "a"));
            }
            world.send_at(200, on("d3", "a"));
            world.send_at(300, on("d3", "a").on("r1/a/2"));
            let mut state = world.state();
            assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        } else {
            let mut state = world.state();
            world.start(&mut state).await;
            world.incoming.extend([on("d1", "a"), on("d2", "a")]);
            assert_eq!(world.resume(&mut state).await.waiting, ["a"], "{mode:?}, stream: {stream}");
            assert!(world.done().is_empty());
            world.incoming.push(on("d3", "a"));
            assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
            world.incoming.push(on("d3", "a").on("r1/a/2"));
            assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
        }
        let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply.name()).collect();
        assert_eq!(
            replies,
            ["accepted", "conflict", "ambiguous", "accepted"],
            "{mode:?}, stream: {stream}, in place: {in_place}"
        );
        assert_eq!(world.done(), ["r1/a/1"]);
        world.assert_conforms();
    }
}

/// A second call of the id that the model gave: the id names no question any more, before the second call asks or when it never does.
#[tokio::test(start_paused = true)]
async fn a_second_life_of_an_id_makes_it_ambiguous() {
    let mut world =
        World::of([asks([timed("a", "write", 0), timed("b", "slow", 1)]), asks([timed("a", "slow", 500)])]);
    world.policy = SuspensionPolicy::ContinueWhenAny;
    world.send_at(100, on("d1", "a"));
    world.send_at(200, on("d1", "a").on("r1/a/1"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply).collect();
    assert_eq!(replies, [Reply::Ambiguous(vec!["r1/a/1".to_owned()]), Reply::Accepted]);
}

/// Both futures are made before either is polled, and so before the first one is taken.
#[tokio::test(start_paused = true)]
async fn two_decisions_that_are_joined_are_on_one_question() {
    let mut world = World::new(&[&[("a", "write_twice")]]);
    world.when_suspended = WhenSuspended::WaitInPlace;
    let handle = world.handle.clone();
    let clicks = tokio::spawn(async move {
        let mut changed = handle.clone();
        while changed.pending().is_empty() {
            changed.pending_changed().await.unwrap();
        }
        let (first, second) = (handle.decide(on("d1", "a")), handle.decide(on("d2", "a")));
        let first = first.await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        // The second question waits by now. This was given when the first one did.
        (first, second.await.unwrap(), handle.decide(on("d3", "a").on("r1/a/2")).await.unwrap())
    });
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    let (first, second, third) = clicks.await.unwrap();
    assert_eq!((first.name(), second.name(), third.name()), ("accepted", "conflict", "accepted"));
}

/// Made before the first loop, and polled when a question waits that its giver was not shown.
#[tokio::test(start_paused = true)]
async fn a_decision_polled_late_answers_no_later_question() {
    for (mode, stream, in_place) in every_way() {
        let mut world = World::new(&[&[("a", "write")]]);
        (world.mode, world.stream) = (mode, stream);
        if in_place {
            world.when_suspended = WhenSuspended::WaitInPlace;
        }
        let by_name = world.handle.decide(on("d1", "a"));
        let on_its_question = world.handle.decide(on("d2", "a").on("r1/a/1"));
        let mut handle = world.handle.clone();
        let late = tokio::spawn(async move {
            while handle.pending().is_empty() {
                handle.pending_changed().await.unwrap();
            }
            (by_name.await.unwrap(), on_its_question)
        });
        let mut state = world.state();
        if in_place {
            let later = tokio::spawn(async move {
                let (by_name, on_its_question) = late.await.unwrap();
                (by_name, on_its_question.await.unwrap())
            });
            world.start(&mut state).await;
            assert_eq!(later.await.unwrap(), (Reply::Unknown, Reply::Accepted), "{mode:?}, stream: {stream}");
        } else {
            assert_eq!(world.start(&mut state).await.waiting, ["a"]);
            assert_eq!(late.await.unwrap().0, Reply::Unknown, "{mode:?}, stream: {stream}");
            assert_eq!(world.done(), Vec::<String>::new());
        }
    }
}

/// A store accepts by the suspension alone, and its callers may not have looked at anything else.
#[tokio::test(start_paused = true)]
async fn posted_decisions_of_one_actor_are_one_approval() {
    let mut world = World::new(&[&[("a", "two_people")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let mut post = async |id: &str, number: u32, actor: Option<&str>, has_digest: bool| {
        let asked = world.handle.pending().first().map(|pending| pending.digest.clone());
        let mut incoming = on(id, "a").on(format!("r1/a/{number}"));
        (incoming.actor, incoming.digest) = (actor.map(str::to_owned), asked.filter(|_| has_digest));
        world.handle.post(vec![incoming]).await.unwrap();
        world.resume(&mut state).await;
        (state.pending().first().map(|pending| pending.suspension.id.clone()), world.done().len())
    };
    let first = Some("r1/a/1".to_owned());
    assert_eq!(post("d1", 1, None, true).await, (first.clone(), 0), "without an actor");
    assert_eq!(post("d2", 1, Some("ada"), false).await, (first, 0), "without the question that was shown");
    let second = Some("r1/a/2".to_owned());
    assert_eq!(post("d3", 1, Some("ada"), true).await, (second.clone(), 0));
    assert_eq!(post("d4", 2, Some("ADA"), true).await, (second, 0), "the same actor");
    assert_eq!(post("d5", 2, Some("ben"), true).await, (None, 1));
}

fn every_way() -> Vec<(ExecutionMode, bool, bool)> {
    let modes = [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent];
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    modes.into_iter().flat_map(|mode| ways.map(|(stream, in_place)| (mode, stream, in_place))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_question_for_distinct_actors_takes_one_decision_of_each() {
    for (mode, stream, _) in every_way() {
        let mut world = World::new(&[&[("a", "two_people")]]);
        (world.mode, world.stream) = (mode, stream);
        let by = |id: &str, suspension: &str, actor: Option<&str>| {
            let mut incoming = on(id, "a").on(suspension);
            incoming.actor = actor.map(str::to_owned);
            incoming
        };
        let mut state = world.state();
        world.start(&mut state).await;
        world.incoming.extend([by("d0", "r1/a/1", None), by("d0", "r1/a/1", Some(""))]);
        world.incoming.push(by("d1", "r1/a/1", Some("ada")));
        assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
        // Another process, where nothing but what is stored is known.
        state = world.restored();
        world.incoming.extend(["ada", "Ada"].map(|actor| by("d2", "r1/a/2", Some(actor))));
        world.incoming.push(by("d2", "r1/a/2", None));
        assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
        assert_eq!(world.done(), Vec::<String>::new(), "{mode:?}, stream: {stream}");
        world.incoming.push(by("d2", "r1/a/2", Some("ben")));
        assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
        let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply.name()).collect();
        let not = "not_distinct";
        assert_eq!(
            replies,
            ["invalid", not, "accepted", not, not, not, "accepted"],
            "{mode:?}, stream: {stream}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_over_answers_at_once() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.decide(&mut state, &[("a", Resume)]).await;
    let reply = async |incoming| world.handle.decide(incoming).await.unwrap().name();
    assert_eq!(reply(on("d1", "a")).await, "conflict");
    assert_eq!(reply(on("d-a", "a")).await, "duplicate");
    assert_eq!(reply(on("d1", "z")).await, "unknown");
    assert_eq!(reply(on("d1", "a").on("r1/a/2")).await, "unknown");
    assert_eq!(reply(on("", "a")).await, "invalid");
}

#[tokio::test(start_paused = true)]
async fn decision_applies_only_to_the_question_digest_shown() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    let shown = world.handle.pending()[0].digest.clone();
    assert_eq!(world.handle.pending()[0].arguments, json!({ "for": "a" }));
    world.incoming.push(on("d1", "a").for_question("sha256:of another question"));
    world.incoming.push(on("d2", "a").for_question(shown.clone()));
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Stale), ("d2".to_owned(), Reply::Accepted)]);
    assert!(
        world.kept.memory.stored().unwrap().to_json().contains(&shown),
        "it is stored for what it was given"
    );
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_for_one_run() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    for run in ["r2", "r1"] {
        world.incoming.push(Incoming { run_id: Some(run.into()), ..on(&format!("d-{run}"), "a") });
    }
    world.resume(&mut state).await;
    assert_eq!(world.replies(), [("d-r2".to_owned(), Reply::Unknown), ("d-r1".to_owned(), Reply::Accepted)]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_question_is_not_taken() {
    let mut world = world(&[("a", "asks_for_text")]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.incoming.push(on("d1", "a").with_result(7));
    world.incoming.push(on("d2", "a"));
    assert_eq!(world.resume(&mut state).await.waiting, ["a"]);
    let said = |why: &str| Reply::Invalid(format!("the result does not fit its schema: {why}"));
    assert_eq!(
        world.replies(),
        [("d1".to_owned(), said("7 is no \"string\"")), ("d2".to_owned(), said("null is no \"string\"")),]
    );
    // It may be given again, as it should be.
    world.incoming.push(on("d1", "a").with_result("Ada"));
    world.resume(&mut state).await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
    assert_eq!(world.script.seen()[1][2], "a: \"Ada\"");
}

#[tokio::test(start_paused = true)]
async fn to_give_a_call_up_needs_no_answer() {
    let mut world = world(&[("a", "asks_for_text")]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.decide(&mut state, &[("a", Cancel)]).await;
    assert_eq!(world.replies(), [("d-a".to_owned(), Reply::Accepted)]);
    assert_eq!(statuses(&state), ["a Cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_on_a_call_that_is_being_replayed_is_a_conflict() {
    let mut world = World::of([asks([timed("a", "approved", 100), timed("b", "slow", 500)])]);
    world.mode = ExecutionMode::Concurrent;
    world.send_at(100, on("d1", "a"));
    world.send_at(150, on("d2", "a"));
    world.send_at(160, Incoming::new("d3", "a", Cancel).on("r1/a/1"));
    world.send_at(170, on("d1", "a"));
    world.send_at(400, on("d4", "a").on("r1/a/1"));
    world.send_at(410, on("d5", "a"));
    let mut state = world.state();
    world.start(&mut state).await;
    let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply.name()).collect();
    assert_eq!(replies, ["accepted", "conflict", "conflict", "duplicate", "conflict", "conflict"]);
    assert_eq!((statuses(&state)[0].as_str(), world.executions("a")), ("a Succeeded", 1));
}

#[tokio::test(start_paused = true)]
async fn the_handle_lists_what_waits_and_tells_when_that_changes() {
    let mut world = world(&[("a", "write"), ("b", "write")]);
    world.when_suspended = WhenSuspended::WaitInPlace;
    let mut handle = world.handle.clone();
    let lister = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Ok(pending) = handle.pending_changed().await {
            seen.push(pending.iter().map(|call| call.call.to_string()).collect::<Vec<_>>().join(" "));
        }
        seen
    });
    world.send_at(100, on("d-a", "a"));
    world.send_at(200, on("d-b", "b"));
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.handle.pending().len(), 0);
    let handle = world.handle.clone();
    drop(world);
    let mut seen = lister.await.unwrap();
    seen.dedup();
    let at_rest: Vec<_> = seen.iter().map(String::as_str).filter(|list| *list != "a").collect();
    assert!(at_rest.ends_with(&["a b", "b", ""]), "{seen:?}");
    assert_eq!(handle.decide(on("d1", "a")).await, Err(RunGone));
}

#[tokio::test(start_paused = true)]
async fn a_decision_waits_for_the_next_activation() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.send(on("d1", "a"));
    settled().await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(world.replies(), [], "nobody runs");
    world.resume(&mut state).await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
}

#[tokio::test(start_paused = true)]
async fn actor_and_reason_of_a_decision_are_stored_and_emitted() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    let (actor, reason) = (Some("ann".to_owned()), Some("it is fine".to_owned()));
    world.incoming.push(Incoming { actor, reason, decided_at_ms: Some(17), ..on("d1", "a") });
    world.resume(&mut state).await;
    let stored = world.kept.memory.stored().unwrap().to_json();
    for said in
        ["\"actor\": \"ann\"", "\"reason\": \"it is fine\"", "\"decided_at_ms\": 17", "\"run_id\": \"r1\""]
    {
        assert!(stored.contains(said), "{said}");
    }
    let told = world.told.kinds().into_iter().any(|kind| {
        matches!(kind, runstate_agent::event::EventKind::ToolCallResumed { call, suspension_id, decision_id, actor, .. }
            if (&*call, &*suspension_id, &*decision_id, actor.as_deref()) == ("a", "r1/a/1", "d1", Some("ann")))
    });
    assert!(told);
}

#[tokio::test(start_paused = true)]
async fn schema_mismatch_of_call_or_decision_arguments_fails_the_call() {
    let spec = || once("typed").with_schema(json!({ "type": "object" }));
    let mut world = World::of([asks([
        CallRequest::new("a", "typed", json!([1])),
        CallRequest::new("b", "typed", json!({})),
    ])]);
    world.tools.push(tool(&world.ledger, spec(), |cx| {
        Box::pin(async move {
            if cx.decision().is_none() {
                let ask = Suspension::ask("ask", "with what?").resuming_by(ResumeMode::PassDecisionToTool);
                return ToolResult::Pending(ask);
            }
            ToolResult::Success(cx.arguments().clone())
        })
    }));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["b"]);
    assert_eq!(statuses(&state), ["a Failed", "b Suspended"]);
    world.incoming.push(on("d1", "b").with_result("no object"));
    world.resume(&mut state).await;
    assert_eq!(statuses(&state), ["a Failed", "b Failed"]);
    assert_eq!(
        world.script.seen()[1][2..],
        [
            "a: error: the arguments do not fit the tool's schema: [1] is no \"object\"",
            "b: error: the arguments do not fit the tool's schema: \"no object\" is no \"object\"",
        ]
    );
    assert_eq!((world.executions("a"), world.executions("b")), (0, 1));
}
