//! Calls that nobody decided in time, many at once: all of those that can be given up are, whoever does it and whatever is the
//! matter with others.

use std::path::Path;
use std::sync::Arc;

use runstate::decision::Decision;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::async_trait;
use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{
    FileStore, MemoryStore, NewRun, Posted, Release, RunData, RunLists, RunStore, StoreError, Timer, Wrapper,
    expire, expire_due,
};
use runstate_store_conformance::Played;
use serde_json::json;

use super::times::{at, clock, of};

/// A run that waits for so many calls, which lapse at that time.
async fn park(store: &dyn RunStore, run: &str, calls: usize, at_ms: u64) {
    let calls = (0..calls).map(|number| CallRequest::new(format!("c{number}"), "ask", json!({}))).collect();
    let played = Played::new(run, &[Turn { text: String::new(), calls, ..Turn::default() }]).await;
    store.create(&NewRun::new(run, json!(0), 0)).await.unwrap();
    let lease = store.claim(&of(run, "w", 0, 10)).await.unwrap().unwrap();
    for commit in played.commits() {
        let mut commit = commit.clone();
        commit.at_ms = 0;
        for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
            waits.suspension.expires_at_ms = Some(at_ms);
        }
        store.commit(&lease, &commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
}

/// A store in which another process gives up each call that is found to be due before this one does.
#[derive(Debug)]
struct Rivalled(MemoryStore);

#[async_trait]
impl Wrapper for Rivalled {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let due = self.0.due(limit).await?;
        for timer in &due {
            expire(&self.0, timer, 70).await?;
        }
        Ok(due)
    }
}

#[tokio::test]
async fn expiry_continues_past_calls_expired_by_another() {
    let store: &dyn RunStore = &Rivalled(MemoryStore::with_clock(clock()));
    park(store, "r1", 25, 70).await;
    at(70);
    let mut looks = 0;
    while expire_due(store, 70, 10).await.unwrap().has_more {
        looks += 1;
    }
    assert_eq!(looks, 2, "two full pages, and five calls");
    assert_eq!(store.pending_signals("r1").await.unwrap().decisions.len(), 25);
}

/// A store with a run that is due, and with questions in it that its lists cannot read.
#[derive(Debug)]
struct Unlisted(MemoryStore);

#[async_trait]
impl Wrapper for Unlisted {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        if decision.run_id == "r1" { Ok(Posted::NotWaiting) } else { self.0.post(decision).await }
    }
}

#[tokio::test]
async fn calls_that_are_due_and_in_no_list_hold_up_no_others() {
    let store: &dyn RunStore = &Unlisted(MemoryStore::with_clock(clock()));
    park(store, "r1", 25, 60).await;
    park(store, "r2", 3, 65).await;
    at(70);
    let lapsed = expire_due(store, 70, 10).await.unwrap();
    assert_eq!((lapsed.given_up, lapsed.settled, lapsed.has_more), (3, 3, false));
    let told: Vec<&str> = lapsed.damaged.iter().map(|damage| &*damage.what).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("of the run \"r1\" is due"), "{told:?}");
    assert!(!expire_due(store, 70, 10).await.unwrap().has_more);
}

/// A store in files in which the decisions of these runs cannot be read.
async fn damaged(runs: &[(&str, usize)]) -> FileStore {
    let disk = SimDisk::new();
    let store = FileStore::on(Arc::new(disk.clone()), Path::new("/store")).unwrap().with_clock(clock());
    for (run, calls) in runs {
        park(&store, run, *calls, 50).await;
        let state = store.folder_of(run).join("state.json");
        let text = String::from_utf8(disk.read(&state, u64::MAX).unwrap()).unwrap();
        let at = text.find("\"decisions\"").unwrap();
        let garbled = text[at..].replacen("\"bytes\": 0", "\"bytes\": 4", 1);
        let put = |path: &Path, content: &[u8]| disk.open(path, Open::Write).unwrap().write(content).unwrap();
        put(&state, format!("{}{garbled}", &text[..at]).as_bytes());
        put(&store.folder_of(run).join("decisions.jsonl"), b"{]}\n");
    }
    store
}

#[tokio::test]
async fn full_page_of_inexpirable_calls_blocks_no_other_expiry() {
    let many = [("a", 6), ("b", 7), ("c", 9), ("d", 10)];
    for (limit, runs) in [(100, &[("bad", 100)][..]), (10, &[("bad", 32)]), (10, &many)] {
        let store = damaged(runs).await;
        park(&store, "good", 3, 60).await;
        at(70);
        let lapsed = expire_due(&store, 70, limit).await.unwrap();
        assert_eq!(store.pending_signals("good").await.unwrap().decisions.len(), 3, "{runs:?}");
        let told: Vec<_> = lapsed.damaged.iter().map(|damage| &*damage.what).collect();
        assert_eq!(told.len(), runs.len(), "each is told once: {told:?}");
        assert!(told.iter().all(|what| what.contains("decisions.jsonl: line 1")), "{told:?}");
        // What is left is worth no second look.
        let left: usize = runs.iter().map(|(_, calls)| calls).sum();
        assert_eq!(store.due(1_000).await.unwrap().len(), left);
        assert!(!expire_due(&store, 70, limit).await.unwrap().has_more);
    }
}

/// A page that they fill but for one call leaves room for more than one.
#[tokio::test]
async fn inexpirable_calls_do_not_reduce_the_expiries_of_others() {
    let store = damaged(&[("bad", 9)]).await;
    park(&store, "good", 25, 60).await;
    at(70);
    for (given_up, has_more) in [(10, true), (20, true), (25, false)] {
        assert_eq!(expire_due(&store, 70, 10).await.unwrap().has_more, has_more);
        assert_eq!(store.pending_signals("good").await.unwrap().decisions.len(), given_up);
    }
}

#[tokio::test]
async fn expiry_with_a_limit_of_zero_expires_nothing() {
    let store = MemoryStore::with_clock(clock());
    park(&store, "r1", 2, 70).await;
    at(70);
    assert_eq!(expire_due(&store, 70, 0).await.unwrap(), Default::default());
    assert_eq!(store.pending_signals("r1").await.unwrap().decisions, []);
}
