//! Very many runs that wait for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use runstate::run::RunStatus;
use runstate_store::{ApprovalFilter, ApprovalQuery, Claim, Release, RunQuery, RunStore};

use super::script::parked as taped;
use super::subject::{Folder, Subject};
use super::{median, new_run};

const AT_ONCE: usize = 256;
/// For so long after a change a file may change again under the same time.
const SETTLE: Duration = Duration::from_secs(4);

pub async fn parked(subject: Subject) {
    let folder = Folder::new();
    let runs = subject.parked();
    let (some, half) = (runs / 9 * 7, runs / 2);
    let store = subject.open(&folder);
    let commits = Arc::new(taped().await);
    assert_eq!(commits.last().map(|commit| commit.run.status), Some(RunStatus::Waiting));
    let began = Instant::now();
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|worker| {
            let (store, commits) = (Arc::clone(&store), Arc::clone(&commits));
            tokio::spawn(async move {
                for number in (worker..runs).step_by(AT_ONCE) {
                    park(&*store, number, &commits).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task that ends");
    }
    println!("{runs} runs were made and parked in {:.1?}", began.elapsed());
    tokio::time::sleep(SETTLE).await;
    drop(store);
    let store = subject.open(&folder);
    let began = Instant::now();
    assert_eq!(store.runs(&RunQuery::all(100)).await.expect("runs").len(), 100);
    println!("the first list of a process: {:.2?}", began.elapsed());
    look("a page of 100 runs", &store, |store| async move {
        assert_eq!(store.runs(&RunQuery::all(100)).await.expect("runs").len(), 100);
    })
    .await;
    look("a page of 100 waiting runs in the middle", &store, |store| async move {
        let mut query = RunQuery::status(RunStatus::Waiting, 100);
        query.after = Some((half as u64, String::new()));
        assert_eq!(store.runs(&query).await.expect("runs").len(), 100);
    })
    .await;
    look("a page of 100 approvals", &store, |store| async move {
        let page = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 100)).await.expect("approvals");
        assert_eq!(page.len(), 100);
    })
    .await;
    look("the run of a call", &store, |store| async move {
        let about = ApprovalFilter::Call(format!("call-{some}"));
        assert_eq!(store.approvals(&ApprovalQuery::new(about, 2)).await.expect("approvals").len(), 1);
    })
    .await;
    look("the run of a suspension", &store, |store| async move {
        let about = ApprovalFilter::Suspension(format!("suspension-{some}"));
        assert_eq!(store.approvals(&ApprovalQuery::new(about, 2)).await.expect("approvals").len(), 1);
    })
    .await;
    look("100 timers that are due", &store, |store| async move {
        assert_eq!(store.due(100).await.expect("timers").len(), 100);
    })
    .await;
    look("nothing to claim", &store, |store| async move {
        let claim = Claim::any("bench", std::time::Duration::from_millis(1));
        assert_eq!(store.claim(&claim).await.expect("no failure"), None);
    })
    .await;
    look("loading one", &store, |store| async move {
        assert!(store.load(&format!("run-{half}")).await.expect("a run").stored.is_some());
    })
    .await;
}

/// A run up to where it waits, under names of its own.
async fn park(store: &dyn RunStore, number: usize, commits: &[runstate_store::Commit]) {
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

async fn look<F: Future<Output = ()>>(
    what: &str,
    store: &Arc<dyn RunStore>,
    ask: impl Fn(Arc<dyn RunStore>) -> F,
) {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..21 {
        let began = Instant::now();
        ask(Arc::clone(store)).await;
        times.push(began.elapsed());
    }
    let most = times.iter().max().copied().unwrap_or_default();
    println!("{what}: {:.2?}, at most {most:.2?}", median(times));
}
