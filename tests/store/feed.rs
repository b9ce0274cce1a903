//! Receivers of the events of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use runstate::clock::SetClock;
use runstate::store::{
    Claim, Commit, EventRow, Feed, Lease, MemoryStore, NewRun, RunStore, StoreError, Wrapper,
};
use runstate::testing::store::Played;
use runstate::turn::{CallRequest, Turn};
use serde_json::json;

/// Counts queries for events; those of a run that it does not reach fail.
#[derive(Debug)]
struct Counting {
    store: MemoryStore,
    queries: AtomicU64,
    is_away: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Wrapper for Counting {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.queries.fetch_add(1, Ordering::SeqCst);
        if self.is_away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the store is away"));
        }
        self.inner().events(run, after, limit).await
    }
}

async fn begun(script: &[Turn]) -> (Arc<Counting>, Feed, Lease, Vec<Commit>, Vec<EventRow>) {
    let played = Played::new("r1", script).await;
    let store = MemoryStore::with_clock(SetClock::at(0));
    let store = Arc::new(Counting { store, queries: AtomicU64::new(0), is_away: false.into() });
    RunStore::create(&*store, &NewRun::new("r1", json!(0), 0)).await.unwrap();
    let hour = Duration::from_secs(3_600);
    let lease = RunStore::claim(&*store, &Claim::of("r1", "w", hour)).await.unwrap().unwrap();
    let feed = Feed::new(store.clone());
    (store, feed, lease, played.commits().cloned().collect(), played.events())
}

fn steps(count: usize) -> Vec<Turn> {
    let step = |number| {
        let calls = vec![CallRequest::new("c", "say", json!(number))];
        Turn { text: "let me see".to_owned(), calls, ..Turn::default() }
    };
    (0..count).map(step).collect()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_receivers_share_one_query_a_change() {
    let (store, feed, lease, commits, expected) = begun(&steps(5)).await;
    let receive = |mut receiver: runstate::store::RunEvents| async move {
        let mut rows = Vec::new();
        while let Some(row) = receiver.next().await.unwrap() {
            rows.push(EventRow::clone(&row));
        }
        rows
    };
    let receivers: Vec<_> = (0..1_000).map(|_| tokio::spawn(receive(feed.watch("r1", 0)))).collect();
    // Each looks once whether there is anything.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(store.queries.swap(0, Ordering::SeqCst), 1_000);
    for commit in &commits {
        RunStore::commit(&*store, &lease, commit).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(store.queries.swap(0, Ordering::SeqCst), 1, "commit {}", commit.version);
    }
    for receiver in receivers {
        assert_eq!(receiver.await.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_receiver_misses_nothing_and_slows_no_other() {
    let (store, feed, lease, commits, expected) = begun(&steps(200)).await;
    assert!(expected.len() > 1_500, "{}", expected.len());
    let (mut slow, mut quick) = (feed.watch("r1", 0), feed.watch("r1", 0));
    let mut seen = Vec::new();
    for commit in &commits {
        RunStore::commit(&*store, &lease, commit).await.unwrap();
        for _ in &commit.events {
            seen.push(EventRow::clone(&*quick.next().await.unwrap().unwrap()));
        }
    }
    assert_eq!(seen, expected);
    assert_eq!(quick.next().await.unwrap(), None, "the run is over");
    let mut seen = Vec::new();
    while let Some(row) = slow.next().await.unwrap() {
        seen.push(EventRow::clone(&row));
    }
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_goes_on_when_the_store_is_back() {
    let (store, feed, lease, commits, expected) = begun(&steps(3)).await;
    let mut receiver = feed.watch("r1", 0);
    RunStore::commit(&*store, &lease, &commits[0]).await.unwrap();
    let first = receiver.next().await.unwrap().unwrap();
    assert_eq!(*first, expected[0]);
    store.is_away.store(true, Ordering::SeqCst);
    for commit in &commits[1..] {
        RunStore::commit(&*store, &lease, commit).await.unwrap();
    }
    let mut late = feed.watch("r1", first.last);
    assert!(matches!(late.next().await, Err(StoreError::Unavailable(_))));
    tokio::time::sleep(Duration::from_secs(60)).await;
    store.is_away.store(false, Ordering::SeqCst);
    for (what, receiver) in [("the one that was there", &mut receiver), ("the late one", &mut late)] {
        let mut seen = vec![expected[0].clone()];
        while let Some(row) = receiver.next().await.unwrap() {
            seen.push(EventRow::clone(&row));
        }
        assert_eq!(seen, expected, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn receivers_end_with_their_feed() {
    let (store, feed, lease, commits, expected) = begun(&steps(1)).await;
    let mut receiver = feed.watch("r1", 0);
    RunStore::commit(&*store, &lease, &commits[0]).await.unwrap();
    assert_eq!(*receiver.next().await.unwrap().unwrap(), expected[0]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(feed);
    while let Some(row) = receiver.next().await.unwrap() {
        assert!(row.last <= commits[0].events.last().unwrap().last);
    }
}
