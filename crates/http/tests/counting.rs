//! A store that counts the reads of a server.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use runstate_runtime::clock::TokioClock;
use runstate_service::{
    Change, EventRow, KeyedAnswer, ListQuery, MemoryServiceStore, Numbered, RequestKey, RunPage,
    ServiceChanges, ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError, Step, StoredRun,
    TimelineEntry,
};

type Stored<T> = Result<T, ServiceStoreError>;

/// A store in memory that counts loads, and the runs that it names as changed. Its stamp is the number of changes.
#[derive(Debug)]
pub(crate) struct Counting {
    store: MemoryServiceStore,
    changed: AtomicUsize,
    loads: AtomicUsize,
    changes: AtomicU64,
}

impl Counting {
    pub(crate) fn new(clock: TokioClock) -> Self {
        Counting {
            store: MemoryServiceStore::with_clock(clock),
            changed: AtomicUsize::new(0),
            loads: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
        }
    }

    pub(crate) fn loads(&self) -> usize {
        self.loads.load(Ordering::Relaxed)
    }

    fn counted<T>(&self, stored: Stored<T>) -> Stored<T> {
        self.changes.fetch_add(u64::from(stored.is_ok()), Ordering::Relaxed);
        stored
    }

    pub(crate) fn changed(&self) -> usize {
        self.changed.load(Ordering::Relaxed)
    }
}

#[async_trait::async_trait]
impl ServiceStore for Counting {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        self.counted(self.store.create(run, change).await)
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        self.store.load(run).await
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        self.store.claim(run, holder, term).await
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        self.store.renew(lease, term).await
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        self.store.release(lease).await
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        self.counted(self.store.commit(lease, version, change, term).await)
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        self.counted(self.store.compare_and_set(run, version, change).await)
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

    fn stamp(&self) -> Option<u64> {
        Some(self.changes.load(Ordering::Relaxed))
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
        let changes = self.store.changes(cursor, limit, timeout).await?;
        self.changed.fetch_add(changes.runs.len(), Ordering::Relaxed);
        Ok(changes)
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        self.counted(self.store.delete(run).await)
    }
}
