//! No rows of a store make a reader of it panic: a run as it is stored, in which some values are others. A store in files has all
//! kinds of rows, as JSON; those of the others are read by the same types. Machines that were changed are sealed again, so that what reads
//! behind their checksums is reached. Commits and positions are read in their written form, too. A store under a key is given changed rows to tag: it stands for a writer that has the key.

#![no_main]

mod hostile;

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hostile::runs::{COMMITS, RUNTIME, changed, new_run, read, reseal};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use runstate::files::{SimDisk, replace};
use runstate::store::{ChangeCursor, Claim, Commit, FileStore, Keyed, MemoryStore, RunData, RunLists, RunQueue, RunStore};
use serde_json::Value;

static STORED: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    // Made before, in a runtime of its own.
    let commits = &*COMMITS;
    RUNTIME.block_on(async {
        let store = FileStore::on(Arc::new(disk.clone()), "/s").expect("a store");
        store.create(&new_run()).await.expect("r1");
        let lease = store.claim(&Claim::of("r1", "w", Duration::ZERO)).await.expect("a claim").expect("r1");
        for commit in commits {
            store.commit(&lease, commit).await.expect("a commit");
        }
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

async fn keyed(commits: &[Commit], from: &mut Unstructured<'_>) -> Option<()> {
    let keys = format!("k1 {}", "ab".repeat(32)).parse().expect("a key");
    let store = Keyed::new(Arc::new(MemoryStore::default()), keys);
    store.create(&new_run()).await.expect("r1");
    let lease = store.claim(&Claim::of("r1", "w", Duration::ZERO)).await.expect("a claim").expect("r1");
    let hostile = from.int_in_range(0..=commits.len() - 1).ok()?;
    for (at, commit) in commits.iter().enumerate() {
        let mut commit = commit.clone();
        if at == hostile {
            change_row(&mut commit, from)?;
        }
        if store.commit(&lease, &commit).await.is_err() {
            break;
        }
    }
    read(&store).await;
    Some(())
}

/// A commit in its written form, and a position among the commits, as another process gives them.
async fn written(commits: &[Commit], from: &mut Unstructured<'_>) -> Option<()> {
    let store = MemoryStore::default();
    store.create(&new_run()).await.expect("r1");
    let lease = store.claim(&Claim::of("r1", "w", Duration::ZERO)).await.expect("a claim").expect("r1");
    let hostile = from.int_in_range(0..=commits.len() - 1).ok()?;
    for (at, commit) in commits.iter().enumerate() {
        let line = commit.to_json().expect("a commit has a written form");
        let line = if at == hostile { changed(&line, from)? } else { line };
        let Ok(commit) = Commit::from_json(&line) else { break };
        let again = commit.to_json().expect("what was read has a written form");
        assert_eq!(Commit::from_json(&again).expect("the same"), commit);
        if store.commit(&lease, &commit).await.is_err() {
            break;
        }
    }
    let cursor = store.changes(&ChangeCursor::default(), Duration::ZERO).await.expect("changes").cursor;
    let cursor = serde_json::to_string(&cursor).expect("a position has a written form");
    if let Ok(cursor) = serde_json::from_str(&changed(&cursor, from)?) {
        drop(store.changes(&cursor, Duration::ZERO).await);
    }
    read(&store).await;
    Some(())
}

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    let (disk, commits) = (STORED.fork(), &*COMMITS);
    let files = disk.files();
    for _ in 0..2 {
        let Ok((path, content)) = from.choose(&files) else { return };
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
        let Ok(at) = from.int_in_range(0..=documents.len() - 1) else { return };
        if hostile::change(&mut documents[at], &mut from).is_err() {
            return;
        }
        reseal(&mut documents[at]);
        let changed: String = documents.iter().map(|document| format!("{document}\n")).collect();
        drop(replace(&disk, Path::new(path), changed.as_bytes()));
    }
    RUNTIME.block_on(async {
        if let Ok(store) = FileStore::on(Arc::new(disk), "/s") {
            read(&store).await;
        }
        keyed(commits, &mut from).await;
        written(commits, &mut from).await;
    });
});
