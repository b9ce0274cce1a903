//! Receivers of the events of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use runstate::turn::{CallRequest, Turn};
use runstate_runtime::clock::SetClock;
use runstate_store::{
    ChangeCursor, Changes, Claim, Commit, EventRow, Feed, Lease, MemoryStore, NewRun, RunData, RunLists,
    RunQueue, RunStore, StoreError, Wrapper,
};
use runstate_store_conformance::Played;
use serde_json::json;

/// Counts queries for events; those of a run that it does not reach fail.
#[derive(Debug)]
struct Counting {
    store: MemoryStore,
    queries: AtomicU64,
    /// Runs that the store named as changed.
    changed: AtomicU64,
    changes: AtomicU64,
    is_away: AtomicBool,
    /// Is the first event given the greatest number of all?
    is_forged: AtomicBool,
}

#[async_trait]
impl Wrapper for Counting {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        self.changes.fetch_add(1, Ordering::SeqCst);
        let changes = self.inner().changes(cursor, timeout).await?;
        self.changed.fetch_add(changes.runs.len() as u64, Ordering::SeqCst);
        Ok(changes)
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.queries.fetch_add(1, Ordering::SeqCst);
        if self.is_away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the store is away"));
        }
        let mut rows = self.inner().events(run, after, limit).await?;
        if self.is_forged.load(Ordering::SeqCst) {
            rows.truncate(usize::from(after < u64::MAX));
            rows.iter_mut().for_each(|row| row.last = u64::MAX);
        }
        Ok(rows)
    }
}

