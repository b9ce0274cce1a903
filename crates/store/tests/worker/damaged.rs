//! Runs that cannot be read: the worker tells of each once, and goes on with the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use runstate_agent::async_trait;
use runstate_runtime::clock::TokioClock;
use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{Ended, Executor, ExecutorError, FileStore, JobSpec, Loaded};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{Scripts, World, call};

/// A world whose runs are in files, and where those of a run are.
fn in_files() -> (World, SimDisk, impl Fn(&str, &str) -> PathBuf) {
    let disk = SimDisk::new();
    let store = FileStore::on(Arc::new(disk.clone()), "/store").unwrap();
    let store = store.with_clock(TokioClock::starting_at(0)).patience(Duration::from_millis(3));
    let places = store.clone();
    (World::on(Arc::new(store)), disk, move |run: &str, name: &str| places.folder_of(run).join(name))
}

fn put(disk: &SimDisk, path: &Path, content: &[u8]) {
    disk.open(path, Open::Write).unwrap().write(content).unwrap();
}

fn troubles(world: &World) -> Vec<String> {
    world.ledger().all().into_iter().filter(|noted| noted.starts_with("trouble: ")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_damaged_run_is_told_once_and_the_others_are_driven() {
    let (world, disk, file) = in_files();
    for run in ["a", "bad", "c"] {
        world.create(run, json!([])).await;
    }
    put(&disk, &file("bad", "state.json"), b"{");
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w"), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    // Some hundred looks for work.
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(
        (world.status("a").await, world.status("c").await),
        ("Done natural_end".into(), "Done natural_end".into())
    );
    let told = troubles(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("state.json: EOF") && told[0].contains("restore"), "{told:?}");

    // One that is damaged while the worker is at work is another one.
    world.create("later", json!([[call("x", "once", json!({ "ask": 1_u64 << 40 }))]])).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.status("later").await, "Waiting suspended");
    put(&disk, &file("later", "state.json"), b"");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(troubles(&world).len(), 2, "{:?}", troubles(&world));
    world.create("last", json!([])).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.status("last").await, "Done natural_end");
    drain.cancel();
    working.await.unwrap().unwrap();
}

/// Its timer cannot be answered: it stays due, and is no reason to leave the others.
#[tokio::test(start_paused = true)]
async fn unrecordable_expiry_delays_no_other_run() {
    let (world, disk, file) = in_files();
    for run in ["bad", "good"] {
        world.create(run, json!([[call("x", "once", json!({ "ask": 50_000 }))]])).await;
    }
    world.worker("w").run_ready(&*world.host).await.unwrap();
    // The state says that there are decisions, and they are garbled.
    let state = String::from_utf8(disk.read(&file("bad", "state.json"), u64::MAX).unwrap()).unwrap();
    let at = state.find("\"decisions\"").unwrap();
    let garbled = state[at..].replacen("\"bytes\": 0", "\"bytes\": 4", 1);
    put(&disk, &file("bad", "state.json"), format!("{}{garbled}", &state[..at]).as_bytes());
    put(&disk, &file("bad", "decisions.jsonl"), b"{]}\n");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let host = &*world.host;
    world.worker("w").run_ready(host).await.unwrap();
    assert_eq!(world.status("good").await, "Done natural_end", "its call was given up");
    let told = troubles(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("decisions.jsonl: line 1"), "{told:?}");
    assert_eq!(world.store.due(10).await.unwrap().len(), 1);
}

/// A log that cannot be read is found when the run is taken in hand: it is put off, and says why in lists.
#[tokio::test(start_paused = true)]
async fn run_with_a_damaged_log_is_deferred_with_its_problem() {
    let (world, disk, file) = in_files();
    for run in ["bad", "good"] {
        world.create(run, json!([])).await;
    }
    put(&disk, &file("bad", "spec.json"), b"{");
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("good").await, "Done natural_end");
    let runs = world.store.runs(&runstate_store::RunQuery::all(10)).await.unwrap();
    let bad = runs.iter().find(|run| run.id == "bad").unwrap();
    assert!(bad.problem.as_ref().unwrap().contains("spec.json: EOF"), "{bad:?}");
    assert_eq!((bad.not_before, &bad.holder), (Some(Duration::from_secs(60)), &None));
}

/// Drives the runs of a world until `good` is over, and drains. Gives what it told.
async fn worked(world: &World) -> Vec<String> {
    let drain = CancellationToken::new();
    let (worker, host, token) = (world.worker("w"), world.host.clone(), drain.clone());
    let working = tokio::spawn(async move { worker.run(&*host, token).await });
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.status("good").await, "Done natural_end");
    world.create("later", json!([])).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.status("later").await, "Done natural_end");
    drain.cancel();
    working.await.unwrap().unwrap();
    troubles(world)
}

