//! A long run: what a commit costs early and late, bytes on disk, and reading it back.

use std::time::{Duration, Instant};

use runstate_store::{Commit, Lease, RunStore};

use super::script::{commits as taped, text};
use super::subject::{Folder, Subject};
use super::{median, new_run};

const STEPS: usize = 10_000;
/// Steps that are looked at, and how many runs begin beside them.
const AROUND: usize = 20;
const BESIDE: usize = 6;

pub async fn depth(subject: Subject) {
    let folder = Folder::new();
    let store = subject.open(&folder);
    let commits = taped(STEPS as u32).await;
    let per_step = commits.len() / STEPS;
    let (long, last) = commits.split_at((STEPS - AROUND * BESIDE) * per_step);
    let lease = new_run(&*store, "run", 0).await;
    let mut sizes = Vec::with_capacity(STEPS);
    for step in long.chunks(per_step) {
        for commit in step {
            store.commit(&lease, commit).await.expect("a commit");
        }
        sizes.push(folder.size());
    }
    // The last steps of the long run and the first of others in turns, since the disk is not the same from one second to the
    // next.
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (beside, last) in last.chunks(AROUND * per_step).take(BESIDE).enumerate() {
        let young = new_run(&*store, &format!("run-{beside}"), 0).await;
        for (first, last) in commits.iter().zip(last) {
            early.push(made(&*store, &young, first).await);
            late.push(made(&*store, &lease, last).await);
        }
    }
    let (early, late) = (median(early), median(late));
    println!(
        "a commit in the first {AROUND} steps: {early:.2?}, in those up to {STEPS}: {late:.2?}, ratio {:.2}; \
         {per_step} commits a step",
        late.as_secs_f64() / early.as_secs_f64()
    );
    let grown = |from: usize, to: usize| (sizes[to] - sizes[from]) / (to - from) as u64;
    let own: usize = commits.iter().map(|commit| text(commit).len()).sum();
    println!(
        "bytes on disk for a step: {} over the first half, {} over the second; its rows as text: {}",
        grown(1_000, STEPS / 2),
        grown(STEPS / 2, sizes.len() - 1),
        own / STEPS
    );
    let version = (long.len() + AROUND * BESIDE * per_step) as u64;
    drop(store);
    let store = subject.open(&folder);
    let (mut loads, mut restores) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let began = Instant::now();
        let loaded = store.load("run").await.expect("the run");
        loads.push(began.elapsed());
        assert_eq!(loaded.info.version, version);
        let began = Instant::now();
        loaded.stored.expect("a run").restore().expect("a run that can go on");
        restores.push(began.elapsed());
    }
    println!(
        "reading a run of {STEPS} steps: {:.2?}, and making it ready to go on: {:.2?}",
        median(loads),
        median(restores)
    );
}

async fn made(store: &dyn RunStore, lease: &Lease, commit: &Commit) -> Duration {
    let began = Instant::now();
    store.commit(lease, commit).await.expect("a commit");
    began.elapsed()
}
