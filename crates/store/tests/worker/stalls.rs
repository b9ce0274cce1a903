//! A worker that has much else to do keeps the runs that it drives, and hears that it is to stop.

use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::Clock;
use runstate_store::{ApprovalFilter, ApprovalQuery, Claim, RunData, RunQueue, StoreError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::faulty::Faulty;
use super::world::{World, call};

const LEASE: Duration = Duration::from_secs(2);
/// When what waits lapses.
const LAPSES: u64 = 60_000;

/// A world with 2,000 calls that wait, in 20 runs, and that all lapse at one time.
async fn many_that_wait(store: &Arc<Faulty>) -> World {
    let world = World::on(store.clone());
    for run in 0..20 {
        let calls: Vec<Value> =
            (0..100).map(|n| call(&format!("c{n}"), "again", json!({ "ask": LAPSES }))).collect();
        world.create(&format!("w{run}"), json!([calls])).await;
    }
    world.worker("first").run_ready(&*world.host).await.unwrap();
    assert_eq!(
        world.store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10_000)).await.unwrap().len(),
        2_000
    );
    world
}

/// Tries for so long to take the run: nobody can whose lease is renewed.
async fn thief(store: Arc<Faulty>, clock: runstate_runtime::clock::TokioClock, run: &str, tries: usize) {
    for _ in 0..tries {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now_ms = clock.now_ms();
        if store.load(run).await.unwrap().info.status == runstate::run::RunStatus::Done {
            return;
        }
        let stolen = store.claim(&Claim::of(run, "thief", Duration::from_millis(1))).await;
        assert!(matches!(stolen, Err(StoreError::Held { .. })), "at {now_ms}: {stolen:?}");
    }
    panic!("{run} is not over after {tries} tries");
}

#[tokio::test(start_paused = true)]
async fn run_keeps_its_holder_while_many_calls_expire() {
    let store = Faulty::new();
    let world = many_that_wait(&store).await;
    // Each of them takes longer than the lease lasts, all in all.
    *store.post.lock().unwrap() = Duration::from_millis(10);
    world.create("r", json!([[call("a", "once", json!({ "ms": 12_000 }))]])).await;
    tokio::time::sleep(Duration::from_millis(LAPSES - 1_000 - world.clock.now_ms())).await;
    let drain = CancellationToken::new();
    let worker = world.worker("w").lease(LEASE).concurrency(30);
    let (host, token) = (world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    thief(store.clone(), world.clock, "r", 300).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    drain.cancel();
    working.await.unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("a ended")), (1, 1));
    assert_eq!(world.store.due(10_000).await.unwrap(), [], "all of them lapsed");
    for run in 0..20 {
        assert_eq!(world.status(&format!("w{run}")).await, "Done natural_end");
    }
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn run_keeps_its_holder_during_a_slow_claim() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({ "ms": 12_000 }))]])).await;
    let drain = CancellationToken::new();
    let worker = world.worker("w").lease(LEASE);
    let (host, token) = (world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    *store.claim.lock().unwrap() = Duration::from_secs(5);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!(world.ledger().all(), ["a began", "a ended", "r over: natural_end"]);
    // What is claimed once it is to stop is given back at once: here by a claim that is under way.
    world.create("late", json!([[call("b", "once", json!({}))]])).await;
    drain.cancel();
    working.await.unwrap().unwrap();
    let late = world.loaded("late").await.info;
    assert_eq!((late.version, late.holder, late.not_before), (0, None, None));
    let next = Claim::of("late", "next", Duration::MAX);
    assert_eq!(world.store.claim(&next).await.unwrap().unwrap().fence, 2, "it was claimed");
}

