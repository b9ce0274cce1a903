//! A run with all that there is of one, as stores have it, and a reader of all of it.

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::Unstructured;
use runstate::decision::{Decision, DecisionAction};
use runstate::snapshot::Snapshot;
use runstate::store::{About, ApprovalQuery, ChangeCursor, Claim, Commit, NewRun, Release, RunQuery, RunData, RunLists, RunQueue, RunStore};
use runstate::testing::store::Played;
use runstate::turn::{CallRequest, Turn};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Drives the stores.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// The commits of a run with all that there is of one.
pub static COMMITS: LazyLock<Vec<Commit>> = LazyLock::new(|| {
    RUNTIME.block_on(async {
        let calls = vec![CallRequest::new("c0", "say", json!({"a": 1})), CallRequest::new("c1", "ask", json!({"expires": 9}))];
        let played = Played::new("r1", &[Turn { calls, ..Turn::default() }]).await;
        played.commits().cloned().collect()
    })
});

/// As it is made.
pub fn new_run() -> NewRun {
    NewRun::new("r1", json!({"kind": "scenario", "scenario": "name: a", "token": "x"}), 1)
}

/// Gives each machine in a document the checksum of what it says now.
pub fn reseal(document: &mut Value) {
    if document.get("fingerprint").is_some()
        && let Ok(mut snapshot) = serde_json::from_value::<Snapshot>(document.clone())
    {
        snapshot.reseal();
        // One that is nested too deep to be read stays as it was.
        if let Ok(resealed) = serde_json::from_str(&snapshot.to_json()) {
            *document = resealed;
        }
        return;
    }
    match document {
        Value::Array(items) => items.iter_mut().for_each(reseal),
        Value::Object(fields) => fields.values_mut().for_each(reseal),
        _ => {}
    }
}

/// The same of a text, if it is JSON.
pub fn changed(text: &str, from: &mut Unstructured<'_>) -> Option<String> {
    let mut document = serde_json::from_str(text).ok()?;
    super::change(&mut document, from).ok()?;
    reseal(&mut document);
    Some(document.to_string())
}

/// Reads and does all that a store can be asked for.
pub async fn read(store: &dyn RunStore) {
    if let Ok(loaded) = store.load("r1").await
        && let Some(stored) = loaded.stored
    {
        drop(stored.restore());
    }
    drop(store.runs(&RunQuery::all(9)).await);
    drop(store.approvals(&ApprovalQuery::new(About::All, 9)).await);
    drop(store.mail("r1").await);
    drop(store.trace("r1", 0, 99).await);
    drop(store.events("r1", 0, 99).await);
    drop(store.changes(&ChangeCursor::default(), std::time::Duration::ZERO).await);
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
