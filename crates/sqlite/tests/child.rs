//! This test program, as another process.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{Claim, Posted, Release, RunStore, StoreError, decide};
use rusqlite::Connection;

use crate::drive::{Plot, commits, create, drive, drive_under, waiting};

const ROLE: &str = "RUNSTATE_TEST_ROLE";
const FILE: &str = "RUNSTATE_TEST_FILE";

/// The arguments that make this program a child.
pub(crate) const ARGS: [&str; 4] = ["--exact", "child::child", "--ignored", "--nocapture"];

pub(crate) fn command(program: &Path, role: &str, file: &Path) -> Command {
    let mut command = Command::new(program);
    command.env(ROLE, role).env(FILE, file);
    command
}

/// A process in that role, which begins once it is told.
pub(crate) fn start(role: &str, file: &Path) -> Child {
    let mut command = command(&std::env::current_exe().unwrap(), role, file);
    command.args(ARGS).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn go(children: &mut [Child]) {
    for child in children {
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
}

/// What each of them said: the lines that begin with `told `, without that.
pub(crate) fn told(children: Vec<Child>) -> Vec<Vec<String>> {
    let told = children.into_iter().map(|child| {
        let said = child.wait_with_output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let text = String::from_utf8(said.stdout).unwrap();
        text.lines().filter_map(|line| Some(line.split_once("told ")?.1.to_owned())).collect()
    });
    told.collect()
}

#[ignore = "what other tests start as a process of its own"]
#[tokio::test]
async fn child() {
    let (role, file) = (std::env::var(ROLE).unwrap(), std::env::var(FILE).unwrap());
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let path = Path::new(&file);
    match role.split_once(' ').unwrap_or((&*role, "")) {
        ("steal", _) => steal(path).await,
        ("work", name) => work(path, name).await,
        ("grab", _) => grab(path).await,
        ("decide", name) => decides(path, name).await,
        ("commit", number) => commit(path, number.parse().unwrap()).await,
        ("group", number) => group(path, number.parse().unwrap()).await,
        ("receive", number) => receive(path, number.parse().unwrap()).await,
        ("open", _) => drop(open(path)),
        #[cfg(feature = "service")]
        ("service", "changes") => crate::services::kills::change_as_child(path).await,
        #[cfg(feature = "service")]
        ("service", "") => crate::services::create_as_child(path).await,
        #[cfg(feature = "service")]
        ("service", number) => {
            crate::services::kills::change_so_often(path, number.parse().unwrap()).await;
        }
        other => panic!("{other:?}"),
    }
}

/// The store, for many who write at once.
pub(crate) fn open(path: &Path) -> Arc<dyn RunStore> {
    Arc::new(SqliteStore::open_with(path, patient()).unwrap())
}

/// One of many writers may have to wait for long, on a slow disk.
pub(crate) fn patient() -> Options {
    Options::default().busy_timeout(Duration::from_secs(60))
}

/// Takes over a run whose lease is over, and drives it to its end.
async fn steal(path: &Path) {
    let store = open(path);
    let lease = store.claim(&Claim::of("r1", "thief", Duration::MAX)).await.unwrap().unwrap();
    drive_under(&store, &lease, Plot::of(3, 1)).await;
    println!("told {}", lease.fence);
}

/// Drives what can go on, until nothing can.
async fn work(path: &Path, name: &str) {
    let store = open(path);
    while let Some(lease) = store.claim(&Claim::any(name, Duration::MAX)).await.unwrap() {
        drive_under(&store, &lease, Plot::of(2, 1)).await;
        store.release(&lease, &Release::clean()).await.unwrap();
        println!("told {} {}", lease.run, lease.fence);
    }
}

/// Takes what it can of runs by name.
async fn grab(path: &Path) {
    let store = open(path);
    for number in 0..RUNS {
        match store.claim(&Claim::of(format!("r{number}"), "me", Duration::MAX)).await {
            Ok(lease) => println!("told {} {}", number, lease.unwrap().fence),
            Err(StoreError::Held { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

pub(crate) const RUNS: usize = 40;
pub(crate) const CLIENTS: usize = 8;

/// So many clients, each of which wants to have the say about every call that waits.
async fn decides(path: &Path, name: &str) {
    let store = open(path);
    let all = Arc::new(waiting(&store).await);
    let clients = (0..CLIENTS).map(|client| {
        let (store, all, id) = (Arc::clone(&store), Arc::clone(&all), format!("{name}-{client}"));
        tokio::spawn(async move {
            // Each begins elsewhere.
            let from = client * all.len() / CLIENTS;
            for approval in all[from..].iter().chain(&all[..from]) {
                let action = [DecisionAction::Resume, DecisionAction::Cancel][client % 2];
                let suspension = &approval.suspension.id;
                let mut incoming = Incoming::new(format!("{id}/{suspension}"), &*approval.call, action);
                incoming.run_id = Some(approval.run.clone());
                incoming.suspension_id = Some(suspension.clone());
                match decide(&*store, &incoming, 5, &Unchecked).await.unwrap() {
                    Reply::Accepted => println!("told {}", incoming.decision_id),
                    Reply::Conflict(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

/// So many commits, one after the other.
async fn commit(path: &Path, number: usize) {
    let store = open(path);
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "me", Duration::MAX)).await.unwrap().unwrap();
    let plot = Plot::of(number.max(1), 1);
    for commit in commits(plot).await.iter().take(number) {
        store.commit(&lease, commit).await.unwrap();
    }
}

/// Runs that all commit so often, all at the same time.
async fn group(path: &Path, number: usize) {
    let store = open(path);
    let all = Arc::new(commits(Plot::of(number.max(1), 1)).await);
    let mut leases = Vec::new();
    for run in 0..64 {
        let run = format!("r{run}");
        create(&store, &run).await;
        leases.push(store.claim(&Claim::of(run, "me", Duration::MAX)).await.unwrap().unwrap());
    }
    for number in 0..number {
        let other = Connection::open(path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let tasks: Vec<_> = leases
            .iter()
            .map(|lease| {
                let (store, all, lease) = (Arc::clone(&store), Arc::clone(&all), lease.clone());
                tokio::spawn(async move { store.commit(&lease, &all[number]).await.unwrap() })
            })
            .collect();
        polled().await;
        other.execute_batch("ROLLBACK").unwrap();
        for task in tasks {
            task.await.unwrap();
        }
    }
}

/// Of calls that wait, so many decisions, one after the other; and as many runs that come and are to be cancelled.
async fn receive(path: &Path, number: usize) {
    let store = open(path);
    create(&store, "r1").await;
    drive(&store, "r1", Plot::asking(1, RECEIVED)).await;
    for approval in waiting(&store).await.iter().take(number) {
        let mut decision = Decision::new(&approval.call, &approval.suspension.id, DecisionAction::Resume);
        decision.run_id.clone_from(&approval.run);
        decision.call.clone_from(&approval.call);
        assert_eq!(store.post(&decision).await.unwrap(), Posted::Accepted);
        create(&store, &approval.call).await;
        assert!(store.cancel(&approval.call, "not needed").await.unwrap());
    }
}

pub(crate) const RECEIVED: u32 = 100;

/// All tasks that were spawned have had their turn: their requests are in the queue. One turn of this one is not enough, since
/// tokio looks after it each 61 of them.
pub(crate) async fn polled() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}