#[tokio::test(start_paused = true)]
async fn run_keeps_its_holder_while_another_is_released() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({ "ms": 20_000 }))]])).await;
    let drain = CancellationToken::new();
    let worker = world.worker("w").lease(LEASE);
    let (host, token) = (world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    // It is told to stop while it claims another one, which the store then takes long to take back.
    *store.claim.lock().unwrap() = Duration::from_secs(1);
    *store.release.lock().unwrap() = Some(("late", Duration::from_secs(10)));
    world.create("late", json!([[call("b", "once", json!({}))]])).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    drain.cancel();
    *store.claim.lock().unwrap() = Duration::ZERO;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if world.ledger().count("a ended") > 0 {
            break;
        }
        let now_ms = world.clock.now_ms();
        let stolen = world.store.claim(&Claim::of("r", "thief", Duration::from_millis(1))).await;
        assert!(matches!(stolen, Err(StoreError::Held { .. })), "at {now_ms}: {stolen:?}");
    }
    working.await.unwrap().unwrap();
    assert_eq!(world.ledger().all(), ["a began", "a ended", "r given back, to go on elsewhere"]);
    let late = world.loaded("late").await.info;
    assert_eq!((late.version, late.holder), (0, None));
    let next = Claim::of("late", "next", Duration::MAX);
    assert_eq!(world.store.claim(&next).await.unwrap().unwrap().fence, 2, "it was claimed");
}

#[tokio::test(start_paused = true)]
async fn worker_stop_is_heard_promptly_while_many_calls_expire() {
    let store = Faulty::new();
    let world = many_that_wait(&store).await;
    *store.post.lock().unwrap() = Duration::from_millis(10);
    tokio::time::sleep(Duration::from_millis(LAPSES - world.clock.now_ms())).await;
    for once in [false, true] {
        let drain = CancellationToken::new();
        let (worker, host, token) = (world.worker("w"), world.host.clone(), drain.clone());
        let working = tokio::spawn(async move {
            if once { worker.run_ready_until(&*host, token).await } else { worker.run(&*host, token).await }
        });
        tokio::time::sleep(Duration::from_millis(205)).await;
        drain.cancel();
        let before = world.clock.now_ms();
        working.await.unwrap().unwrap();
        let took = world.clock.now_ms() - before;
        assert!(took < 100, "it took {took} ms (once: {once})");
    }
    assert!(world.store.due(10_000).await.unwrap().len() > 1_000, "the others are left to others");
}

#[tokio::test(start_paused = true)]
async fn ready_runs_finish_despite_a_busy_or_failing_store() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    for run in ["r1", "r2"] {
        world.create(run, json!([[call("a", "once", json!({ "ms": 1_000 }))]])).await;
    }
    let (worker, host) = (world.worker("w").concurrency(2), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    // It looks again once one of them is over.
    *store.busy.lock().unwrap() = 3;
    working.await.unwrap().unwrap();
    for run in ["r1", "r2"] {
        assert_eq!(world.status(run).await, "Done natural_end");
    }
    assert_eq!(*store.busy.lock().unwrap(), 0);
    assert!(world.ledger().count("trouble: the store cannot be reached now: busy") > 0);
}

#[tokio::test(start_paused = true)]
async fn driven_runs_are_released_before_a_store_failure_returns() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    let long = json!([[call("a", "once", json!({ "ms": 9_000 }))], [call("b", "once", json!({}))]]);
    world.create("short", json!([[call("s", "once", json!({ "ms": 1_000 }))]])).await;
    world.create("long", long).await;
    let (worker, host) = (world.worker("w").concurrency(2), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    *store.broken.lock().unwrap() = true;
    let told = working.await.unwrap().unwrap_err();
    assert!(matches!(told, StoreError::Failed(_)), "{told:?}");
    assert_eq!(world.status("short").await, "Done natural_end");
    assert_eq!(world.ledger().count("a ended"), 1, "its tool came to its end: {:?}", world.ledger().all());
    let info = world.loaded("long").await.info;
    assert_eq!((info.holder, info.waiting), (None, 0), "nothing is in doubt");
    *store.broken.lock().unwrap() = false;
    world.worker("next").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("long").await, "Done natural_end");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("b began")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn run_removed_before_an_expiry_ends_no_worker() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    for run in ["gone", "stays"] {
        world.create(run, json!([[call("a", "again", json!({ "ask": 1_000 }))]])).await;
    }
    world.worker("first").run_ready(&*world.host).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    store.removed.lock().unwrap().push("gone".to_owned());
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert!(matches!(world.store.load("gone").await, Err(StoreError::NoRun { .. })));
    assert_eq!(world.status("stays").await, "Done natural_end");
}
