//! A worker that is stopped for longer than its lease, and then goes on: one alone wins.

use std::path::Path;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_agent::{Durability, ExecutionMode};
use runstate_postgres_server::{Setup, for_tests};
use runstate_store::{NewRun, RunStore};
use runstate_torture::fault::Fault;
use runstate_torture::judge::judge;
use runstate_torture::kill::{Drivers, Options, Signal};
use runstate_torture::ledger::{Entries, Entry, Ledger, read};
use runstate_torture::open::open;
use runstate_torture::script::{Asks, Call, Script, Step, ToolName};
use serde_json::json;

/// So long the model thinks: within that its process is to be stopped.
const THINKS_MS: u64 = 5_000;
/// Longer than a driver needs until its model thinks. It is not renewed, and the other driver goes on once it is over.
const LEASE: Duration = Duration::from_secs(10);

const PROGRAM: &str = env!("CARGO_BIN_EXE_runstate-torture");

/// Reads the ledger until something is in it.
async fn until<T>(ledger: &Path, found: impl Fn(&Entries) -> Option<T>) -> T {
    for _ in 0..24_000 {
        if let Some(found) = found(&read(ledger).unwrap()) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let all = read::<Entry>(ledger).unwrap().all;
    panic!("it did not happen; in the end {:#?}", &all[all.len().saturating_sub(10)..]);
}

fn step(id: &str, think_ms: u64) -> Step {
    let tool = ToolName::Once;
    let call = Call { id: id.to_owned(), tool, ms: 0, fails: false, asks: Asks::Nobody, stands_ms: None };
    Step { think_ms, calls: vec![call] }
}

/// Stops a driver, for longer than its lease. One that was stopped while it held a lock that all writers need goes on for a moment:
/// nothing could be written before it does.
async fn stop(drivers: &Drivers, driver: usize, store: &dyn RunStore) {
    for _ in 0..50 {
        drivers.signal(driver, Signal::STOP).unwrap();
        // It writes nothing, and needs the lock.
        let removed = tokio::time::timeout(Duration::from_millis(500), store.remove("nobody")).await;
        if matches!(removed, Ok(Ok(false))) {
            return;
        }
        drivers.signal(driver, Signal::CONT).unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    panic!("it was never stopped without a lock");
}

async fn one_alone_wins(store: &str, folder: &Path) {
    let mut options = Options::new(PROGRAM, store, folder, 0, 0);
    options.lease = LEASE;
    // What it hears first when it goes on is what becomes of its commit: a renewal would be refused as well.
    options.fault = Some(Fault::Unrenewed);
    let ledger = options.ledger();
    let store = open(&options.store).await.unwrap();
    // It is stopped while the model thinks: what it does first when it goes on is to commit the answer.
    let steps = vec![step("before", 0), step("behind", THINKS_MS)];
    let script = Script { mode: ExecutionMode::Sequential, durability: Durability::Commit, steps };
    store.create(&NewRun::new("r1", json!(script), 0)).await.unwrap();
    Ledger::open(&ledger).unwrap().note(&Entry::Created { run: "r1".to_owned() }).unwrap();
    let drivers = Drivers::start(&options).unwrap();

    // Its result is durable, and the model thinks.
    let stopped = until(&ledger, |entries| {
        let ended = entries.all.iter().position(|entry| matches!(entry, Entry::Ended(_)))?;
        entries.all[ended..].iter().find_map(|entry| match entry {
            Entry::Committed(made) => Some(made.by.clone()),
            _ => None,
        })
    })
    .await;
    let number: usize = stopped[1..].parse().unwrap();
    stop(&drivers, number - 1, &*store).await;

    // The other one takes the run over, and brings it to its end.
    until(&ledger, |entries| {
        let ended =
            |entry: &&Entry| matches!(entry, Entry::GaveBack { why, .. } if why == "over: natural_end");
        entries.all.iter().find(ended).map(|_| ())
    })
    .await;
    drivers.signal(number - 1, Signal::CONT).unwrap();
    // The one that was stopped has an answer now, and believes that the run is its own.
    let refused = until(&ledger, |entries| {
        entries.all.iter().find_map(|entry| match entry {
            Entry::Refused { by, why, .. } => Some((by.clone(), why.clone())),
            _ => None,
        })
    })
    .await;
    assert_eq!(refused, (stopped.clone(), "fenced".to_owned()));
    assert_eq!(drivers.drain().await, []);

    let entries = read(&ledger).unwrap();
    let last = entries.all.iter().rev().find_map(|entry| match entry {
        Entry::Committed(made) => Some(made.by.clone()),
        _ => None,
    });
    assert_ne!(last, Some(stopped), "the other one made the last commit");
    let behind =
        entries.all.iter().filter(|entry| matches!(entry, Entry::Began(it) if it.call == "behind")).count();
    assert_eq!(behind, 1, "one of them alone went on");
    assert_eq!(store.load("r1").await.unwrap().info.status, RunStatus::Done);
    let judged = judge(&*store, &entries).await;
    assert_eq!(judged.violations, []);
    assert_eq!((judged.facts.fenced, judged.facts.taken_over), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_is_fenced_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("runs.db").display());
    one_alone_wins(&store, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_is_fenced_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("file:{}", folder.path().join("runs").display());
    one_alone_wins(&store, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_is_fenced_in_postgres() {
    let Some(server) = for_tests(Setup::new()) else { return };
    let folder = tempfile::tempdir().unwrap();
    one_alone_wins(&server.url("postgres"), folder.path()).await;
}
