//! A service on the chain in this process, under virtual time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use runstate::trace::{Event, Report, check};
use runstate_runtime::clock::TokioClock;
use runstate_service::script::Script;
use runstate_service::sim::SimChain;
use runstate_service::{
    Answers, Change, Config, EventRow, KeyedAnswer, ListQuery, MemoryServiceStore, NewServiceRun, Numbered,
    Ports, RequestKey, RunPage, RunView, Service, ServiceChanges, ServiceCursor, ServiceLease, ServiceStore,
    ServiceStoreError, Step, StoredRun, TimelineEntry,
};
use serde_json::Value;

/// 31 January 2026, 12:00:00 UTC.
pub(crate) const T: u64 = 1_769_860_800_000;

/// Runs a test on a clock that advances only while everything waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

/// A chain, a store, and a service on both.
pub(crate) struct Bench {
    pub(crate) chain: SimChain,
    pub(crate) store: Arc<Counting>,
    pub(crate) service: Service,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|ports| ports, |_| {})
    }

    /// With the replies of a script in the place of some ports.
    pub(crate) fn scripted(yaml: &str) -> Self {
        let script = Script::from_yaml(yaml).unwrap();
        Self::with(|ports| script.ports_over(ports), |_| {})
    }

    pub(crate) fn with(ports: impl FnOnce(Ports) -> Ports, configure: impl FnOnce(&mut Config)) -> Self {
        let clock = TokioClock::starting_at(T);
        let chain = SimChain::example();
        let store = MemoryServiceStore::with_clock(clock);
        let store = Arc::new(Counting { store, writes: AtomicUsize::new(0), delay_ms: AtomicU64::new(0) });
        let mut config = chain.config();
        configure(&mut config);
        let ports = ports(chain.ports());
        let service =
            Service::new(Arc::clone(&store) as Arc<dyn ServiceStore>, ports, config, Arc::new(clock), "test");
        Bench { chain, store, service }
    }

    pub(crate) async fn create(&self, intent: &str) -> RunView {
        self.service.create(self.new_run("run_1", intent), "ada").await.unwrap()
    }

    pub(crate) fn new_run(&self, id: &str, intent: &str) -> NewServiceRun {
        NewServiceRun {
            id: id.into(),
            intent: intent.into(),
            wallet: Some(SimChain::WALLET.into()),
            chain_id: Some(self.chain.id()),
        }
    }

    /// Creates a run and drives its first pass to the outcome.
    pub(crate) async fn run(&self, intent: &str) -> RunView {
        self.create(intent).await;
        self.service.start("run_1", "ada").await.unwrap();
        self.service.drive("run_1").await.unwrap()
    }

    /// Resumes the run with one answer and drives the pass to the outcome.
    pub(crate) async fn answer(&self, slot: &str, answer: impl Into<Value>) -> RunView {
        let answers = Answers { answers: [(slot.to_owned(), answer.into())].into(), ..Answers::default() };
        self.service.resume("run_1", &answers, "ada").await.unwrap();
        self.service.drive("run_1").await.unwrap()
    }

    /// Approves the run and sends its transactions; returns their hashes.
    pub(crate) async fn approve_and_send(&self) -> Vec<String> {
        self.service.approve("run_1", None, "", "bob").await.unwrap();
        let handout = self.service.execute("run_1", "ada").await.unwrap();
        let send = |tx: &Value| self.chain.send(&serde_json::from_value(tx.clone()).unwrap());
        handout.tx_requests.iter().map(send).collect()
    }

    /// A service of another process on the same store and chain, without a judge.
    pub(crate) fn without_judge(&self) -> Service {
        let store = Arc::clone(&self.store) as Arc<dyn ServiceStore>;
        let clock = Arc::new(TokioClock::starting_at(T));
        Service::new(store, self.chain.ports(), self.chain.config(), clock, "other")
    }

    /// The names of the executed nodes.
    pub(crate) async fn nodes(&self) -> Vec<&'static str> {
        let rows = self.store.timeline("run_1", 0, usize::MAX).await.unwrap();
        rows.iter().map(|row| row.row.step.name()).collect()
    }

    /// The verdict on the recorded transitions of run and passes.
    pub(crate) async fn report(&self) -> Report {
        let lines = self.store.trace("run_1", 0, usize::MAX).await.unwrap();
        let events: Vec<Event<'_>> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
        check(&events, &runstate::rulebook())
    }
}

/// A store that counts its durable writes.
#[derive(Debug)]
pub(crate) struct Counting {
    store: MemoryServiceStore,
    writes: AtomicUsize,
    /// The delay of the next load, in milliseconds.
    delay_ms: AtomicU64,
}

impl Counting {
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::Relaxed)
    }

    /// Delays the next load alone.
    pub(crate) fn delay_load(&self, delay: Duration) {
        self.delay_ms.store(delay.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }

    fn wrote(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }
}

type Stored<T> = Result<T, ServiceStoreError>;

#[async_trait]
impl ServiceStore for Counting {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        self.wrote();
        self.store.create(run, change).await
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        tokio::time::sleep(Duration::from_millis(self.delay_ms.swap(0, Ordering::Relaxed))).await;
        self.store.load(run).await
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        self.store.claim(run, holder, term).await
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        self.wrote();
        self.store.renew(lease, term).await
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        self.wrote();
        self.store.release(lease).await
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        self.wrote();
        self.store.commit(lease, version, change, term).await
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        self.wrote();
        self.store.compare_and_set(run, version, change).await
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
