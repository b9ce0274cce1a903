//! The whole protocol of decisions: what each reply is given for, over the handle that other tasks hold.

use std::time::Duration;

use runstate::agent::{ExecutionMode, Incoming, Reply, RunGone, WhenSuspended};
use runstate::clock::Clock;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::decision::{ResumeMode, Suspension};
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;
use serde_json::json;

use super::parts::{World, settled, statuses};
use super::rounds::timed;
use super::script::asks;
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
async fn a_decision_on_a_call_that_has_not_asked_yet_is_held_and_counts_when_it_does() {
    let mut world = world(&[("a", "asks_late")]);
    world.send_at(10, on("d1", "a"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Held)]);
    assert_eq!(world.clock.now_ms(), 50, "it is resumed at the instant at which it asks");
    assert_eq!((statuses(&state), world.executions("a")), (vec!["a Succeeded".to_owned()], 2));
    assert!(world.kept.memory.stored().unwrap().to_json().contains("\"d1\""), "and then it is durable");
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn of_several_that_are_held_the_first_counts() {
    let mut world = world(&[("a", "asks_late")]);
    world.send_at(10, Incoming::new("d1", "a", Cancel));
    world.send_at(20, on("d2", "a"));
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Held), ("d2".to_owned(), Reply::Held)]);
    assert_eq!(statuses(&state), ["a Cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_held_decision_is_dropped_with_its_call() {
    let mut world = world(&[("a", "asks_not"), ("b", "write")]);
    world.send_at(10, on("d1", "a"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["b"]);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Held)]);
    world.incoming.push(on("d1", "a"));
    world.incoming.push(on("d1", "b"));
    world.resume(&mut state).await;
    // It was never accepted: its id is as good as new.
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Unknown), ("d1".to_owned(), Reply::Accepted)]);
}

#[tokio::test(start_paused = true)]
async fn a_held_decision_does_not_outlive_its_activation() {
    // `b` stays New behind `a`, which asks; a decision on it comes in the activation that parks there.
    let mut world = world(&[("a", "asks_late"), ("b", "asks_late")]);
    world.mode = ExecutionMode::Sequential;
    world.stream = true;
    world.send_at(10, on("d1", "b"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Held)]);
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.waiting, ["b"], "it does not count any more");
}

#[tokio::test(start_paused = true)]
async fn a_held_decision_does_not_outlive_its_activation_where_the_run_waits_in_place() {
    let mut world = world(&[("a", "asks_late"), ("b", "asks_late")]);
    (world.mode, world.stream) = (ExecutionMode::Sequential, true);
    world.when_suspended = WhenSuspended::WaitInPlace;
    world.send_at(10, on("d1", "b"));
    world.send_at(500, on("d2", "a"));
    world.send_at(900, on("d3", "b"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.clock.now_ms(), 900, "the one that was held for the first activation is forgotten");
    let replies = world.replies().into_iter().map(|(_, reply)| reply);
    assert_eq!(replies.collect::<Vec<_>>(), [Reply::Held, Reply::Accepted, Reply::Accepted]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_names_a_suspension_is_never_held() {
    let mut world = world(&[("a", "asks_late")]);
    world.send_at(10, on("d1", "a").on("r1/a/1"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Stale)]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_for_the_arguments_that_were_shown_and_for_no_others() {
    let mut world = world(&[("a", "write")]);
    let mut state = world.state();
    world.start(&mut state).await;
    let shown = world.handle.pending()[0].args_digest.clone();
    assert_eq!(world.handle.pending()[0].arguments, json!({ "for": "a" }));
    world.incoming.push(on("d1", "a").for_arguments("sha256:of other arguments"));
    world.incoming.push(on("d2", "a").for_arguments(shown.clone()));
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Stale), ("d2".to_owned(), Reply::Accepted)]);
    assert!(
        world.kept.memory.stored().unwrap().to_json().contains(&shown),
        "it is stored for what it was given"
    );
}

#[tokio::test(start_paused = true)]
async fn a_held_decision_for_other_arguments_is_not_held() {
    let mut world = world(&[("a", "asks_late")]);
    world.send_at(10, on("d1", "a").for_arguments("sha256:of other arguments"));
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    assert_eq!(world.replies(), [("d1".to_owned(), Reply::Stale)]);
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
    let said = |why: &str| Reply::Invalid(format!("the result does not fit what was asked for: {why}"));
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
    let replies = world.replies().into_iter().map(|(_, reply)| reply);
    assert_eq!(
        replies.collect::<Vec<_>>(),
        [
            Reply::Accepted,
            Reply::Conflict,
            Reply::Conflict,
            Reply::Duplicate,
            Reply::Conflict,
            Reply::Unknown
        ]
    );
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
async fn who_decided_and_why_is_stored_and_told() {
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
        matches!(kind, runstate::agent::event::EventKind::ToolCallResumed { call, suspension_id, decision_id, actor, .. }
            if (&*call, &*suspension_id, &*decision_id, actor.as_deref()) == ("a", "r1/a/1", "d1", Some("ann")))
    });
    assert!(told);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_a_tools_schema_fail_the_call_and_those_of_a_decision_too() {
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
