//! The store that keeps each commit: a store like any other, and what it kept makes the same run again.

use runstate::run::RunStatus;
use runstate::turn::{CallRequest, Turn};
use runstate_store::{Commit, Lease, MemoryStore, NewRun, RunData, RunLists, RunStore};
use runstate_store_conformance::{OneHandle, Played, RecordingStore, check_all};
use serde_json::{Value, json};

use super::times::{at, clock, of};

#[tokio::test(flavor = "multi_thread")]
async fn recording_store_conforms_to_the_store_contract() {
    assert_eq!(check_all(|| async { OneHandle::new(RecordingStore::with_clock) }).await, []);
}

async fn begun(store: &dyn RunStore, run: &str) -> Lease {
    store.create(&NewRun::new(run, Value::Null, 0)).await.unwrap();
    store.claim(&of(run, "me", 0, 1_000)).await.unwrap().unwrap()
}

async fn asking(run: &str) -> Played {
    let asks = Turn { calls: vec![CallRequest::new("c0", "ask", json!({}))], ..Turn::default() };
    Played::new(run, &[asks]).await
}

#[tokio::test]
async fn recorded_commits_make_the_same_run_in_another_store() {
    let (taped, other) = (RecordingStore::with_clock(clock()), MemoryStore::with_clock(clock()));
    for run in ["r1", "r2"] {
        let (lease, played) = (begun(&taped, run).await, asking(run).await);
        for commit in played.commits() {
            taped.commit(&lease, commit).await.unwrap();
        }
        let lease = begun(&other, run).await;
        for commit in taped.commits(run) {
            other.commit(&lease, &commit).await.unwrap();
        }
        assert_eq!(other.load(run).await.unwrap(), taped.load(run).await.unwrap());
    }
    assert_eq!(taped.commits("r3"), []);
}

#[tokio::test]
async fn repeated_commit_is_kept_once_and_a_refused_one_never() {
    let taped = RecordingStore::with_clock(clock());
    let (lease, played) = (begun(&taped, "r1").await, asking("r1").await);
    let first = played.commits().next().unwrap();
    taped.commit(&lease, first).await.unwrap();
    assert!(taped.commit(&lease, first).await.is_err(), "it was made already");
    let mut again = first.clone();
    again.again = true;
    taped.commit(&lease, &again).await.unwrap();
    assert_eq!(taped.commits("r1"), [again]);
    at(1_000);
    assert!(taped.remove("r1").await.unwrap());
    assert_eq!(taped.commits("r1"), []);
}

/// The commits of a run that waits, as format 1 wrote them.
const FORMAT_1: &str = include_str!("formats/commits-1.jsonl");

#[tokio::test]
async fn commits_of_format_1_make_their_run() {
    let store = MemoryStore::with_clock(clock());
    let lease = begun(&store, "r1").await;
    for line in FORMAT_1.lines() {
        store.commit(&lease, &Commit::from_json(line).unwrap()).await.unwrap();
    }
    let run = store.load("r1").await.unwrap();
    assert_eq!((run.info.status, run.info.waiting), (RunStatus::Waiting, 1));
    let events = store.events("r1", 0, 100).await.unwrap();
    assert_eq!((run.info.version, run.traced, events.len()), (4, 30, 13));
}
