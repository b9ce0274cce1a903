//! Runs that end the process that drives them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use runstate_agent::{CancellationToken, async_trait};
use runstate_store::{
    Claim, Executor, ExecutorError, JobSpec, Loaded, MemoryStore, Release, RunData, RunStore, StoreError,
    Wrapper,
};
use serde_json::json;

use super::world::{Sleeper, World};

/// Never says what a run called `poison` is driven with: a worker that asks is stuck, and its end is that of a process that died.
struct Deadly<'w>(&'w World);

#[async_trait]
impl Executor for Deadly<'_> {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        if run.info.id == "poison" {
            self.0.ledger().note("prepared");
            std::future::pending::<()>().await;
        }
        self.0.host.prepare(run).await
    }
}

/// Workers that end one after the other, each with the run in hand.
async fn ended(world: &World, workers: usize) {
    for worker in 0..workers {
        let name = format!("worker-{worker}");
        let (worker, host) = (world.worker(&name), Deadly(world));
        let driven = worker.run(&host, CancellationToken::new());
        tokio::time::timeout(Duration::from_secs(40), driven).await.unwrap_err();
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ended_two_workers_is_set_aside() {
    let world = World::new();
    world.create("poison", json!([])).await;
    ended(&world, 3).await;
    assert_eq!(world.ledger().count("prepared"), 2, "the third worker does not touch it");
    let info = world.loaded("poison").await.info;
    assert!(info.is_set_aside(), "{info:?}");
    let problem = info.problem.unwrap();
    assert!(problem.starts_with("it is set aside: 2 processes in a row have ended"), "{problem}");
    // Others go on beside it.
    world.create("fine", json!([])).await;
    world.worker("w").run_ready(&Deadly(&world)).await.unwrap();
    assert_eq!(world.status("fine").await, "Done natural_end");
    assert_eq!(world.ledger().count("prepared"), 2);
}

/// A store in which the run `poison` is never read to its end.
#[derive(Debug)]
struct Endless {
    store: MemoryStore,
    asked: AtomicUsize,
}

#[async_trait]
impl Wrapper for Endless {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        if run == "poison" {
            self.asked.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
        }
        self.store.load(run).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_workers_while_it_is_loaded_is_set_aside() {
    let machine = Sleeper::new();
    let store = MemoryStore::with_clock(machine.clone());
    let store = Arc::new(Endless { store, asked: AtomicUsize::new(0) });
    let world = World::by(machine, Arc::clone(&store) as Arc<dyn RunStore>);
    world.create("poison", json!([])).await;
    world.create("fine", json!([])).await;
    ended(&world, 4).await;
    assert_eq!(store.asked.load(Ordering::Relaxed), 2, "the third worker does not load it");
    assert_eq!(world.status("fine").await, "Done natural_end");
    let info = store.store.load("poison").await.unwrap().info;
    assert!(info.is_set_aside(), "{info:?}");
    // Its end is tried once.
    world.store.cancel("poison", "it ends workers").await.unwrap();
    ended(&world, 3).await;
    assert_eq!(store.asked.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_given_back_is_driven_again() {
    let world = World::new();
    world.create("poison", json!([])).await;
    ended(&world, 3).await;
    let lease = world.store.claim(&Claim::of("poison", "ada", Duration::MAX)).await.unwrap().unwrap();
    world.store.release(&lease, &Release::clean().with_lost_claims_reset()).await.unwrap();
    let info = world.loaded("poison").await.info;
    assert_eq!((info.lost, info.problem, info.not_before), (0, None, None));
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("poison").await, "Done natural_end");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_set_aside_is_cancelled_without_being_driven() {
    let world = World::new();
    world.create("poison", json!([])).await;
    ended(&world, 3).await;
    assert!(world.loaded("poison").await.info.is_set_aside());
    // Though it is put off.
    world.store.cancel("poison", "it ends workers").await.unwrap();
    world.worker("w").run_ready(&Deadly(&world)).await.unwrap();
    assert_eq!(world.status("poison").await, "Done cancelled");
    assert_eq!(world.ledger().count("prepared"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_worker_can_be_told_to_go_on_for_longer() {
    let world = World::new();
    world.create("poison", json!([])).await;
    ended(&world, 3).await;
    let worker = world.worker("w").set_aside_after(3);
    let host = Deadly(&world);
    let driven = worker.run(&host, CancellationToken::new());
    tokio::time::timeout(Duration::from_secs(100), driven).await.unwrap_err();
    assert_eq!(world.ledger().count("prepared"), 3);
}

/// A worker that ends while tools execute, after this time.
async fn killed(world: &World, after: Duration) {
    let worker = world.worker("w");
    let driven = worker.run(&*world.host, CancellationToken::new());
    tokio::time::timeout(after, driven).await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Each claim commits that the tool starts again. No step ends.
#[tokio::test(start_paused = true)]
async fn a_run_that_ends_workers_in_a_tool_is_set_aside() {
    let world = World::new();
    world.create("poison", json!([[{"id": "p", "tool": "again", "with": {"ms": 1_000_000_000_u64}}]])).await;
    for _ in 0..5 {
        killed(&world, Duration::from_secs(40)).await;
    }
    assert_eq!(world.ledger().count("p began"), 2, "{:?}", world.ledger().all());
    let info = world.loaded("poison").await.info;
    assert!(info.is_set_aside() && info.version > 1, "{info:?}");
}

/// A process ends with all runs that it has in hand. Those that did no harm are not set aside.
#[tokio::test(start_paused = true)]
async fn runs_beside_one_that_ends_workers_come_to_their_end() {
    let world = World::new();
    let slow = |id: &str, ms: u64| json!([[{"id": id, "tool": "again", "with": {"ms": ms}}]]);
    world.create("poison", slow("p", 1_000_000_000)).await;
    world.create("slow", slow("s", 50_000)).await;
    killed(&world, Duration::from_secs(40)).await;
    let lost = async |run: &str| world.loaded(run).await.info.lost;
    killed(&world, Duration::from_secs(40)).await;
    assert_eq!((world.ledger().count("p began"), world.ledger().count("s began")), (2, 1), "one at a time");
    killed(&world, Duration::from_secs(200)).await;
    assert_eq!(world.status("slow").await, "Done natural_end");
    assert_eq!(world.ledger().count("p began"), 2);
    assert_eq!(lost("poison").await, 2);
}

/// The runs of a process that ended follow one another by their first steps, and not by their ends or retry delays.
#[tokio::test(start_paused = true)]
async fn runs_of_an_ended_process_continue_step_by_step() {
    let world = World::new();
    let step = |id: String| json!([{"id": id, "tool": "again", "with": {"ms": 5_000}}]);
    let runs = ["r1", "r2", "r3", "r4"];
    for run in runs {
        world.create(run, json!([step(format!("{run}a")), step(format!("{run}b"))])).await;
    }
    killed(&world, Duration::from_secs(3)).await;
    killed(&world, Duration::from_secs(40)).await;
    for run in runs {
        assert_eq!(world.status(run).await, "Done natural_end", "{run}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_clears_a_run() {
    let world = World::new();
    let step = |id: &str| json!([{"id": id, "tool": "again", "with": {"ms": 30_000}}]);
    world.create("long", json!([step("a"), step("b"), step("c"), step("d"), step("e")])).await;
    // Each of six lives is long enough for one step, and for no more.
    for _ in 0..6 {
        killed(&world, Duration::from_secs(40)).await;
        assert!(world.loaded("long").await.info.lost <= 1);
    }
    assert_eq!(world.status("long").await, "Done natural_end");
}
