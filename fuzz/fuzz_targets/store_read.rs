//! No rows of a store make a reader of it panic: a run as it is stored, in which some values are others. A store in files has all
//! kinds of rows, as JSON; those of the others are read by the same types. Machines that were changed are sealed again, so that what reads
//! behind their checksums is reached. Commits and positions are read in their written form, too. A store under a key is given changed rows to tag: it stands for a writer that has the key.

#![no_main]

mod hostile;

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hostile::runs::{RUNS, RUNTIME, changed, count_of_commits, fill, read, recompute_checksum};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use runstate_runtime::files::{SimDisk, replace};
use runstate_store::{ChangeCursor, Commit, FileStore, Keyed, MemoryStore, RunQueue};
use serde_json::Value;

static STORED: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    // Made before, in a runtime of its own.
    LazyLock::force(&RUNS);
    RUNTIME.block_on(async {
        let store = FileStore::on(Arc::new(disk.clone()), "/s").expect("a store");
        fill(&store, |_, commit| Some(commit.clone())).await.expect("the runs");
    });
    disk
});

/// One row of a commit.
fn change_row(commit: &mut Commit, from: &mut Unstructured<'_>) -> Option<()> {
    let mut rows = vec![&mut commit.run.snapshot, &mut commit.run.core];
    rows.extend(commit.calls.iter_mut().map(|call| &mut call.snapshot));
    rows.extend(commit.messages.iter_mut().map(|message| &mut message.json));
    rows.extend(commit.values.iter_mut().filter_map(|value| value.json.as_mut()));
    rows.extend(commit.trace.iter_mut().map(|row| &mut row.json));
    rows.extend(commit.events.iter_mut().map(|row| &mut row.json));
    let at = from.int_in_range(0..=rows.len() - 1).ok()?;
    *rows[at] = changed(rows[at], from)?;
    Some(())
}

async fn keyed(from: &mut Unstructured<'_>) -> Option<()> {
    let keys = format!("k1 {}", "ab".repeat(32)).parse().expect("a key");
    let store = Keyed::new(Arc::new(MemoryStore::default()), keys);
    let hostile = from.int_in_range(0..=count_of_commits() - 1).ok()?;
    let filled = fill(&store, |number, commit| {
        let mut commit = commit.clone();
        if number == hostile {
            change_row(&mut commit, from)?;
        }
        Some(commit)
    });
    drop(filled.await);
    read(&store, from).await;
    Some(())
}

/// A commit in its written form, and a position among the commits, as another process gives them.
async fn written(from: &mut Unstructured<'_>) -> Option<()> {
    let store = MemoryStore::default();
    let hostile = from.int_in_range(0..=count_of_commits() - 1).ok()?;
    let filled = fill(&store, |number, commit| {
        let line = commit.to_json().expect("a commit has a written form");
        let line = if number == hostile { changed(&line, from)? } else { line };
        let commit = Commit::from_json(&line).ok()?;
        let again = commit.to_json().expect("what was read has a written form");
        assert_eq!(Commit::from_json(&again).expect("the same"), commit);
        Some(commit)
    });
    drop(filled.await);
    let cursor = store.changes(&ChangeCursor::default(), Duration::ZERO).await.expect("changes").cursor;
    let cursor = serde_json::to_string(&cursor).expect("a position has a written form");
    if let Ok(cursor) = serde_json::from_str(&changed(&cursor, from)?) {
        drop(store.changes(&cursor, Duration::ZERO).await);
    }
    read(&store, from).await;
    Some(())
}

/// A store in files of which two have other values.
async fn files(from: &mut Unstructured<'_>) -> Option<()> {
    let disk = STORED.fork();
    let mut files = disk.files();
    files.retain(|(_, content)| !content.is_empty());
    for _ in 0..2 {
        let (path, content) = from.choose(&files).ok()?;
        let text = String::from_utf8_lossy(content);
        let is_lines = path.ends_with(".jsonl");
        let mut documents: Vec<Value> = if is_lines {
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        } else {
            serde_json::from_str(&text).ok().into_iter().collect()
        };
        if documents.is_empty() {
            continue;
        }
        let at = from.int_in_range(0..=documents.len() - 1).ok()?;
        hostile::change(&mut documents[at], from).ok()?;
        recompute_checksum(&mut documents[at]);
        let changed: String = documents.iter().map(|document| format!("{document}\n")).collect();
        drop(replace(&disk, Path::new(path), changed.as_bytes()));
    }
    if let Ok(store) = FileStore::on(Arc::new(disk), "/s") {
        read(&store, from).await;
    }
    Some(())
}

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    // Made before, in runtimes of their own.
    LazyLock::force(&STORED);
    RUNTIME.block_on(async {
        match from.int_in_range(0..=3).unwrap_or(0) {
            0 | 1 => files(&mut from).await,
            2 => keyed(&mut from).await,
            _ => written(&mut from).await,
        }
    });
});
