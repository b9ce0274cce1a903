//! A store whose process dies at some of its writes, before or after the write is durable.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use proptest::collection::vec;
use proptest::prelude::*;
use runstate_runtime::clock::SetClock;
use runstate_service::{
    Change, EventRow, KeyedAnswer, ListQuery, MemoryServiceStore, Numbered, RequestKey, RunPage,
    ServiceChanges, ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError, Step, StoredRun,
    TimelineEntry,
};

/// A crash at a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crash {
    /// The number of writes since the last crash.
    pub(super) at: usize,
    /// Whether the write was durable.
    pub(super) applied: bool,
}

pub(super) fn crashes() -> impl Strategy<Value = Vec<Crash>> {
    vec((0..10_usize, any::<bool>()).prop_map(|(at, applied)| Crash { at, applied }), 0..5)
}

#[derive(Debug)]
pub(super) struct Crashing {
    store: MemoryServiceStore,
    process: Mutex<Process>,
}

#[derive(Debug)]
struct Process {
    /// The last one is the next.
    crashes: Vec<Crash>,
    writes: usize,
    is_dead: bool,
}

/// What becomes of a write.
enum Fate {
    Written,
    Lost,
    WrittenAndDied,
}

fn died<T>() -> Result<T, ServiceStoreError> {
    Err(ServiceStoreError::Unavailable("the process died".into()))
}

impl Crashing {
    pub(super) fn new(clock: SetClock, mut crashes: Vec<Crash>) -> Self {
        crashes.reverse();
        let process = Process { crashes, writes: 0, is_dead: false };
        Crashing { store: MemoryServiceStore::with_clock(clock), process: Mutex::new(process) }
    }

    /// Another process takes the place of the dead one.
    pub(super) fn restart(&self) {
        self.process.lock().unwrap().is_dead = false;
    }

    fn is_dead(&self) -> bool {
        self.process.lock().unwrap().is_dead
    }

    fn fate(&self) -> Fate {
        let mut process = self.process.lock().unwrap();
        if process.is_dead {
            return Fate::Lost;
        }
        process.writes += 1;
        match process.crashes.last().copied() {
            Some(crash) if process.writes > crash.at => {
                process.crashes.pop();
                process.writes = 0;
                process.is_dead = true;
                if crash.applied { Fate::WrittenAndDied } else { Fate::Lost }
            }
            _ => Fate::Written,
        }
    }
}

type Stored<T> = Result<T, ServiceStoreError>;

#[async_trait]
impl ServiceStore for Crashing {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        match self.fate() {
            Fate::Written => self.store.create(run, change).await,
            Fate::Lost => died(),
            Fate::WrittenAndDied => self.store.create(run, change).await.and_then(|()| died()),
        }
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        if self.is_dead() { died() } else { self.store.load(run).await }
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        match self.fate() {
            Fate::Written => self.store.claim(run, holder, term).await,
            Fate::Lost => died(),
            Fate::WrittenAndDied => self.store.claim(run, holder, term).await.and_then(|_| died()),
        }
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        if self.is_dead() { died() } else { self.store.renew(lease, term).await }
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        if self.is_dead() { died() } else { self.store.release(lease).await }
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        match self.fate() {
            Fate::Written => self.store.commit(lease, version, change, term).await,
            Fate::Lost => died(),
            Fate::WrittenAndDied => {
                self.store.commit(lease, version, change, term).await.and_then(|_| died())
            }
        }
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        match self.fate() {
            Fate::Written => self.store.compare_and_set(run, version, change).await,
            Fate::Lost => died(),
            Fate::WrittenAndDied => {
                self.store.compare_and_set(run, version, change).await.and_then(|_| died())
            }
        }
    }

    async fn list(&self, query: &ListQuery) -> Stored<RunPage> {
        self.store.list(query).await
    }

    async fn steps(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<Step>>> {
        self.store.steps(run, after, limit).await
    }

    async fn timeline(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<TimelineEntry>>> {
        self.store.timeline(run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<EventRow>>> {
        self.store.events(run, after, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<String>> {
        self.store.trace(run, after, limit).await
    }

    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Stored<Option<KeyedAnswer>> {
        self.store.answer(key, now_ms).await
    }

    async fn current_cursor(&self) -> Stored<ServiceCursor> {
        self.store.current_cursor().await
    }

    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Stored<ServiceChanges> {
        self.store.changes(cursor, limit, timeout).await
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        self.store.delete(run).await
    }
}
