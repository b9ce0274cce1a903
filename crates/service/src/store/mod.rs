//! Stores of service runs.

mod change;
mod error;
mod list;
mod memory;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rows::{EventRow, Numbered, Step, StepName, TimelineEntry};

pub use change::{Change, KeyedAnswer, RequestKey};
pub use error::ServiceStoreError;
pub use list::{ListQuery, ListSort, PageRows, RunInfo, RunPage, RunPosition, UnreadableRun};
pub use memory::MemoryServiceStore;
pub use texts::ChangeTexts;

/// The exclusive right to drive a run. Each lease of a run has a higher fencing token than the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceLease {
    /// The run.
    pub run: String,
    /// The fencing token.
    pub fence: u64,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The id.
    pub id: String,
    /// The version. Each change raises it by one.
    pub version: u64,
    /// The time of creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// The time of the last change, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
    /// The status.
    pub status: ServiceRunStatus,
    /// The final status of the last pass.
    pub final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    pub current_step: Option<StepName>,
    /// The intent.
    pub intent: String,
    /// The run as a machine.
    pub machine: Snapshot,
    /// The pass as a machine: the checkpoint. None for a run that was never started.
    pub pass: Option<Snapshot>,
    /// The artifacts, by name.
    pub artifacts: BTreeMap<String, Value>,
    /// The actors that created or resumed the run.
    pub requested_by: BTreeSet<String>,
    /// The number of trace lines.
    pub trace_lines: u64,
    /// The number of leases since the last change that were not given back, with the present one. A run that ends its
    /// drivers has many.
    pub lost: u32,
}

/// A position among the changes of a store. The default is before all changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServiceCursor(u64);

impl ServiceCursor {
    /// Creates a cursor from the number of a change. For implementations of [`ServiceStore`].
    pub fn new(change: u64) -> Self {
        ServiceCursor(change)
    }

    /// Returns the number of the last change before the cursor.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The runs that changed after a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceChanges {
    /// Each changed run once, in the order of the last changes. A removed run is not listed.
    pub runs: Vec<String>,
    /// The cursor after these changes.
    pub cursor: ServiceCursor,
}

/// A store of service runs.
///
/// Each operation is one transaction: it happens completely or not at all. After `Ok`, no crash undoes it. The numbers
/// of steps, timeline entries, events and trace lines begin with 1 in each run and have no gap.
///
/// # Cancel safety
/// If the future is dropped, the operation happens completely or not at all; the caller cannot know which.
#[async_trait]
pub trait ServiceStore: fmt::Debug + Send + Sync {
    /// Adds a run. Its version is 1.
    ///
    /// # Errors
    /// [`ServiceStoreError::Taken`] if the id was used before, by a removed run too.
    /// [`ServiceStoreError::KeyTaken`] if the request has an answer.
    async fn create(&self, run: &str, change: &Change) -> Result<(), ServiceStoreError>;

    /// Returns a run.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn load(&self, run: &str) -> Result<StoredRun, ServiceStoreError>;

    /// Leases a RUNNING run to a holder: the named one, or the one with the fewest [lost](StoredRun::lost) leases, and
    /// among these the one whose last change is the oldest. So a run that ends its drivers holds up no other. None if
    /// the named run is not RUNNING, or if no run waits for a driver.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceStoreError::Held`] for a named run with another lease.
    async fn claim(
        &self,
        run: Option<&str>,
        holder: &str,
        term: Duration,
    ) -> Result<Option<ServiceLease>, ServiceStoreError>;

    /// Renews a lease, also one whose term is over, if the run was not claimed since.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceStoreError::Fenced`] if the lease was released or the run claimed since.
    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Result<(), ServiceStoreError>;

    /// Gives a run back. A lease that is over has no effect.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn release(&self, lease: &ServiceLease) -> Result<(), ServiceStoreError>;

    /// Makes the change of a driver durable, and renews the lease for `term`, or gives the run back. Returns the new
    /// version.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceStoreError::Fenced`] if the lease was released or the run claimed since.
    /// [`ServiceStoreError::Version`] if the run has another version. Nothing is stored then.
    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Result<u64, ServiceStoreError>;

    /// Makes the change of an actor durable, if the run still has that version. Returns the new version. The version of
    /// a leased run moves too, so a change of an actor and one of a driver never both succeed on one version.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceStoreError::Version`] if the run has another version.
    /// [`ServiceStoreError::KeyTaken`] if the request has an answer. [`ServiceStoreError::HashTaken`] if another run has a
    /// hash, also a run that was removed. Nothing is stored then.
    async fn compare_and_set(
        &self,
        run: &str,
        version: u64,
        change: &Change,
    ) -> Result<u64, ServiceStoreError>;

    /// Returns the answer to a request, with the digest of its content. None if there is none, or if it is older than
    /// [its term](RequestKey::TERM_MS) at `now_ms`.
    ///
    /// # Errors
    /// The errors of the store.
    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Result<Option<KeyedAnswer>, ServiceStoreError>;

    /// Returns a page of runs. A row that cannot be read fails no page: the page names its run.
    ///
    /// # Errors
    /// The errors of the store.
    async fn list(&self, query: &ListQuery) -> Result<RunPage, ServiceStoreError>;

    /// Returns steps of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn steps(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<Step>>, ServiceStoreError>;

    /// Returns timeline entries of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn timeline(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<TimelineEntry>>, ServiceStoreError>;

    /// Returns events of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn events(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<EventRow>>, ServiceStoreError>;

    /// Returns trace lines of a run, as JSON: at most `limit` after the first `after` ones.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`].
    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<String>, ServiceStoreError>;

    /// Returns a number that differs after each change of the store by any process; the same number means that nothing
    /// changed. It waits for no disk and no other process, so that an event loop may ask it with each request. None if the
    /// store cannot tell it so quickly. Default: none.
    fn stamp(&self) -> Option<u64> {
        None
    }

    /// Returns the cursor after the last change, so that a new reader of changes reads no history.
    ///
    /// # Errors
    /// The errors of the store.
    async fn current_cursor(&self) -> Result<ServiceCursor, ServiceStoreError>;

    /// Waits for runs that changed after the cursor, at most for `timeout`. Returns at most `limit` runs; the cursor then
    /// leads to the others.
    ///
    /// # Errors
    /// The errors of the store.
    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Result<ServiceChanges, ServiceStoreError>;

    /// Removes a run that is over. Its id is not used again.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceStoreError::NotOver`].
    async fn delete(&self, run: &str) -> Result<(), ServiceStoreError>;
}
