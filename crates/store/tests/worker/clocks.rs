//! Two machines with clocks an hour apart, and a clock that is set while a worker is at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runstate::run::RunStatus;
use runstate::trace::Event;
use runstate_runtime::clock::{Clock, TokioClock};
use runstate_store::{Claim, NewRun, StoreError};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::world::{World, call};

const HOUR_MS: u64 = 3_600_000;
const LEASE: Duration = Duration::from_secs(30);

/// A clock that is ahead, until it is set.
#[derive(Clone)]
struct Ahead {
    right: TokioClock,
    ahead_ms: Arc<AtomicU64>,
}

impl Ahead {
    fn of(world: &World, ahead_ms: u64) -> Self {
        Ahead { right: world.clock, ahead_ms: Arc::new(AtomicU64::new(ahead_ms)) }
    }

    fn set_ahead(&self, ahead_ms: u64) {
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
    }
}

impl Clock for Ahead {
    fn now_ms(&self) -> u64 {
        self.right.now_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }

    fn ticks_ms(&self) -> u64 {
        self.right.ticks_ms()
    }
}

async fn at(world: &World, ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms - world.clock.now_ms())).await;
}

type Working = JoinHandle<Result<(), StoreError>>;

/// A worker of that clock.
fn working(world: &World, name: &str, clock: &Ahead, drain: &CancellationToken) -> Working {
    let (worker, host, token) =
        (world.worker(name).clock(clock.clone()).concurrency(4), world.host_by(clock.clone()), drain.clone());
    tokio::spawn(async move { worker.run(&*host, token).await })
}

/// A worker that drives a run whose first call takes 50 seconds. Its clock is two hours ahead until 5 seconds, and set then.
async fn set(ahead_ms: u64) -> (World, CancellationToken, Working) {
    let world = World::new();
    let steps = json!([[call("a", "again", json!({ "ms": 50_000 }))], [call("b", "once", json!({}))]]);
    world.create("mine", steps).await;
    let (clock, drain) = (Ahead::of(&world, 2 * HOUR_MS), CancellationToken::new());
    let working = working(&world, "ahead", &clock, &drain);
    at(&world, 5_000).await;
    assert_eq!(left(&world).await, LEASE - Duration::from_secs(5));
    clock.set_ahead(ahead_ms);
    (world, drain, working)
}

async fn left(world: &World) -> Duration {
    world.loaded("mine").await.info.holder.expect("it has the run").left
}

async fn drained(drain: CancellationToken, working: Working) {
    drain.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn workers_an_hour_apart_share_runs_without_calls_in_doubt() {
    let world = World::new();
    for run in 0..8 {
        let steps = json!([
            [call("a", "once", json!({ "ms": 50_000 }))],
            [call("b", "once", json!({ "ask_for": 300_000 }))]
        ]);
        world.create(&format!("r{run}"), steps).await;
    }
    let workers = [("right", 0), ("ahead", HOUR_MS)].map(|(name, ahead_ms)| {
        let drain = CancellationToken::new();
        (working(&world, name, &Ahead::of(&world, ahead_ms), &drain), drain)
    });
    at(&world, 120_000).await;
    for run in 0..8 {
        assert_eq!(world.status(&format!("r{run}")).await, "Waiting suspended", "r{run}");
    }
    // What a worker that is ahead asked is open for as long as what the other asked, and the other one gives it up.
    let [(right, drain), (ahead, gone)] = workers;
    drained(gone, ahead).await;
    at(&world, 349_000).await;
    for run in 0..8 {
        assert_eq!(world.status(&format!("r{run}")).await, "Waiting suspended", "r{run}");
    }
    at(&world, 351_000).await;
    for run in 0..8 {
        assert_eq!(world.status(&format!("r{run}")).await, "Done natural_end", "r{run}");
        world.is_sound(&format!("r{run}")).await;
    }
    drained(drain, right).await;
    let noted = world.ledger().all();
    assert_eq!((world.ledger().count("a began"), world.ledger().count("a ended")), (8, 8), "{noted:?}");
    assert_eq!(world.ledger().count("b began"), 0, "no decision came in time");
    assert!(!noted.iter().any(|noted| noted.contains("lost")), "{noted:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_of_another_worker_stays_its_own_while_the_clock_is_set() {
    let (world, drain, working) = set(0).await;
    let theirs = NewRun::new("theirs", json!({ "steps": [] }), 5_000).not_before(Duration::from_secs(1));
    world.store.create(&theirs).await.unwrap();
    let claim = Claim::of("theirs", "other", Duration::from_secs(35));
    let lease = world.store.claim(&claim).await.unwrap().unwrap();
    at(&world, 39_900).await;
    let info = world.loaded("theirs").await.info;
    assert_eq!((info.version, info.holder.unwrap().name), (0, "other".to_owned()));
    at(&world, 40_200).await;
    assert_eq!(world.status("theirs").await, "Done natural_end", "their lease is over");
    let fenced = world.store.renew(&lease, LEASE).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })), "{fenced:?}");
    drained(drain, working).await;
}

#[tokio::test(start_paused = true)]
async fn delays_and_expiries_continue_when_the_clock_is_set() {
    for ahead_ms in [0, 24 * HOUR_MS] {
        let (world, drain, working) = set(ahead_ms).await;
        let later = NewRun::new("later", json!({ "steps": [] }), 5_000).not_before(Duration::from_secs(15));
        world.store.create(&later).await.unwrap();
        world.store.create(&NewRun::new("broken", json!({ "steps": "none" }), 5_000)).await.unwrap();
        world.create("asks", json!([[call("c", "once", json!({ "ask_for": 25_000 }))]])).await;
        at(&world, 19_900).await;
        assert_eq!(world.status("later").await, "Running", "it is put off");
        assert_eq!(world.status("asks").await, "Waiting suspended");
        at(&world, 20_200).await;
        assert_eq!(world.status("later").await, "Done natural_end");
        let left = world.loaded("broken").await.info.not_before.unwrap();
        assert!((44..46).contains(&left.as_secs()), "a minute behind its first time: {left:?}");
        at(&world, 29_900).await;
        assert_eq!(world.status("asks").await, "Waiting suspended");
        at(&world, 30_500).await;
        assert_eq!(world.status("asks").await, "Done natural_end", "no decision came in time");
        assert_eq!(world.ledger().count("c began"), 0);
        drained(drain, working).await;
    }
}

#[tokio::test(start_paused = true)]
async fn killed_worker_lease_ends_in_time_after_its_clock_is_set() {
    let (world, _drain, working) = set(0).await;
    at(&world, 11_000).await;
    working.abort();
    working.await.unwrap_err();
    let left = left(&world).await;
    assert!(left > Duration::from_secs(28), "it was renewed at a third: {left:?}");
    let take = async || world.store.claim(&Claim::any("next", LEASE)).await.unwrap();
    tokio::time::sleep(left - Duration::from_millis(1)).await;
    assert_eq!(take().await, None);
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert_eq!(take().await.unwrap().run, "mine");
}

#[tokio::test(start_paused = true)]
async fn worker_keeps_run_and_trace_order_after_its_clock_is_set() {
    let (world, drain, working) = set(0).await;
    while world.loaded("mine").await.info.status != RunStatus::Done {
        let now_ms = world.clock.now_ms();
        let stolen = world.store.claim(&Claim::of("mine", "thief", Duration::from_millis(1))).await;
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