async fn begun(script: &[Turn]) -> (Arc<Counting>, Feed, Lease, Vec<Commit>, Vec<EventRow>) {
    let played = Played::new("r1", script).await;
    let store = MemoryStore::with_clock(SetClock::at(0));
    let store = Arc::new(Counting {
        store,
        queries: AtomicU64::new(0),
        changed: AtomicU64::new(0),
        changes: AtomicU64::new(0),
        is_away: false.into(),
        is_forged: false.into(),
    });
    RunData::create(&*store, &NewRun::new("r1", json!(0), 0)).await.unwrap();
    let hour = Duration::from_secs(3_600);
    let lease = RunQueue::claim(&*store, &Claim::of("r1", "w", hour)).await.unwrap().unwrap();
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
    let receive = |mut receiver: runstate_store::RunEvents| async move {
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
    store.changes.store(0, Ordering::SeqCst);
    for commit in &commits {
        RunData::commit(&*store, &lease, commit).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        // The query of the events, and the next wait for a change.
        let made = [&store.queries, &store.changes].map(|count| count.swap(0, Ordering::SeqCst));
        assert_eq!(made, [1, 1], "commit {}", commit.version);
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
        RunData::commit(&*store, &lease, commit).await.unwrap();
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
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    let first = receiver.next().await.unwrap().unwrap();
    assert_eq!(*first, expected[0]);
    store.is_away.store(true, Ordering::SeqCst);
    for commit in &commits[1..] {
        RunData::commit(&*store, &lease, commit).await.unwrap();
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
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    assert_eq!(*receiver.next().await.unwrap().unwrap(), expected[0]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(feed);
    while let Some(row) = receiver.next().await.unwrap() {
        assert!(row.last <= commits[0].events.last().unwrap().last);
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_reads_by_itself_takes_nothing_from_another() {
    let (store, feed, lease, commits, expected) = begun(&steps(3)).await;
    let mut waits = feed.watch("r1", 0);
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    for row in &commits[0].events {
        assert_eq!(*waits.next().await.unwrap().unwrap(), *row);
    }
    // It is up to date, and waits.
    let mut rest = tokio::spawn(async move {
        let mut rows = Vec::new();
        while let Some(row) = waits.next().await.unwrap() {
            rows.push(EventRow::clone(&row));
        }
        rows
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    // No other task has a turn before the new receiver has read all of it.
    for commit in &commits[1..] {
        RunData::commit(&*store, &lease, commit).await.unwrap();
    }
    let mut reads = feed.watch("r1", 0);
    for row in &expected {
        assert_eq!(*reads.next().await.unwrap().unwrap(), *row);
    }
    assert_eq!(reads.next().await.unwrap(), None);
    let rows =
        tokio::time::timeout(Duration::from_secs(10), &mut rest).await.expect("it waits for ever").unwrap();
    assert_eq!(rows, expected[commits[0].events.len()..]);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_behind_the_end_of_a_run_ends() {
    let (store, feed, lease, commits, expected) = begun(&steps(1)).await;
    let last = expected.last().unwrap().last;
    // It waits for a number that the run never has.
    let mut early = feed.watch("r1", last + 100);
    let ends = tokio::spawn(async move { early.next().await.unwrap() });
    tokio::time::sleep(Duration::from_secs(1)).await;
    for commit in &commits {
        RunData::commit(&*store, &lease, commit).await.unwrap();
    }
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), ends).await.expect("it ends").unwrap(), None);
    for after in [last, last + 1, u64::MAX] {
        let next =
            tokio::time::timeout(Duration::from_secs(60), async { feed.watch("r1", after).next().await });
        assert_eq!(next.await.expect("it ends").unwrap(), None, "{after}");
    }
    // A run of a version without durable events.
    RunData::create(&*store, &NewRun::new("r2", json!(0), 0)).await.unwrap();
    let old =
        RunQueue::claim(&*store, &Claim::of("r2", "w", Duration::from_secs(60))).await.unwrap().unwrap();
    for commit in Played::new("r2", &[]).await.commits() {
        let mut commit = commit.clone();
        commit.events.clear();
        RunData::commit(&*store, &old, &commit).await.unwrap();
    }
    let mut receiver = feed.watch("r2", 0);
    let next = tokio::time::timeout(Duration::from_secs(60), receiver.next());
    assert_eq!(next.await.expect("it ends").unwrap(), None);
}

/// No event can follow the greatest number.
#[tokio::test(start_paused = true)]
async fn a_receiver_behind_a_forged_number_ends_with_the_run() {
    let (store, feed, lease, commits, _) = begun(&steps(1)).await;
    store.is_forged.store(true, Ordering::SeqCst);
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    let mut receiver = feed.watch("r1", 0);
    assert_eq!(receiver.next().await.unwrap().unwrap().last, u64::MAX);
    assert!(tokio::time::timeout(Duration::from_secs(60), receiver.next()).await.is_err(), "the run goes on");
    for commit in &commits[1..] {
        RunData::commit(&*store, &lease, commit).await.unwrap();
    }
    let end = tokio::time::timeout(Duration::from_secs(60), receiver.next()).await;
    assert_eq!(end.expect("it ends").unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_removed_run_is_told_to_its_receivers() {
    let (store, feed, lease, commits, _) = begun(&steps(1)).await;
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    let mut receiver = feed.watch("r1", 0);
    for _ in &commits[0].events {
        receiver.next().await.unwrap().unwrap();
    }
    let ends = tokio::spawn(async move { receiver.next().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    RunQueue::release(&*store, &lease, &runstate_store::Release::clean()).await.unwrap();
    assert!(RunLists::remove(&*store, "r1").await.unwrap());
    let told = tokio::time::timeout(Duration::from_secs(120), ends).await.expect("it is told").unwrap();
    assert!(matches!(told, Err(StoreError::NoRun { .. })), "{told:?}");
}

/// Of two commits of one number the second has another time.
#[tokio::test(start_paused = true)]
async fn a_commit_given_again_is_a_change() {
    let (store, _, lease, commits, _) = begun(&steps(1)).await;
    let mut commit = commits[0].clone();
    RunData::commit(&*store, &lease, &commit).await.unwrap();
    let first = RunQueue::changes(&*store, &ChangeCursor::default(), Duration::ZERO).await.unwrap();
    (commit.again, commit.at_ms) = (true, commit.at_ms + 1);
    RunData::commit(&*store, &lease, &commit).await.unwrap();
    let second = RunQueue::changes(&*store, &first.cursor, Duration::ZERO).await.unwrap();
    assert_eq!(second.runs, [("r1".to_owned(), 1)]);
}

/// Another program has put an older copy of the store back: it has fewer events than were given.
#[tokio::test(start_paused = true)]
async fn a_receiver_of_a_store_that_went_back_waits_in_peace() {
    let (store, feed, lease, commits, expected) = begun(&steps(2)).await;
    for commit in &commits[..3] {
        RunData::commit(&*store, &lease, commit).await.unwrap();
    }
    let mut up_to_date = feed.watch("r1", 0);
    let stored: Vec<_> = commits[..3].iter().flat_map(|commit| &commit.events).collect();
    for row in &stored {
        assert_eq!(*up_to_date.next().await.unwrap().unwrap(), **row);
    }
    assert!(tokio::time::timeout(Duration::from_secs(1), up_to_date.next()).await.is_err());
    let mut older = commits[2].clone();
    (older.again, older.events) = (true, vec![commits[2].events[0].clone()]);
    RunData::commit(&*store, &lease, &older).await.unwrap();
    store.queries.store(0, Ordering::SeqCst);
    let mut late = feed.watch("r1", 0);
    let all = async { while late.next().await.unwrap().is_some() {} };
    assert!(tokio::time::timeout(Duration::from_secs(5), all).await.is_err(), "it waits");
    let queries = store.queries.load(Ordering::SeqCst);
    assert!(queries < 10, "{queries} queries");
    drop(expected);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_of_a_feed_that_is_gone_ends() {
    let (store, feed, lease, commits, _) = begun(&steps(1)).await;
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    let mut receiver = feed.watch("r1", 0);
    drop(feed);
    for row in &commits[0].events {
        assert_eq!(*receiver.next().await.unwrap().unwrap(), *row);
    }
    assert_eq!(receiver.next().await.unwrap(), None);
}

/// The wait of the first query for changes began after the events that a receiver has read, and before the next commit.
#[tokio::test(start_paused = true)]
async fn a_feed_reads_no_history_and_misses_no_event() {
    let (store, feed, lease, commits, expected) = begun(&steps(5)).await;
    drop(feed);
    for number in 0..50 {
        let run = format!("past-{number}");
        let played = Played::new(&run, &[]).await;
        RunData::create(&*store, &NewRun::new(&run, json!(0), 0)).await.unwrap();
        let claim = Claim::of(&run, "w", Duration::from_secs(3_600));
        let lease = RunQueue::claim(&*store, &claim).await.unwrap().unwrap();
        for commit in played.commits() {
            RunData::commit(&*store, &lease, commit).await.unwrap();
        }
    }
    RunData::commit(&*store, &lease, &commits[0]).await.unwrap();
    let feed = Feed::new(store.clone());
    let mut receiver = feed.watch("r1", 0);
    let mut rows = Vec::new();
    // The receiver reads before the feed has its cursor: the task of the feed has not begun.
    for _ in &commits[0].events {
        rows.push(EventRow::clone(&*receiver.next().await.unwrap().unwrap()));
    }
    RunData::commit(&*store, &lease, &commits[1]).await.unwrap();
    for _ in &commits[1].events {
        rows.push(EventRow::clone(&*receiver.next().await.unwrap().unwrap()));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(store.changed.load(Ordering::SeqCst), 0, "the feed began behind both commits");
    for commit in &commits[2..] {
        RunData::commit(&*store, &lease, commit).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    while let Some(row) = receiver.next().await.unwrap() {
        rows.push(EventRow::clone(&row));
    }
    assert_eq!(rows, expected);
    assert_eq!(store.changed.load(Ordering::SeqCst), commits.len() as u64 - 2, "no run of the past is named");
}
