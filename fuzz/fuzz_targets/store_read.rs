//! No rows of a store make a reader of it panic: a run as it is stored, in which some values are others. A store in files has all
//! kinds of rows, as JSON; those of the others are read by the same types.

#![no_main]

mod hostile;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use runstate::decision::{Decision, DecisionAction};
use runstate::files::{SimDisk, replace};
use runstate::store::{About, ApprovalQuery, Claim, FileStore, NewRun, Release, RunQuery, RunStore};
use runstate::testing::store::Played;
use runstate::turn::{CallRequest, Turn};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// A run with all that there is of one.
static STORED: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    RUNTIME.block_on(async {
        let store = FileStore::on(Arc::new(disk.clone()), "/s").expect("a store");
        store.create(&NewRun::new("r1", json!({"kind": "scenario", "scenario": "name: a", "token": "x"}), 1)).await.expect("r1");
        let lease = store.claim(&Claim::of("r1", "w", 1, 2)).await.expect("a claim").expect("r1");
        let calls = vec![CallRequest::new("c0", "say", json!({"a": 1})), CallRequest::new("c1", "ask", json!({"expires": 9}))];
        let played = Played::new("r1", &[Turn { calls, ..Turn::default() }]).await;
        for commit in played.commits() {
            store.commit(&lease, commit).await.expect("a commit");
        }
    });
    disk
});

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    let disk = STORED.fork();
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
        let changed: String = documents.iter().map(|document| format!("{document}\n")).collect();
        drop(replace(&disk, Path::new(path), changed.as_bytes()));
    }
    RUNTIME.block_on(read(disk));
});

async fn read(disk: SimDisk) {
    let Ok(store) = FileStore::on(Arc::new(disk), "/s") else { return };
    if let Ok(loaded) = store.load("r1").await
        && let Some(stored) = loaded.stored
    {
        drop(stored.restore());
    }
    drop(store.runs(&RunQuery::all(9)).await);
    drop(store.approvals(&ApprovalQuery::new(About::All, 9)).await);
    drop(store.mail("r1").await);
    drop(store.trace("r1", 0, 99).await);
    drop(store.due(u64::MAX, 9).await);
    drop(store.damaged().await);
    drop(store.cancel("r1", "enough").await);
    let decision = Decision::new("d1", "r1/s1/1", DecisionAction::Resume);
    drop(store.post(&Decision { run_id: "r1".to_owned(), call: "s1c1".to_owned(), ..decision }).await);
    if let Ok(Some(lease)) = store.claim(&Claim::any("w", u64::MAX - 2, u64::MAX - 1)).await {
        drop(store.renew(&lease, u64::MAX).await);
        drop(store.release(&lease, &Release::clean()).await);
    }
    drop(store.remove("r1", u64::MAX).await);
}
