//! A store in memory for tests, of whose run a worker takes the decision between two reads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use runstate::agent::{CancellationToken, Incoming, Reply, Unchecked};
use runstate::clock::unix_clock;
use runstate::decision::{Decision, DecisionAction};
use runstate::store::{
    Approval, ApprovalQuery, Claim, Commit, Lease, Loaded, Mail, MemoryStore, NewRun, Posted, Release,
    RunInfo, RunQuery, RunStore, StoreError, Timer, TraceRow, Worker, decide,
};

use super::Opened;
use crate::host::ScenarioHost;
use crate::spec::Spec;

const SCENARIO: &str = "\
name: pay
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay}]
  - text: done
";

/// It has a run `pay-1`, whose call `p` was approved by the decision `d1`.
#[derive(Debug)]
pub(crate) struct Between {
    store: Arc<MemoryStore>,
    /// How often the run or its mail was read.
    reads: AtomicUsize,
}

impl Between {
    /// Opened, with a folder for the run.
    pub(crate) fn opened(folder: &Path) -> Opened {
        let store = Arc::new(MemoryStore::default());
        let opened =
            Opened::over(Arc::new(Between { store: Arc::clone(&store), reads: AtomicUsize::new(0) }));
        let spec = Spec::Scenario { scenario: SCENARIO.to_owned(), folder: folder.to_owned() };
        opened.handle().block_on(async {
            store.create(&NewRun::new("pay-1", spec.to_json().unwrap(), 1)).await.unwrap();
            work(&store).await;
            let approval = Incoming::new("d1", "p", DecisionAction::Resume);
            assert_eq!(decide(&*store, &approval, 2, &Unchecked).await.unwrap(), Reply::Accepted);
        });
        opened
    }

    async fn is_read(&self) {
        if self.reads.fetch_add(1, Ordering::SeqCst) == 1 {
            work(&self.store).await;
        }
    }
}

/// Drives what can go on.
async fn work(store: &Arc<MemoryStore>) {
    let worker = Worker::new(Arc::clone(store) as Arc<dyn RunStore>, "a worker").clock(unix_clock());
    worker.run_ready_until(&ScenarioHost::new(unix_clock()), CancellationToken::new()).await.unwrap();
}

#[async_trait]
impl RunStore for Between {
    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.is_read().await;
        self.store.load(run).await
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        self.is_read().await;
        self.store.mail(run).await
    }

    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.store.create(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        self.store.claim(claim).await
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        self.store.renew(lease, until_ms).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.store.release(lease, release).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.store.commit(lease, commit).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.store.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.store.cancel(run, reason).await
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        self.store.runs(query).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        self.store.approvals(query).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.store.due(now_ms, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.store.trace(run, after, limit).await
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.store.remove(run, now_ms).await
    }
}
