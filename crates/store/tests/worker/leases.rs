//! A worker keeps the lease on a run for as long as it drives it, and lets go of a run whose lease is over.

use std::time::Duration;

use runstate_runtime::clock::Clock;
use runstate_store::{Claim, StoreError};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::faulty::Faulty;
use super::world::{Sleeper, World, call};

const NOT_ANSWERED: &str = "r lost: the store cannot be reached now: the lease on the run \"r\" was over before its renewal was answered";

async fn at(world: &World, ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms - world.clock.now_ms())).await;
}

/// A worker that drives one run, whose call takes 50 seconds, on a machine that may sleep.
async fn sleepy() -> (World, Sleeper, JoinHandle<()>) {
    sleepy_on(World::new()).await
}

async fn sleepy_on(world: World) -> (World, Sleeper, JoinHandle<()>) {
    world.create("r", json!([[call("a", "again", json!({ "ms": 50_000 }))]])).await;
    let clock = world.machine.clone();
    let (worker, host) = (world.worker("sleepy").clock(clock.clone()), world.host.clone());
    let working =
        tokio::spawn(
            async move { drop(worker.run_one(&*host, "r", CancellationToken::new()).await.unwrap()) },
        );
    at(&world, 1_500).await;
    assert_eq!(world.ledger().all(), ["a began"]);
    (world, clock, working)
}

#[tokio::test(start_paused = true)]
async fn woken_worker_notices_its_lost_run_at_once() {
    let (world, clock, working) = sleepy().await;
    clock.sleep_for_a_night();
    world.store.claim(&Claim::of("r", "awake", Duration::from_secs(60))).await.unwrap().unwrap();
    at(&world, 2_501).await;
    let noted = world.ledger().all();
    assert_eq!(noted.len(), 2, "long before it would have renewed its lease: {noted:?}");
    assert!(noted[1].starts_with("r lost: the run \"r\" was taken by another holder"), "{noted:?}");
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn woken_worker_continues_its_unclaimed_run() {
    let (world, clock, working) = sleepy().await;
    clock.sleep_for_a_night();
    at(&world, 2_501).await;
    let stolen = world.store.claim(&Claim::of("r", "awake", Duration::MAX)).await;
    assert!(matches!(stolen, Err(StoreError::Held { .. })), "it has a lease again: {stolen:?}");
    working.await.unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("a ended")), (1, 1));
    assert!(world.loaded("r").await.info.changed_at_ms > 8 * 3_600_000, "what is stored has the day's time");
}

#[tokio::test(start_paused = true)]
async fn no_call_executes_past_a_lease_with_unanswered_renewal() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({ "ms": 300_000 }))]])).await;
    *store.silent.lock().unwrap() = true;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    at(&world, 29_999).await;
    assert_eq!(world.ledger().all(), ["a began"]);
    at(&world, 30_001).await;
    assert!(world.ledger().all().contains(&NOT_ANSWERED.to_owned()), "{:?}", world.ledger().all());
    working.await.unwrap().unwrap();
    assert_eq!(world.ledger().count("a ended"), 0);
    assert_eq!(world.status("r").await, "Waiting suspended", "somebody is asked about its call");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_renewed_lasts_from_then_on() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({ "ms": 300_000 }))]])).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    // It was renewed at 10 and at 20 seconds.
    at(&world, 25_000).await;
    *store.silent.lock().unwrap() = true;
    at(&world, 49_999).await;
    assert_eq!(world.ledger().count(NOT_ANSWERED), 0);
    at(&world, 50_001).await;
    assert_eq!(world.ledger().count(NOT_ANSWERED), 1, "{:?}", world.ledger().all());
    working.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_run_takes_to_be_loaded_is_part_of_its_lease() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({ "ms": 300_000 }))]])).await;
    *store.load.lock().unwrap() = Duration::from_secs(25);
    *store.silent.lock().unwrap() = true;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_one(&*host, "r", CancellationToken::new()).await });
    at(&world, 29_999).await;
    assert_eq!(world.ledger().all(), ["a began"]);
    at(&world, 30_001).await;
    assert_eq!(world.ledger().all(), ["a began", NOT_ANSWERED]);
    working.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn run_keeps_its_holder_while_it_is_loaded() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "once", json!({}))]])).await;
    *store.load.lock().unwrap() = Duration::from_secs(40);
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    at(&world, 35_000).await;
    let stolen = world.store.claim(&Claim::of("r", "thief", Duration::from_secs(1))).await;
    assert!(matches!(stolen, Err(StoreError::Held { .. })), "{stolen:?}");
    working.await.unwrap().unwrap();
    assert_eq!(world.ledger().all(), ["a began", "a ended", "r over: natural_end"]);
}

#[tokio::test(start_paused = true)]
async fn slept_worker_without_store_answer_stops_in_a_third_of_lease() {
    let store = Faulty::new();
    let (world, clock, working) = sleepy_on(World::by(store.machine.clone(), store.clone())).await;
    *store.silent.lock().unwrap() = true;
    clock.sleep_for_a_night();
    at(&world, 10_900).await;
    assert_eq!(world.ledger().all(), ["a began"], "it may still hear that nobody took the run");
    at(&world, 12_600).await;
    assert_eq!(world.ledger().all(), ["a began", NOT_ANSWERED], "by timers it would have 18 seconds more");
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn woken_worker_awaiting_its_store_releases_its_run_at_once() {
    let store = Faulty::new();
    let (world, clock, working) = sleepy_on(World::by(store.machine.clone(), store.clone())).await;
    *store.silent.lock().unwrap() = true;
    // It asked at 10 seconds, and has waited for longer than a third of its lease.
    at(&world, 20_500).await;
    assert_eq!(world.ledger().all(), ["a began"]);
    clock.sleep_for_a_night();
    at(&world, 21_600).await;
    assert_eq!(world.ledger().all(), ["a began", NOT_ANSWERED]);
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_was_answered_after_a_night_is_none() {
    let store = Faulty::new();
    let (world, clock, working) = sleepy_on(World::by(store.machine.clone(), store.clone())).await;
    *store.renew.lock().unwrap() = Duration::from_secs(3);
    at(&world, 11_000).await;
    clock.sleep_for_a_night();
    *store.renew.lock().unwrap() = Duration::ZERO;
    at(&world, 14_100).await;
    let left = world.loaded("r").await.info.holder.unwrap().left;
    assert!(!left.is_zero(), "its lease was over in the evening");
    working.await.unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
}
