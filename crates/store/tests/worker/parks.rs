//! Agents that would wait in place: a worker parks what waits all the same.

use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_runtime::clock::Clock;
use runstate_store::decide;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{World, call};

async fn that_ask(runs: usize) -> World {
    let world = World::new().waiting_in_place();
    for run in 0..runs {
        world.create(&format!("r{run}"), json!([[call("a", "once", json!({ "ask": true }))]])).await;
    }
    world
}

#[tokio::test(start_paused = true)]
async fn run_waiting_in_place_is_parked_and_resumes_once_decided() {
    let world = that_ask(1).await;
    let worker = world.worker("w");
    let worked = tokio::time::timeout(Duration::from_secs(60), worker.run_ready(&*world.host)).await;
    worked.expect("nothing more can go on").unwrap();
    assert_eq!(world.status("r0").await, "Waiting suspended");
    assert_eq!(world.loaded("r0").await.info.holder, None, "nobody holds what waits");
    let approve = Incoming::new("d1", "a", Resume).on("r0/a/1");
    let reply = decide(&*world.store, &approve, world.clock.now_ms(), &Unchecked).await.unwrap();
    assert_eq!(reply, Reply::Accepted);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("r0").await, "Done natural_end");
    assert_eq!(world.ledger().all(), ["r0 waits for a", "a began", "a ended", "r0 over: natural_end"]);
    world.is_sound("r0").await;
}

#[tokio::test(start_paused = true)]
async fn many_that_would_wait_in_place_leave_room_for_others() {
    let world = that_ask(5).await;
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w").concurrency(2), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    world.create("other", json!([])).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.status("other").await, "Done natural_end");
    for run in 0..5 {
        assert_eq!(world.status(&format!("r{run}")).await, "Waiting suspended");
    }
    drain.cancel();
    tokio::time::timeout(Duration::from_secs(1), working).await.expect("a drain").unwrap().unwrap();
}
