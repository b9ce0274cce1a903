//! No rows of a store make a reader of it panic: a run as it is stored, in which some values are others. A store in files has all
//! kinds of rows, as JSON; those of the others are read by the same types. Machines that were changed are sealed again, so that what reads
//! behind their checksums is reached. A store under a key is given changed rows to tag: it stands for a writer that has the key.

#![no_main]

mod hostile;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use runstate::decision::{Decision, DecisionAction};
use runstate::files::{SimDisk, replace};
use runstate::snapshot::Snapshot;
use runstate::store::{
    About, ApprovalQuery, Claim, Commit, FileStore, Keyed, MemoryStore, NewRun, Release, RunQuery, RunStore,
};
use runstate::testing::store::Played;
use runstate::turn::{CallRequest, Turn};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// The commits of a run with all that there is of one.
static COMMITS: LazyLock<Vec<Commit>> = LazyLock::new(|| {
    RUNTIME.block_on(async {
        let calls = vec![CallRequest::new("c0", "say", json!({"a": 1})), CallRequest::new("c1", "ask", json!({"expires": 9}))];
        let played = Played::new("r1", &[Turn { calls, ..Turn::default() }]).await;
        played.commits().cloned().collect()
    })
});

fn new_run() -> NewRun {
    NewRun::new("r1", json!({"kind": "scenario", "scenario": "name: a", "token": "x"}), 1)
}

static STORED: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    // Made before, in a runtime of its own.
    let commits = &*COMMITS;
    RUNTIME.block_on(async {
        let store = FileStore::on(Arc::new(disk.clone()), "/s").expect("a store");
        store.create(&new_run()).await.expect("r1");
        let lease = store.claim(&Claim::of("r1", "w", std::time::Duration::ZERO)).await.expect("a claim").expect("r1");
        for commit in commits {
            store.commit(&lease, commit).await.expect("a commit");
        }
    });
    disk
});

/// Gives each machine in a document the checksum of what it says now.
fn reseal(document: &mut Value) {
    if document.get("fingerprint").is_some()
        && let Ok(mut snapshot) = serde_json::from_value::<Snapshot>(document.clone())
    {
        snapshot.reseal();
        *document = serde_json::from_str(&snapshot.to_json()).expect("JSON");
        return;
    }
    match document {
        Value::Array(items) => items.iter_mut().for_each(reseal),
        Value::Object(fields) => fields.values_mut().for_each(reseal),
        _ => {}
    }
}

/// The same of a text, if it is JSON.
fn changed(text: &str, from: &mut Unstructured<'_>) -> Option<String> {
    let mut document = serde_json::from_str(text).ok()?;
    hostile::change(&mut document, from).ok()?;
    reseal(&mut document);
    Some(document.to_string())
}

/// One row of a commit.
fn change_row(commit: &mut Commit, from: &mut Unstructured<'_>) -> Option<()> {
    let mut rows = vec![&mut commit.run.snapshot, &mut commit.run.core];
    rows.extend(commit.calls.iter_mut().map(|call| &mut call.snapshot));
    rows.extend(commit.messages.iter_mut().map(|message| &mut message.json));
    rows.extend(commit.values.iter_mut().filter_map(|value| value.json.as_mut()));
    let at = from.int_in_range(0..=rows.len() - 1).ok()?;
    *rows[at] = changed(rows[at], from)?;
    Some(())
}

async fn keyed(commits: &[Commit], from: &mut Unstructured<'_>) -> Option<()> {
    let keys = format!("k1 {}", "ab".repeat(32)).parse().expect("a key");
    let store = Keyed::new(Arc::new(MemoryStore::default()), keys);
    store.create(&new_run()).await.expect("r1");
    let lease = store.claim(&Claim::of("r1", "w", std::time::Duration::ZERO)).await.expect("a claim").expect("r1");
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
    });
});

async fn read(store: &dyn RunStore) {
    if let Ok(loaded) = store.load("r1").await
        && let Some(stored) = loaded.stored
    {
        drop(stored.restore());
    }
    drop(store.runs(&RunQuery::all(9)).await);
    drop(store.approvals(&ApprovalQuery::new(About::All, 9)).await);
    drop(store.mail("r1").await);
    drop(store.trace("r1", 0, 99).await);
    drop(store.due(9).await);
    drop(store.damaged().await);
    drop(store.cancel("r1", "enough").await);
    let decision = Decision::new("d1", "r1/s1/1", DecisionAction::Resume);
    drop(store.post(&Decision { run_id: "r1".to_owned(), call: "s1c1".to_owned(), ..decision }).await);
    if let Ok(Some(lease)) = store.claim(&Claim::any("w", std::time::Duration::MAX)).await {
        drop(store.renew(&lease, std::time::Duration::MAX).await);
        drop(store.release(&lease, &Release::clean()).await);
    }
    drop(store.remove("r1").await);
}
