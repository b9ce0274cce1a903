//! Decisions, cancellations and lapses, from outside of the worker.

use std::time::Duration;

use runstate::decision::Decision;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::run::RunStatus;
use runstate_agent::{ExecutionMode, Incoming, Reply, Unchecked};
use runstate_runtime::clock::Clock;
use runstate_store::{ApprovalFilter, ApprovalQuery, NewRun, StoreError, decide};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::faulty::Faulty;
use super::world::{World, call};

/// The reply to a decision. One that names its call alone is on that of the run `r`.
async fn answer(world: &World, mut incoming: Incoming) -> Reply {
    if incoming.run_id.is_none() && incoming.suspension_id.is_none() {
        incoming.run_id = Some("r".to_owned());
    }
    decide(&*world.store, &incoming, world.clock.now_ms(), &Unchecked).await.unwrap()
}

fn asking(ms: u64) -> serde_json::Value {
    json!([[call("a", "once", json!({ "ask": true, "ms": ms }))]])
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_is_parked_and_goes_on_once_it_is_decided() {
    let world = World::new();
    world.create("r", asking(0)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Waiting suspended");
    assert!(world.loaded("r").await.info.holder.is_none(), "nobody holds what waits");

    let query = ApprovalQuery::new(ApprovalFilter::All, 10);
    let approvals = world.store.approvals(&query).await.unwrap();
    let [approval] = &*approvals else { panic!("{approvals:?}") };
    assert_eq!((&*approval.run, &*approval.call, &*approval.tool), ("r", "a", "once"));
    assert_eq!(approval.arguments, json!({ "ask": true, "ms": 0 }));

    let approve = Incoming::new("d1", "a", Resume).for_question(&*approval.digest);
    assert_eq!(answer(&world, approve.clone()).await, Reply::Accepted);
    assert!(world.store.approvals(&query).await.unwrap().is_empty(), "what is decided waits no more");
    // Before anybody took it, and after.
    let in_run = Incoming { run_id: Some("r".to_owned()), ..approve };
    assert_eq!(answer(&world, in_run.clone()).await, Reply::Duplicate);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(answer(&world, in_run.clone()).await, Reply::Duplicate);
    let other = Incoming { decision_id: "d2".to_owned(), action: Cancel, ..in_run };
    let Reply::Conflict(accepted) = answer(&world, other).await else { panic!("a conflict") };
    assert_eq!(accepted.decision_id, "d1", "the one that was accepted");

    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!(world.ledger().all(), ["r waits for a", "a began", "a ended", "r over: natural_end"]);
    let stored = world.loaded("r").await.stored.unwrap();
    let decision = stored.decisions().values().next().unwrap();
    assert_eq!((&*decision.decision_id, decision.digest.is_some()), ("d1", true));
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn a_decision_for_other_arguments_changes_nothing() {
    let world = World::new();
    world.create("r", asking(0)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    let wrong = Incoming::new("d1", "a", Resume).for_question("sha256:0");
    assert_eq!(answer(&world, wrong).await, Reply::Stale);
    assert_eq!(answer(&world, Incoming::new("d1", "b", Resume)).await, Reply::Unknown);
    let stale = Incoming::new("d1", "a", Resume).on("r/a/7");
    assert_eq!(answer(&world, stale).await, Reply::Unknown);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Waiting suspended");
    assert_eq!(world.ledger().all(), ["r waits for a"], "nobody claimed it again");
}

#[tokio::test(start_paused = true)]
async fn a_name_that_two_runs_have_is_refused_without_the_run() {
    let world = World::new();
    world.create("r1", asking(0)).await;
    world.create("r2", asking(0)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    let by_name = Incoming::new("d1", "a", Resume);
    let reply = decide(&*world.store, &by_name, world.clock.now_ms(), &Unchecked).await.unwrap();
    assert!(matches!(reply, Reply::Invalid(_)), "{reply}");
    let of_one = Incoming { run_id: Some("r2".to_owned()), ..Incoming::new("d1", "a", Resume) };
    assert_eq!(answer(&world, of_one).await, Reply::Accepted);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r1").await, "Waiting suspended");
    assert_eq!(world.status("r2").await, "Done natural_end");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_waits_for_work_takes_a_decision_at_once() {
    let world = World::new();
    world.create("r", asking(0)).await;
    let drain = CancellationToken::new();
    let (worker, host) = (world.worker("w").poll(Duration::from_secs(3_600)), world.host.clone());
    let token = drain.clone();
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_secs(60)).await;
    let began = world.clock.now_ms();
    assert_eq!(answer(&world, Incoming::new("d1", "a", Resume)).await, Reply::Accepted);
    while world.status("r").await != "Done natural_end" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(world.clock.now_ms() - began < 10, "news woke it long before it would have looked");
    drain.cancel();
    working.await.unwrap().unwrap();
    world.is_sound("r").await;
}

/// The decision to let the one call of a run go on, as a store takes it.
async fn approval(world: &World, run: &str) -> Decision {
    let approvals =
        world.store.approvals(&ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), 10)).await.unwrap();
    let mut decision = Decision::new(format!("{run}/d1"), &*approvals[0].suspension.id, Resume);
    (decision.run_id, decision.call) = (run.to_owned(), approvals[0].call.clone());
    decision
}

#[tokio::test(start_paused = true)]
async fn decision_between_poll_and_wait_is_taken_immediately() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("busy", json!([[call("b", "once", json!({ "ms": 3_600_000 }))]])).await;
    world.create("parked", asking(0)).await;
    let drain = CancellationToken::new();
    let (worker, host) = (world.worker("w").poll(Duration::from_secs(3_600)), world.host.clone());
    let token = drain.clone();
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.status("parked").await, "Waiting suspended");
    *store.behind_claim.lock().unwrap() = Some(approval(&world, "parked").await);
    // Something comes that is not for now, so that it looks for work and finds none.
    let later = NewRun::new("later", json!({ "steps": [] }), 0).not_before(Duration::MAX);
    world.store.create(&later).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(store.behind_claim.lock().unwrap().is_none(), "it has looked");
    assert_eq!(world.status("parked").await, "Done natural_end", "{:?}", world.ledger().all());
    drain.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn decision_while_releasing_a_run_is_taken_without_a_problem() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", asking(0)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    // There is none when the run is taken in hand by its name, and one when it is to be given back.
    let decision = approval(&world, "r").await;
    store.before_mail.lock().unwrap().extend([None, Some(decision)]);
    world.worker("w").run_one(&*world.host, "r", CancellationToken::new()).await.unwrap();
    assert!(store.before_mail.lock().unwrap().is_empty());
    assert_eq!(world.loaded("r").await.info.problem, None);
    assert_eq!(world.status("r").await, "Done natural_end");
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_taken_in_beside_calls_that_execute() {
    let world = World::new().in_mode(ExecutionMode::Concurrent);
    let calls =
        json!([[call("a", "once", json!({ "ask": true })), call("b", "once", json!({ "ms": 10_000 })),]]);
    world.create("r", calls).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(answer(&world, Incoming::new("d1", "a", Resume)).await, Reply::Accepted);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        world.ledger().all(),
        ["b began", "a began", "a ended"],
        "its replay did not wait for the other"
    );
    working.await.unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("b began")), (1, 1));
    world.is_sound("r").await;
}

