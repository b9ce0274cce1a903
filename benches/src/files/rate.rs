//! Commits a second, against lines that are appended to a file and synced.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

use runstate::store::RunStore;

use super::script::{commits as taped, text};
use super::{Folder, median, new_run};

const TURNS: usize = 7;
const COMMITS: usize = 400;

/// Appends a line, and syncs it.
fn append(file: &mut File, line: &[u8]) -> Duration {
    let began = Instant::now();
    file.write_all(line).expect("a line");
    file.sync_data().expect("a sync");
    began.elapsed()
}

pub async fn one_by_one() {
    let folder = Folder::new();
    let commits = taped(COMMITS as u32).await;
    let commits = &commits[..COMMITS];
    let lines: Vec<_> = commits.iter().map(text).collect();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    let store = folder.store();
    let mut log =
        OpenOptions::new().create(true).append(true).open(folder.0.join("rate.log")).expect("a file");
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let lease = new_run(&store, &format!("run-{turn}"), 0).await;
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

/// For counting from outside: the run, its lease, and so many commits.
pub async fn commits(commits: usize) {
    let folder = Folder::new();
    let store = folder.store();
    let made = taped(commits as u32).await;
    let lease = new_run(&store, "run", 0).await;
    for commit in &made[..commits] {
        store.commit(&lease, commit).await.expect("a commit");
    }
    println!("{commits} commits");
}
