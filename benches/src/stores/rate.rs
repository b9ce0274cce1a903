//! Commits a second, against lines that are appended to a file and synced.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runstate_store::{Commit, RunStore};

use super::script::{commits as taped, text};
use super::subject::{Folder, Subject};
use super::{median, new_run};

const TURNS: usize = 7;
const COMMITS: usize = 400;

/// Appends a line, and syncs it.
fn append(file: &mut File, line: &[u8]) -> Duration {
    let began = Instant::now();
    file.write_all(line).expect("a line");
    file.sync_data().expect("a sync");
    began.elapsed()
}

async fn make(store: &dyn RunStore, run: &str, commits: &[Commit]) -> Duration {
    let lease = new_run(store, run, 0).await;
    let began = Instant::now();
    for commit in commits {
        store.commit(&lease, commit).await.expect("a commit");
    }
    began.elapsed()
}

pub async fn one_by_one(subject: Subject) {
    let folder = Folder::new();
    let commits = taped(COMMITS as u32).await;
    let commits = &commits[..COMMITS];
    let lines: Vec<_> = commits.iter().map(text).collect();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    let store = subject.open(&folder);
    let mut log =
        OpenOptions::new().create(true).append(true).open(folder.0.join("rate.log")).expect("a file");
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let lease = new_run(&*store, &format!("run-{turn}"), 0).await;
        let (mut raw, mut made) = (Duration::ZERO, Duration::ZERO);
        // In turns, since the disk is not the same from one second to the next.
        for (commit, line) in commits.iter().zip(&lines) {
            raw += append(&mut log, line);
            let began = Instant::now();
            store.commit(&lease, commit).await.expect("a commit");
            made += began.elapsed();
        }
        ratios.push(raw.as_secs_f64() / made.as_secs_f64());
        (ours.push(made), theirs.push(raw));
    }
    ratios.sort_by(f64::total_cmp);
    let rate = |time: Duration| COMMITS as f64 / time.as_secs_f64();
    println!(
        "one by one: {:.0} commits/s; append + fdatasync of the same {} bytes each: {:.0}/s; \
         ratio {:.2} (median of {TURNS} turns: {ratios:.2?})",
        rate(median(ours)),
        bytes / COMMITS,
        rate(median(theirs)),
        ratios[TURNS / 2],
    );
}

/// Commits with their events, against the same without.
pub async fn with_events(subject: Subject) {
    let folder = Folder::new();
    let whole = taped(COMMITS as u32).await[..COMMITS].to_vec();
    let mut bare = whole.clone();
    bare.iter_mut().for_each(|commit| commit.events.clear());
    let store = subject.open(&folder);
    let mut ratios = Vec::new();
    for turn in 0..TURNS {
        let with = new_run(&*store, &format!("with-{turn}"), 0).await;
        let without = new_run(&*store, &format!("without-{turn}"), 0).await;
        let (mut long, mut short) = (Duration::ZERO, Duration::ZERO);
        for (whole, bare) in whole.iter().zip(&bare) {
            for (lease, commit, time) in [(&with, whole, &mut long), (&without, bare, &mut short)] {
                let began = Instant::now();
                store.commit(lease, commit).await.expect("a commit");
                *time += began.elapsed();
            }
        }
        ratios.push(long.as_secs_f64() / short.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!("with events: {:.2} of without (median of {TURNS} turns: {ratios:.2?})", ratios[TURNS / 2]);
}

/// For counting from outside: the run, its lease, and so many commits.
pub async fn commits(subject: Subject, commits: usize) {
    let folder = Folder::new();
    let store = subject.open(&folder);
    let made = taped(commits as u32).await;
    make(&*store, "run", &made[..commits]).await;
    println!("{commits} commits");
}

/// So many runs at once, each with one commit after the other, against one alone.
pub async fn in_groups(subject: Subject) {
    const RUNS: usize = 64;
    const EACH: usize = 60;
    let folder = Folder::new();
    let store = subject.open(&folder);
    let commits = Arc::new(taped(EACH as u32).await[..EACH].to_vec());
    let mut ratios = Vec::new();
    let mut rates = Vec::new();
    for turn in 0..TURNS {
        let alone = make(&*store, &format!("alone-{turn}"), &commits).await;
        let mut leases = Vec::new();
        for run in 0..RUNS {
            leases.push(new_run(&*store, &format!("run-{turn}-{run}"), 0).await);
        }
        let began = Instant::now();
        let tasks: Vec<_> = leases
            .into_iter()
            .map(|lease| {
                let (store, commits) = (Arc::clone(&store), Arc::clone(&commits));
                tokio::spawn(async move {
                    for commit in commits.iter() {
                        store.commit(&lease, commit).await.expect("a commit");
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task that ends");
        }
        let together = began.elapsed() / RUNS as u32;
        ratios.push(alone.as_secs_f64() / together.as_secs_f64());
        rates.push(EACH as f64 / together.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    println!(
        "{RUNS} at once: {:.0} commits/s, {:.1} times one by one (median of {TURNS} turns: {ratios:.1?})",
        rates[TURNS / 2],
        ratios[TURNS / 2],
    );
}