/// More decisions, one by one, than are on their way to a run at once, while a call executes beside which none is taken.
async fn many_decided_beside_one_that_executes() -> (World, tokio::task::JoinHandle<Result<(), StoreError>>) {
    const MANY: usize = 70;
    let world = World::new();
    let mut calls: Vec<_> =
        (0..MANY).map(|n| call(&format!("c{n}"), "once", json!({ "ask": true }))).collect();
    calls.push(call("long", "once", json!({ "ms": 10_000 })));
    world.create("r", json!([calls])).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.ledger().all(), ["long began"]);
    for n in 0..MANY {
        assert_eq!(
            answer(&world, Incoming::new(format!("d{n}"), format!("c{n}"), Resume)).await,
            Reply::Accepted
        );
        // Each is news of its own.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (world, working)
}

#[tokio::test(start_paused = true)]
async fn more_decisions_than_are_on_their_way_at_once_are_all_taken() {
    let (world, working) = many_decided_beside_one_that_executes().await;
    tokio::time::timeout(Duration::from_secs(60), working).await.unwrap().unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    let ended = world.ledger().all().iter().filter(|noted| noted.ends_with(" ended")).count();
    assert_eq!(ended, 71, "{:?}", world.ledger().all());
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn cancellation_is_seen_behind_a_backlog_of_decisions() {
    let (world, working) = many_decided_beside_one_that_executes().await;
    assert!(world.store.cancel("r", "not wanted").await.unwrap());
    tokio::time::timeout(Duration::from_secs(2), working).await.unwrap().unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done cancelled");
    assert_eq!(world.ledger().count("long ended"), 0);
}

#[tokio::test(start_paused = true)]
async fn undecided_call_expires_exactly_at_its_deadline() {
    for (at_ms, reply, end) in [
        (9_999, Reply::Accepted, "Done natural_end"),
        (10_000, Reply::Expired, "Done natural_end"),
        (10_001, Reply::Expired, "Done natural_end"),
    ] {
        let world = World::new();
        world.create("r", json!([[call("a", "once", json!({ "ask": 10_000 }))]])).await;
        world.worker("w").run_ready(&*world.host).await.unwrap();
        tokio::time::sleep(Duration::from_millis(at_ms - world.clock.now_ms())).await;
        // Nobody has looked at the timer yet: the decision is judged by its time all the same.
        assert_eq!(answer(&world, Incoming::new("d1", "a", Resume)).await, reply, "{at_ms}");
        // It is taken much later; one that was in time counts.
        tokio::time::sleep(Duration::from_secs(100)).await;
        world.worker("w").run_ready(&*world.host).await.unwrap();
        assert_eq!(world.status("r").await, end);
        let began = world.ledger().count("a began");
        assert_eq!(began, usize::from(reply == Reply::Accepted), "{at_ms}");
        world.is_sound("r").await;
    }
}

#[tokio::test(start_paused = true)]
async fn decision_after_an_expiry_gets_the_reply_expired() {
    let world = World::new();
    world.create("r", json!([[call("a", "once", json!({ "ask": 10_000 }))]])).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    let late = Incoming { run_id: Some("r".to_owned()), ..Incoming::new("d1", "a", Resume) };
    assert_eq!(answer(&world, late.on("r/a/1")).await, Reply::Expired);
    let stored = world.loaded("r").await.stored.unwrap();
    assert_eq!(stored.decisions()["r/a/1"].decision_id, "expiry:r/a/1");
}

#[tokio::test(start_paused = true)]
async fn cancellation_works_before_start_while_waiting_and_executing() {
    // Not begun.
    let world = World::new();
    world.create("r", asking(0)).await;
    assert!(world.store.cancel("r", "not wanted").await.unwrap());
    assert!(!world.store.cancel("r", "again").await.unwrap(), "the first wish counts");
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Done cancelled");
    assert_eq!(world.ledger().count("a began"), 0);

    // Waiting.
    let world = World::new();
    world.create("r", asking(0)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    world.store.cancel("r", "not wanted").await.unwrap();
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Done cancelled");
    world.is_sound("r").await;

    // Executing.
    let world = World::new();
    world.create("r", json!([[call("a", "once", json!({ "ms": 3_600_000 }))]])).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.store.cancel("r", "not wanted").await.unwrap();
    tokio::time::timeout(Duration::from_secs(1), working).await.unwrap().unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done cancelled");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("a ended")), (1, 0));
    assert_eq!(world.loaded("r").await.info.cancel, None);
    assert!(!world.store.cancel("r", "again").await.unwrap(), "it is over");
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn several_calls_are_decided_one_by_one_and_replayed_each_once() {
    let world = World::new();
    let asks = |id: &str| call(id, "once", json!({ "ask": true }));
    world.create("r", json!([[asks("a"), asks("b"), asks("c")]])).await;
    for (number, id) in ["b", "a", "c"].into_iter().enumerate() {
        world.worker("w").run_ready(&*world.host).await.unwrap();
        assert_eq!(world.loaded("r").await.info.waiting, 3 - u32::try_from(number).unwrap());
        let action = if id == "a" { Cancel } else { Resume };
        assert_eq!(answer(&world, Incoming::new(format!("d-{id}"), id, action)).await, Reply::Accepted);
    }
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.loaded("r").await.info.status, RunStatus::Done);
    let began = |id: &str| world.ledger().count(&format!("{id} began"));
    assert_eq!((began("a"), began("b"), began("c")), (0, 1, 1));
    world.is_sound("r").await;
}
