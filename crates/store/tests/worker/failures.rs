//! Stores and hosts that fail.

use std::sync::Arc;
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate_agent::async_trait;
use runstate_runtime::clock::Clock;
use runstate_store::{Ended, Executor, ExecutorError, JobSpec, Loaded, NewRun, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::faulty::{Faulty, Weather};
use super::world::{Scripts, World, call};

fn two_steps() -> serde_json::Value {
    json!([[call("a", "once", json!({ "ms": 1_000 }))], [call("b", "once", json!({ "ms": 1_000 }))]])
}

#[tokio::test(start_paused = true)]
async fn a_store_that_comes_back_in_time_costs_a_run_nothing() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", two_steps()).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    store.weather(Weather::Unreachable);
    tokio::time::sleep(Duration::from_secs(5)).await;
    store.weather(Weather::Fair);
    working.await.unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("b began")), (1, 1));
    assert!(world.clock.now_ms() > 5_500, "it waited");
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn commits_whose_answers_are_lost_are_made_once() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", two_steps()).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    store.weather(Weather::Mute);
    tokio::time::sleep(Duration::from_secs(5)).await;
    store.weather(Weather::Fair);
    working.await.unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    let messages = world.loaded("r").await.messages;
    assert_eq!(messages, 6, "a user, three answers, two results: none twice");
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn run_is_lost_in_a_long_store_outage_and_claimed_afterwards() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", two_steps()).await;
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w"), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    store.weather(Weather::Unreachable);
    tokio::time::sleep(Duration::from_secs(300)).await;
    let lost = "r lost: the store cannot be reached now: no route";
    assert_eq!(world.ledger().count(lost), 1, "{:?}", world.ledger().all());
    assert_eq!(world.ledger().count("reached again"), 0);
    store.weather(Weather::Fair);
    tokio::time::sleep(Duration::from_secs(60)).await;
    // The call ended, and that could not be stored: a person says what to do.
    assert_eq!(world.status("r").await, "Waiting suspended");
    assert_eq!((world.ledger().count("a began"), world.ledger().count("b began")), (1, 0));
    drain.cancel();
    working.await.unwrap().unwrap();
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn store_outage_and_its_end_are_reported_once_each() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w"), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    let [no_route, busy] =
        ["no route", "busy"].map(|why| format!("trouble: the store cannot be reached now: {why}"));
    tokio::time::sleep(Duration::from_secs(5)).await;
    store.weather(Weather::Unreachable);
    // Some six hundred looks for work.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.ledger().all(), [&*no_route]);
    // It is away for another reason, comes back, and is away again.
    *store.busy.lock().unwrap() = 20;
    store.weather(Weather::Fair);
    tokio::time::sleep(Duration::from_secs(60)).await;
    store.weather(Weather::Unreachable);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let told = [&*no_route, &*busy, "reached again", &*no_route];
    assert_eq!(world.ledger().all(), told);
    // To be told to stop is not to reach it.
    drain.cancel();
    working.await.unwrap().unwrap();
    assert_eq!(world.ledger().all(), told);
}

