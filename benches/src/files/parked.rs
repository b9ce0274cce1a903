//! 10,000 runs that wait for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use runstate::run::RunStatus;
use runstate::store::{About, ApprovalQuery, Claim, Commit, FileStore, Release, RunQuery, RunStore};

use super::script::parked as taped;
use super::{Folder, median, new_run};

const RUNS: usize = 10_000;
const AT_ONCE: usize = 64;
/// For so long after a change a file may change again under the same time.
const SETTLE: Duration = Duration::from_secs(4);

pub async fn parked() {
    let folder = Folder::new();
    let store = Arc::new(folder.store());
    let commits = Arc::new(taped().await);
    assert_eq!(commits.last().map(|commit| commit.run.status), Some(RunStatus::Waiting));
    let began = Instant::now();
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|worker| {
            let (store, commits) = (Arc::clone(&store), Arc::clone(&commits));
            tokio::spawn(async move {
                for number in (worker..RUNS).step_by(AT_ONCE) {
                    park(&store, number, &commits).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task that ends");
    }
    println!("{RUNS} runs were made and parked in {:.1?}", began.elapsed());
    tokio::time::sleep(SETTLE).await;
    let store = Arc::new(folder.store());
    let began = Instant::now();
    assert_eq!(store.runs(&RunQuery::all(100)).await.expect("runs").len(), 100);
    println!("the first list of a process: {:.2?}", began.elapsed());
    look("a page of 100 runs", &store, |store| async move {
        assert_eq!(store.runs(&RunQuery::all(100)).await.expect("runs").len(), 100);
    })
    .await;
    look("a page of 100 waiting runs behind the 5,000th", &store, |store| async move {
        let mut query = RunQuery::status(RunStatus::Waiting, 100);
        query.behind = Some((5_000, String::new()));
        assert_eq!(store.runs(&query).await.expect("runs").len(), 100);
    })
    .await;
    look("a page of 100 approvals", &store, |store| async move {
        let page = store.approvals(&ApprovalQuery::new(About::All, 100)).await.expect("approvals");
        assert_eq!(page.len(), 100);
    })
    .await;
    look("the run of a call", &store, |store| async move {
        let about = About::Call("call-7777".to_owned());
        assert_eq!(store.approvals(&ApprovalQuery::new(about, 2)).await.expect("approvals").len(), 1);
    })
    .await;
    look("the run of a suspension", &store, |store| async move {
        let about = About::Suspension("suspension-7777".to_owned());
        assert_eq!(store.approvals(&ApprovalQuery::new(about, 2)).await.expect("approvals").len(), 1);
    })
    .await;
    look("100 timers that are due", &store, |store| async move {
        assert_eq!(store.due(5_000, 100).await.expect("timers").len(), 100);
    })
    .await;
    look("no timer is due", &store, |store| async move {
        assert_eq!(store.due(0, 100).await.expect("timers").len(), 0);
    })
    .await;
    look("nothing to claim", &store, |store| async move {
        let claim = Claim::any("bench", 1, 2);
        assert_eq!(store.claim(&claim).await.expect("no failure"), None);
    })
    .await;
    look("loading one", &store, |store| async move {
        assert!(store.load("run-5000").await.expect("a run").stored.is_some());
    })
    .await;
}

/// A run up to where it waits, under names of its own.
async fn park(store: &FileStore, number: usize, commits: &[Commit]) {
    let run = format!("run-{number}");
    let lease = new_run(store, &run, number as u64).await;
    for commit in commits {
        let mut commit = commit.clone();
        for call in &mut commit.calls {
            if let Some(waits) = &mut call.waits {
                call.id = format!("call-{number}");
                waits.suspension.id = format!("suspension-{number}");
                waits.suspension.expires_at_ms = Some(1 + number as u64);
            }
        }
        store.commit(&lease, &commit).await.expect("a commit");
    }
    store.release(&lease, &Release::clean()).await.expect("a release");
}

async fn look<F: Future<Output = ()>>(what: &str, store: &Arc<FileStore>, ask: impl Fn(Arc<FileStore>) -> F) {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..21 {
        let began = Instant::now();
        ask(Arc::clone(store)).await;
        times.push(began.elapsed());
    }
    let most = times.iter().max().copied().unwrap_or_default();
    println!("{what}: {:.2?}, at most {most:.2?}", median(times));
}
