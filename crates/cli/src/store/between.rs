//! A store in memory for tests; a worker takes the decision of its run between two reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use runstate::decision::DecisionAction;
use runstate_agent::{CancellationToken, Incoming, Reply, Unchecked};
use runstate_runtime::clock::unix_clock;
use runstate_store::{
    Loaded, MemoryStore, NewRun, PendingSignals, RunData, RunStore, StoreError, Worker, Wrapper, decide,
};

use super::Opened;
use crate::host::RunExecutor;
use crate::runs::Marks;
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

/// It has a run `pay-1`, with a call `p` that the decision `d1` approved.
#[derive(Debug)]
pub(crate) struct Between {
    store: Arc<MemoryStore>,
    /// The number of reads of the run or its mail.
    reads: AtomicUsize,
}

impl Between {
    /// Opened.
    pub(crate) fn opened() -> Opened {
        let store = Arc::new(MemoryStore::default());
        let opened =
            Opened::over(Arc::new(Between { store: Arc::clone(&store), reads: AtomicUsize::new(0) }));
        let spec =
            Spec::Scenario { scenario: SCENARIO.to_owned(), token: None, message: None, message_id: None };
        opened.handle().block_on(async {
            store.create(&NewRun::new("pay-1", spec.to_json().unwrap(), 1)).await.unwrap();
            work(&store).await;
            let approval = Incoming::new("d1", "p", DecisionAction::Resume).on("pay-1/p/1");
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

/// Drives the ready runs.
async fn work(store: &Arc<MemoryStore>) {
    let worker = Worker::new(Arc::clone(store) as Arc<dyn RunStore>, "a worker").clock(unix_clock());
    worker
        .run_ready_until(
            &RunExecutor::new(unix_clock(), None, Arc::new(Marks::of(None))),
            CancellationToken::new(),
        )
        .await
        .unwrap();
}

#[async_trait]
impl Wrapper for Between {
    fn inner(&self) -> &dyn RunStore {
        &*self.store
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.is_read().await;
        self.store.load(run).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.is_read().await;
        self.store.pending_signals(run).await
    }
}