/// A process was stopped in the midst of an operation, and the lease that it had is over.
#[tokio::test(start_paused = true)]
async fn run_with_a_held_lock_delays_no_other_run() {
    let (world, disk, file) = in_files();
    let asks = json!([[call("x", "once", json!({ "ask": 50_000 }))]]);
    for run in ["waits", "good"] {
        world.create(run, asks.clone()).await;
    }
    world.worker("w").run_ready(&*world.host).await.unwrap();
    world.create("ready", json!([])).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let locks = ["ready", "waits"].map(|run| lock_of(&file(run, "")));
    let mut held = locks.each_ref().map(|path| disk.open(path, Open::Append).unwrap());
    held.iter_mut().for_each(|lock| lock.try_lock().unwrap());
    let told = worked(&world).await;
    assert_eq!(told.len(), 2, "{told:?}");
    for path in &locks {
        let about = told.iter().filter(|said| said.contains(path.to_str().unwrap()));
        assert!(about.clone().count() == 1 && about.clone().all(|said| said.contains("end it")), "{told:?}");
    }
    drop(held);
    world.worker("w").run_ready(&*world.host).await.unwrap();
    for run in ["ready", "waits"] {
        assert_eq!(world.status(run).await, "Done natural_end", "{run}");
    }
}

fn lock_of(folder: &Path) -> PathBuf {
    Path::new("/store/locks").join(format!("{}.lock", folder.file_name().unwrap().to_str().unwrap()))
}

/// A run that another user made.
#[tokio::test(start_paused = true)]
async fn a_run_that_may_not_be_written_ends_no_worker() {
    for (run, steps) in
        [("new", json!([])), ("waits", json!([[call("x", "once", json!({ "ask": 50_000 }))]]))]
    {
        let (world, disk, file) = in_files();
        world.create("waits", steps).await;
        world.worker("w").run_ready(&*world.host).await.unwrap();
        if run == "new" {
            world.create(run, json!([])).await;
        }
        world.create("good", json!([])).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let lock = lock_of(&file(run, ""));
        disk.remove(&lock).unwrap();
        disk.create_folder(&lock).unwrap();
        let told = worked(&world).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].contains(lock.to_str().unwrap()) && told[0].contains("can read and write"),
            "{told:?}"
        );
    }
}

/// As where what it works on is gone for good: else nothing would ever end it.
#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_prepared_can_be_cancelled() {
    let world = World::new();
    world.create("new", json!("no script")).await;
    world.create("waits", json!([[call("a", "once", json!({ "ask": true }))]])).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("waits").await, "Waiting suspended");
    let lost = LostHost(world.host.clone());
    for run in ["new", "waits"] {
        assert!(world.store.cancel(run, "its folder is gone").await.unwrap());
    }
    // The first was put off for a while.
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    world.worker("w").run_ready(&lost).await.unwrap();
    for run in ["new", "waits"] {
        assert_eq!(world.status(run).await, "Done cancelled", "{:?}", world.ledger().all());
        world.is_sound(run).await;
    }
    assert_eq!(world.ledger().all().iter().filter(|noted| noted.ends_with("began")).count(), 0);
}

/// It has nothing any more that it could drive a run with.
struct LostHost(Arc<Scripts>);

#[async_trait]
impl Executor for LostHost {
    async fn prepare(&self, _: &Loaded) -> Result<JobSpec, ExecutorError> {
        Err(ExecutorError::new("its folder is gone"))
    }

    fn ended(&self, run: &str, ended: &Ended) {
        self.0.ended(run, ended);
    }
}

/// Rows say that runs can go on which wait. Each is claimed once in the poll time, and not again and again.
#[tokio::test(start_paused = true)]
async fn run_of_a_claim_without_progress_is_deferred() {
    let (world, disk, file) = in_files();
    world.create("parked", json!([[call("x", "once", json!({ "ask": 1_u64 << 40 }))]])).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("parked").await, "Waiting suspended");
    let state = file("parked", "state.json");
    let forge = || {
        let mut json: serde_json::Value =
            serde_json::from_slice(&disk.read(&state, u64::MAX).unwrap()).unwrap();
        json["status"] = "Running".into();
        put(&disk, &state, json.to_string().as_bytes());
    };
    forge();
    let claims = || {
        let json: serde_json::Value = serde_json::from_slice(&disk.read(&state, u64::MAX).unwrap()).unwrap();
        json["fence"].as_u64().unwrap()
    };
    let before = claims();
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(claims(), before + 1);
    assert!(
        world
            .loaded("parked")
            .await
            .info
            .problem
            .unwrap()
            .contains("the list of the store has it as one that can go on")
    );
    let worker = world.worker("w");
    let driven = worker.run(&*world.host, CancellationToken::new());
    tokio::time::timeout(Duration::from_secs(10), driven).await.unwrap_err();
    // The poll time is 100 ms.
    assert!((50..=101).contains(&(claims() - before)), "{}", claims() - before);
    // Others go on beside it.
    world.create("fine", json!([])).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("fine").await, "Done natural_end");
}
