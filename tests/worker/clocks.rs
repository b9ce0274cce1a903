//! A machine whose clock was two hours ahead and is set right while its worker is at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runstate::clock::{Clock, TokioClock};
use runstate::run::RunStatus;
use runstate::store::{Claim, NewRun, StoreError};
use runstate::trace::Event;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::world::{World, call};

const LEASE_MS: u64 = 30_000;

/// A clock that is ahead until it is set right.
#[derive(Clone)]
struct Ahead {
    right: TokioClock,
    ahead_ms: Arc<AtomicU64>,
}

impl Ahead {
    fn of(world: &World) -> Self {
        Ahead { right: world.clock, ahead_ms: Arc::new(AtomicU64::new(2 * 3_600_000)) }
    }

    fn set_right(&self) {
        self.ahead_ms.store(0, Ordering::Relaxed);
    }
}

impl Clock for Ahead {
    fn now_ms(&self) -> u64 {
        self.right.now_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }
}

async fn at(world: &World, ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms - world.clock.now_ms())).await;
}

/// A worker that drives a run whose first call takes 50 seconds. The clock was set right at 5 seconds.
async fn set_right() -> (World, CancellationToken, JoinHandle<Result<(), StoreError>>) {
    let world = World::new();
    let steps = json!([[call("a", "again", json!({ "ms": 50_000 }))], [call("b", "once", json!({}))]]);
    world.create("mine", steps).await;
    let (clock, drain) = (Ahead::of(&world), CancellationToken::new());
    let (worker, host, token) =
        (world.worker("ahead").clock(clock.clone()), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    at(&world, 5_000).await;
    assert_eq!(until_ms(&world).await, 2 * 3_600_000 + LEASE_MS);
    clock.set_right();
    (world, drain, working)
}

async fn until_ms(world: &World) -> u64 {
    world.loaded("mine").await.info.holder.expect("it has the run").until_ms
}

async fn drained(drain: CancellationToken, working: JoinHandle<Result<(), StoreError>>) {
    drain.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_takes_no_run_whose_lease_is_good_by_the_new_time() {
    let (world, drain, working) = set_right().await;
    world.store.create(&NewRun::new("theirs", json!({ "steps": [] }), 5_000).put_off(6_000)).await.unwrap();
    let claim = Claim::of("theirs", "other", 5_000, 40_000);
    let lease = world.store.claim(&claim).await.unwrap().unwrap();
    at(&world, 39_900).await;
    let info = world.loaded("theirs").await.info;
    assert_eq!((info.version, info.holder.unwrap().name), (0, "other".to_owned()));
    at(&world, 40_200).await;
    assert_eq!(world.status("theirs").await, "Done natural_end", "their lease is over");
    let fenced = world.store.renew(&lease, 80_000).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })), "{fenced:?}");
    drained(drain, working).await;
}

#[tokio::test(start_paused = true)]
async fn put_offs_and_lapses_go_on_by_the_new_time() {
    let (world, drain, working) = set_right().await;
    world.store.create(&NewRun::new("later", json!({ "steps": [] }), 5_000).put_off(20_000)).await.unwrap();
    world.store.create(&NewRun::new("broken", json!({ "steps": "none" }), 5_000)).await.unwrap();
    world.create("asks", json!([[call("c", "once", json!({ "ask": 30_000 }))]])).await;
    at(&world, 19_900).await;
    assert_eq!(world.status("later").await, "Running", "it is put off");
    assert_eq!(world.status("asks").await, "Waiting suspended");
    at(&world, 20_200).await;
    assert_eq!(world.status("later").await, "Done natural_end");
    let tried_again_ms = world.loaded("broken").await.info.not_before_ms.unwrap();
    assert!((65_000..66_000).contains(&tried_again_ms), "a minute behind its first time: {tried_again_ms}");
    at(&world, 29_900).await;
    assert_eq!(world.status("asks").await, "Waiting suspended");
    at(&world, 30_200).await;
    assert_eq!(world.status("asks").await, "Done natural_end", "nobody decided in time");
    assert_eq!(world.ledger().count("c began"), 0);
    drained(drain, working).await;
}

#[tokio::test(start_paused = true)]
async fn its_lease_is_over_by_the_new_time_once_it_is_killed() {
    let (world, _drain, working) = set_right().await;
    at(&world, 6_100).await;
    let until_ms = until_ms(&world).await;
    assert!((5_000 + LEASE_MS..6_100 + LEASE_MS).contains(&until_ms), "it was renewed at once: {until_ms}");
    working.abort();
    working.await.unwrap_err();
    let take =
        async |now_ms| world.store.claim(&Claim::any("next", now_ms, now_ms + LEASE_MS)).await.unwrap();
    assert_eq!(take(until_ms - 1).await, None);
    assert_eq!(take(until_ms).await.unwrap().run, "mine");
}

#[tokio::test(start_paused = true)]
async fn its_run_stays_its_own_and_the_trace_of_it_in_order() {
    let (world, drain, working) = set_right().await;
    while world.loaded("mine").await.info.status != RunStatus::Done {
        let now_ms = world.clock.now_ms();
        let stolen = world.store.claim(&Claim::of("mine", "thief", now_ms, now_ms + 1)).await;
        assert!(matches!(stolen, Err(StoreError::Held { .. })), "at {now_ms}: {stolen:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(now_ms < 60_000, "its lease is renewed, and it comes to its end");
    }
    assert_eq!((world.ledger().count("a began"), world.ledger().count("b began")), (1, 1));
    let rows = world.store.trace("mine", 0, usize::MAX).await.unwrap();
    let times: Vec<u64> = rows.iter().map(|row| Event::from_json(&row.json).unwrap().at_ms).collect();
    assert!(times.is_sorted(), "{times:?}");
    let changed_at_ms = world.loaded("mine").await.info.changed_at_ms;
    assert!(changed_at_ms < 60_000, "what is stored has the day's time: {changed_at_ms}");
    world.is_sound("mine").await;
    drained(drain, working).await;
}