/// Lets a worker end, with the store in that weather from the middle of a call of its run on.
async fn caught_by(weather: Weather) -> (Arc<Faulty>, World) {
    let store = Faulty::new();
    let world = World::on(store.clone());
    world.create("r", json!([[call("a", "again", json!({ "ms": 1_000 }))]])).await;
    let (worker, host) = (world.worker("w"), world.host.clone());
    let working = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    store.weather(weather);
    working.await.unwrap().unwrap();
    (store, world)
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_ends_no_run() {
    let (store, world) = caught_by(Weather::Full).await;
    let info = world.loaded("r").await.info;
    assert_eq!(info.problem.as_deref(), Some("the store failed: no space left"));
    assert_eq!(info.not_before, Some(Duration::from_secs(60)));
    // There is space again.
    store.weather(Weather::Fair);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Running", "it is put off");
    tokio::time::sleep(Duration::from_secs(60)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!(world.loaded("r").await.info.problem, None);
    world.is_sound("r").await;
}

/// Its model would be asked again and again, for an answer that cannot be stored.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_too_large_for_its_store_is_set_aside() {
    let (store, world) = caught_by(Weather::Small).await;
    let info = world.loaded("r").await.info;
    assert!(info.is_set_aside(), "{info:?}");
    let problem = info.problem.unwrap();
    assert!(
        problem.starts_with("it would have 9 bytes of 8; cancel it; nothing of it is driven until"),
        "{problem}"
    );
    store.weather(Weather::Fair);
    tokio::time::sleep(Duration::from_secs(100 * 365 * 86_400)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Running", "it is set aside");
    // A person gives it back, and then it goes on.
    let claim = runstate_store::Claim::of("r", "ada", Duration::MAX);
    let lease = world.store.claim(&claim).await.unwrap().unwrap();
    world.store.release(&lease, &runstate_store::Release::clean().with_lost_claims_reset()).await.unwrap();
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn unpreparable_run_is_deferred_and_shows_its_problem() {
    let world = World::new();
    world.store.create(&NewRun::new("r", json!({ "steps": "none" }), 0)).await.unwrap();
    world.create("good", json!([])).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    let info = world.loaded("r").await.info;
    assert!(info.problem.unwrap().contains("invalid type: string"), "what the host said");
    assert_eq!((info.not_before, info.holder), (Some(Duration::from_secs(60)), None));
    assert_eq!(world.status("good").await, "Done natural_end", "others are not held up");
}

#[tokio::test(start_paused = true)]
async fn a_run_is_driven_by_name_unless_it_is_held_or_over() {
    let world = World::new();
    world.create("r", json!([])).await;
    let (worker, token) = (world.worker("w"), CancellationToken::new());
    let claim = runstate_store::Claim::of("r", "somebody", Duration::from_secs(5));
    world.store.claim(&claim).await.unwrap();
    let held = worker.run_one(&*world.host, "r", token.clone()).await.unwrap_err();
    assert!(
        matches!(held, StoreError::Held { holder, left, .. } if holder == "somebody" && left.as_secs() == 5)
    );
    tokio::time::sleep(Duration::from_secs(5)).await;
    let ended = worker.run_one(&*world.host, "r", token.clone()).await.unwrap();
    assert!(matches!(ended, Ended::Over(TerminationReason::NaturalEnd)), "{ended}");
    // Again: it is over, and stays as it is.
    let before = world.loaded("r").await;
    worker.run_one(&*world.host, "r", token.clone()).await.unwrap();
    assert_eq!(world.loaded("r").await, before);
    assert_eq!(world.ledger().all(), ["r over: natural_end", "r over: natural_end"]);
    let none = worker.run_one(&*world.host, "x", token).await.unwrap_err();
    assert_eq!(none.to_string(), "there is no run \"x\"");
}

/// Prepares runs as [`Scripts`] does, and ends a test in which one is prepared again and again.
struct Counting(Arc<Scripts>);

#[async_trait]
impl Executor for Counting {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        self.0.ledger.note(format!("{} prepared", run.info.id));
        assert!(self.0.ledger.all().len() < 100, "{:?}", self.0.ledger.all());
        self.0.prepare(run).await
    }

    fn ended(&self, run: &str, ended: &Ended) {
        self.0.ended(run, ended);
    }
}

/// A store gives such a run again at once, and before each that was made later.
#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_driven_is_tried_once() {
    let world = World::new();
    let bad = ["bad-1", "bad-2"];
    for run in bad {
        world.create(run, json!("no script")).await;
    }
    world.create("good", json!([])).await;
    let worker = world.worker("w").retry_delay(Duration::ZERO).concurrency(1);
    worker.run_ready(&Counting(world.host.clone())).await.unwrap();
    assert_eq!(world.status("good").await, "Done natural_end");
    for run in bad {
        assert_eq!(world.ledger().count(&format!("{run} prepared")), 1);
        let info = world.loaded(run).await.info;
        assert!(info.problem.is_some() && !info.is_set_aside(), "{info:?}");
    }
    // The next time they are tried again.
    tokio::time::sleep(Duration::from_secs(1)).await;
    worker.run_ready(&Counting(world.host.clone())).await.unwrap();
    bad.iter().for_each(|run| assert_eq!(world.ledger().count(&format!("{run} prepared")), 2));
}
