//! The store of a driver: it notes acknowledgements, has short leases, and a fault if one is injected.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runstate_agent::async_trait;
use runstate_service::{
    Change, EventRow, KeyedAnswer, ListQuery, Numbered, RequestKey, RunPage, ServiceChanges, ServiceCursor,
    ServiceLease, ServiceStore, ServiceStoreError, Step, StoredRun, TimelineEntry,
};
use serde::Serialize;
use serde_json::json;

use super::entry::{Entry, Made};
use crate::fault::Fault;
use crate::ledger::{Ledger, digest, digest_of};

/// The delay of an acknowledged write.
const LATER: Duration = Duration::from_millis(15);

/// Forwards to another store.
#[derive(Debug)]
pub struct Witness {
    inner: Arc<dyn ServiceStore>,
    ledger: Ledger,
    by: String,
    lease: Duration,
    fault: Option<Fault>,
    count: AtomicU64,
}

type Stored<T> = Result<T, ServiceStoreError>;

impl Witness {
    /// A store under the name of a driver. No lease is longer than `lease`.
    pub fn new(
        inner: Arc<dyn ServiceStore>,
        ledger: Ledger,
        by: &str,
        lease: Duration,
        fault: Option<Fault>,
    ) -> Self {
        Witness { inner, ledger, by: by.to_owned(), lease, fault, count: AtomicU64::new(0) }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// True once in that many calls, for the injected fault.
    fn now_and_then(&self, fault: Fault, times: u64) -> bool {
        self.has(fault) && self.count.fetch_add(1, Ordering::Relaxed) % times == times - 1
    }

    fn note(&self, entry: &Entry) -> Stored<()> {
        self.ledger.note(entry).map_err(|error| ServiceStoreError::Failed(error.into()))
    }

    fn note_made(&self, run: &str, version: u64, change: &Change) -> Stored<()> {
        self.note(&Entry::Made(Made {
            run: run.to_owned(),
            version,
            steps: digests(&change.steps),
            timeline: digests(&change.timeline),
            trace: change.trace.iter().map(|line| digest(line)).collect(),
        }))
    }

    fn term(&self, term: Duration) -> Duration {
        match self.has(Fault::LeaseForEver) {
            true => Duration::from_secs(3_600),
            false => term.min(self.lease),
        }
    }

    /// The change as it is written.
    fn written(&self, change: &Change) -> Change {
        let mut change = change.clone();
        if self.now_and_then(Fault::StepLost, 20) {
            change.steps.pop();
        }
        if self.now_and_then(Fault::EventLost, 20) {
            change.timeline.pop();
        }
        if self.now_and_then(Fault::TraceLost, 20) {
            change.trace.clear();
        }
        if self.now_and_then(Fault::ValueLost, 3) {
            change.artifacts.remove("user_inputs");
        }
        if self.has(Fault::KeyForgotten) {
            change.answer = None;
        }
        change
    }

    async fn commit_written(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        if self.has(Fault::AckBeforeWrite) {
            let (inner, lease, change) = (Arc::clone(&self.inner), lease.clone(), change.clone());
            tokio::spawn(async move {
                tokio::time::sleep(LATER).await;
                // No caller remains to receive an error.
                inner.commit(&lease, version, &change, term).await.ok();
            });
            return Ok(version + 1);
        }
        let (mut lease, mut version) = (lease.clone(), version);
        loop {
            match self.inner.commit(&lease, version, change, term).await {
                Err(ServiceStoreError::Fenced { current, .. }) if self.has(Fault::FenceIgnored) => {
                    lease.fence = current;
                }
                Err(ServiceStoreError::Version { current, .. }) if self.has(Fault::FenceIgnored) => {
                    version = current;
                }
                made => return made,
            }
        }
    }
}

/// The digests of rows.
pub(super) fn digests(rows: &[impl Serialize]) -> Vec<u64> {
    rows.iter().map(|row| digest_of(&json!(row))).collect()
}

#[async_trait]
impl ServiceStore for Witness {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        if !self.now_and_then(Fault::RunLost, 10) {
            self.inner.create(run, &self.written(change)).await?;
        }
        self.note_made(run, 1, change)
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        self.inner.load(run).await
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        let lease = self.inner.claim(run, holder, self.term(term)).await?;
        if let Some(lease) = &lease {
            self.note(&Entry::Claimed { run: lease.run.clone(), by: self.by.clone() })?;
        }
        Ok(lease)
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        self.inner.renew(lease, self.term(term)).await
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        self.inner.release(lease).await
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        let term = term.map(|term| self.term(term));
        match self.commit_written(lease, version, &self.written(change), term).await {
            Ok(made) => {
                self.note_made(&lease.run, made, change)?;
                Ok(made)
            }
            Err(error) => {
                if let ServiceStoreError::Fenced { .. } = error {
                    self.note(&Entry::Fenced { run: lease.run.clone(), by: self.by.clone() })?;
                }
                Err(error)
            }
        }
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        let (mut at, change_written) = (version, self.written(change));
        let made = loop {
            if self.now_and_then(Fault::DecisionLost, 10) {
                break version + 1;
            }
            match self.inner.compare_and_set(run, at, &change_written).await {
                Err(ServiceStoreError::Version { current, .. }) if self.has(Fault::SecondAccepted) => {
                    at = current;
                }
                made => break made?,
            }
        };
        self.note_made(run, made, change)?;
        Ok(made)
    }

    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Stored<Option<KeyedAnswer>> {
        self.inner.answer(key, now_ms).await
    }

    async fn list(&self, query: &ListQuery) -> Stored<RunPage> {
        self.inner.list(query).await
    }

    async fn steps(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<Step>>> {
        self.inner.steps(run, after, limit).await
    }

    async fn timeline(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<TimelineEntry>>> {
        self.inner.timeline(run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<EventRow>>> {
        self.inner.events(run, after, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<String>> {
        self.inner.trace(run, after, limit).await
    }

    async fn current_cursor(&self) -> Stored<ServiceCursor> {
        self.inner.current_cursor().await
    }

    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Stored<ServiceChanges> {
        self.inner.changes(cursor, limit, timeout).await
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        self.inner.delete(run).await
    }
}
