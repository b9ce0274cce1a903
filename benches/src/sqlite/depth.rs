//! A long run: what a commit costs early and late, bytes on disk, and reading it back.

use std::time::{Duration, Instant};

use runstate::store::RunStore;

use super::script::{commits as taped, text};
use super::{Folder, median, new_run};

const STEPS: usize = 10_000;
/// Commits that are looked at around a step.
const AROUND: usize = 100;

pub async fn depth() {
    let folder = Folder::new();
    let store = folder.store("depth.db");
    let commits = taped(STEPS as u32).await;
    let lease = new_run(&store, "run", 0).await;
    let mut times = Vec::with_capacity(commits.len());
    let mut sizes = Vec::with_capacity(commits.len());
    for commit in &commits {
        let began = Instant::now();
        store.commit(&lease, commit).await.expect("a commit");
        times.push(began.elapsed());
        sizes.push(size(&folder));
    }
    let per_step = commits.len() / STEPS;
    let at = |step: usize| {
        let from = (step * per_step).saturating_sub(AROUND / 2).min(times.len() - AROUND);
        median(times[from..from + AROUND].to_vec())
    };
    let (early, late) = (at(10), at(STEPS));
    println!(
        "a commit around step 10: {early:.0?}, around step {STEPS}: {late:.0?}, ratio {:.2}; {per_step} commits a step",
        late.as_secs_f64() / early.as_secs_f64()
    );
    let grown = |from: usize, to: usize| (sizes[to * per_step] - sizes[from * per_step]) / (to - from) as u64;
    let own: usize = commits.iter().map(|commit| text(commit).len()).sum();
    println!(
        "bytes on disk for a step: {} over the first half, {} over the second; its rows as text: {}",
        grown(1_000, STEPS / 2),
        grown(STEPS / 2, STEPS - 1),
        own / STEPS
    );
    drop(store);
    let store = folder.store("depth.db");
    let mut loads = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let loaded = store.load("run").await.expect("the run");
        loads.push(began.elapsed());
        assert_eq!(loaded.info.version, commits.len() as u64);
        let began = Instant::now();
        loaded.stored.expect("a run").restore().expect("a run that can go on");
        loads.push(began.elapsed());
    }
    let pick = |from: usize| median(loads.iter().skip(from).step_by(2).copied().collect::<Vec<Duration>>());
    println!("reading a run of {STEPS} steps: {:.0?}, and making it ready to go on: {:.0?}", pick(0), pick(1));
}

/// Pages of the database: the log beside it comes and goes.
fn size(folder: &Folder) -> u64 {
    std::fs::metadata(folder.0.join("depth.db")).map_or(0, |file| file.len())
}
