//! Several workers on one store, and one that is told to stop.

use std::time::Duration;

use runstate_runtime::clock::Clock;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::faulty::Faulty;
use super::world::{World, call};

#[tokio::test(start_paused = true)]
async fn two_workers_share_the_runs_and_each_is_driven_once() {
    let world = World::new();
    for number in 0..50 {
        world.create(&format!("r{number}"), json!([[call("a", "once", json!({ "ms": 10 }))]])).await;
    }
    let drain = CancellationToken::new();
    let workers = ["w1", "w2"].map(|name| {
        let (worker, host, drain) = (world.worker(name).concurrency(4), world.host.clone(), drain.clone());
        tokio::spawn(async move { worker.run(&*host, drain).await })
    });
    tokio::time::sleep(Duration::from_secs(10)).await;
    drain.cancel();
    for worker in workers {
        worker.await.unwrap().unwrap();
    }
    for number in 0..50 {
        let run = format!("r{number}");
        assert_eq!(world.status(&run).await, "Done natural_end");
        world.is_sound(&run).await;
    }
    assert_eq!((world.ledger().count("a began"), world.ledger().count("a ended")), (50, 50));
}

#[tokio::test(start_paused = true)]
async fn paused_worker_finds_its_run_taken_and_writes_nothing() {
    let store = Faulty::new();
    let world = World::on(store.clone());
    let steps = json!([[call("a", "again", json!({ "ms": 50_000 }))], [call("b", "once", json!({}))]]);
    world.create("r", steps).await;
    // Its renewals do not arrive, as if it was stopped.
    *store.paused.lock().unwrap() = true;
    let (worker, host) = (world.worker("paused"), world.host.clone());
    let paused = tokio::spawn(async move { worker.run_ready(&*host).await });
    tokio::time::sleep(Duration::from_secs(29)).await;
    world.worker("other").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.ledger().count("a began"), 1, "until its lease is over the run is its own");
    tokio::time::sleep(Duration::from_secs(2)).await;
    *store.paused.lock().unwrap() = false;
    let (worker, host) = (world.worker("other"), world.host.clone());
    let other = tokio::spawn(async move { worker.run_ready(&*host).await });
    paused.await.unwrap().unwrap();
    other.await.unwrap().unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    assert_eq!(world.ledger().count("b began"), 1, "one of them alone went on: {:?}", world.ledger().all());
    let fenced =
        world.ledger().all().iter().filter(|noted| noted.contains("was taken by another holder")).count();
    assert_eq!(fenced, 1);
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn run_of_a_killed_worker_moves_on_with_its_call_in_doubt() {
    let world = World::new();
    world.create("r", json!([[call("a", "once", json!({ "ms": 5_000 }))]])).await;
    {
        let worker = world.worker("killed");
        let working = worker.run_ready(&*world.host);
        tokio::time::timeout(Duration::from_secs(1), working).await.unwrap_err();
    }
    assert_eq!(world.ledger().all(), ["a began"]);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.ledger().all(), ["a began"], "it is leased as if it lived");
    tokio::time::sleep(Duration::from_secs(30)).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Waiting suspended");
    let approvals = world
        .store
        .approvals(&runstate_store::ApprovalQuery::new(runstate_store::ApprovalFilter::All, 9))
        .await;
    assert_eq!(approvals.unwrap()[0].suspension.action, "in_doubt");
    assert_eq!(world.ledger().count("a began"), 1);
    world.is_sound("r").await;
}

#[tokio::test(start_paused = true)]
async fn drained_worker_stops_between_calls_and_another_continues() {
    let world = World::new();
    let steps = json!([
        [call("a", "once", json!({ "ms": 4_000 })), call("b", "once", json!({ "ms": 9_000 }))],
        [call("c", "once", json!({}))],
    ]);
    world.create("r", steps).await;
    world.create("z", json!([])).await;
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w").concurrency(1), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    drain.cancel();
    working.await.unwrap().unwrap();
    assert_eq!(world.clock.now_ms(), 9_000, "it let both calls end");
    assert!(world.ledger().all().contains(&"r given back, to go on elsewhere".to_owned()));
    assert_eq!(world.ledger().count("c began"), 0);
    let info = world.loaded("r").await.info;
    assert_eq!((info.holder, info.not_before), (None, None));
    assert_eq!(world.loaded("z").await.info.version, 0, "it claimed nothing more");

    world.worker("next").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r").await, "Done natural_end");
    for id in ["a", "b", "c"] {
        assert_eq!(world.ledger().count(&format!("{id} began")), 1);
    }
    world.is_sound("r").await;
}
