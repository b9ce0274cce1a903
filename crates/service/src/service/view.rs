//! The view of a run for its users.

use std::collections::BTreeSet;
use std::time::Duration;

use runstate::service_run::{AnyServiceRun, FinalStatus, ServiceRunStatus};
use serde::{Deserialize, Serialize};

use super::Service;
use super::error::{Operation, ServiceError};
use crate::artifact::Artifacts;
use crate::rows::{EventRow, Numbered, Step, StepName, TimelineEntry};
use crate::store::{ListQuery, RunPage, ServiceChanges, ServiceCursor, StoredRun};

fn is_empty(artifacts: &Artifacts) -> bool {
    *artifacts == Artifacts::default()
}

/// A run as its users see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunView {
    /// The id.
    pub run_id: String,
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
    /// The address of the wallet.
    pub wallet: Option<String>,
    /// The id of the chain.
    pub chain_id: Option<u64>,
    /// The digest of the transactions. An approval names it.
    pub digest: Option<String>,
    /// The hashes of the sent transactions.
    pub tx_hashes: Vec<String>,
    /// The actor that approved or rejected the transactions, and the time.
    pub decided_by: Option<(String, u64)>,
    /// The actors that created or resumed the run.
    pub requested_by: BTreeSet<String>,
    /// The artifacts. The stored answer to a request has few of them.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub artifacts: Artifacts,
}

/// Reads of stored rows.
impl Service {
    /// Returns a page of runs. A row that cannot be read fails no page: the page names its run.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn list(&self, query: &ListQuery) -> Result<RunPage, ServiceError> {
        Ok(self.store.list(query).await?)
    }

    /// Returns steps of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`](crate::ServiceStoreError::NoRun).
    pub async fn steps(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<Step>>, ServiceError> {
        Ok(self.store.steps(run, after, limit).await?)
    }

    /// Returns timeline entries of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`](crate::ServiceStoreError::NoRun).
    pub async fn timeline(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<TimelineEntry>>, ServiceError> {
        Ok(self.store.timeline(run, after, limit).await?)
    }

    /// Returns events of a run: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`](crate::ServiceStoreError::NoRun).
    pub async fn events(
        &self,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Numbered<EventRow>>, ServiceError> {
        Ok(self.store.events(run, after, limit).await?)
    }

    /// Returns trace lines of a run, as JSON: at most `limit` after the first `after` ones.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`](crate::ServiceStoreError::NoRun).
    pub async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<String>, ServiceError> {
        Ok(self.store.trace(run, after, limit).await?)
    }

    /// Returns the [stamp](crate::ServiceStore::stamp) of the store. What was read after it is current for as long as the
    /// stamp is the same.
    pub fn stamp(&self) -> Option<u64> {
        self.store.stamp()
    }

    /// Returns the cursor after the last change of any run.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn current_cursor(&self) -> Result<ServiceCursor, ServiceError> {
        Ok(self.store.current_cursor().await?)
    }

    /// Waits for runs that changed after the cursor, at most for `timeout`. Returns at most `limit` runs; the cursor then
    /// leads to the others.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Result<ServiceChanges, ServiceError> {
        Ok(self.store.changes(cursor, limit, timeout).await?)
    }
}

impl RunView {
    /// The operations that the run allows.
    pub fn allowed(&self) -> &'static [Operation] {
        Operation::allowed(self.status)
    }

    /// Makes the view of a stored run.
    pub(super) fn new(stored: &StoredRun, run: &AnyServiceRun, artifacts: Artifacts) -> Self {
        let (digest, decided_by, tx_hashes): (_, _, &[String]) = match run {
            AnyServiceRun::AwaitingApproval(run) => (Some(run.state().digest()), None, &[]),
            AnyServiceRun::ApprovedReady(run) => {
                let state = run.state();
                (Some(state.digest()), Some((state.approved_by(), state.approved_at_ms())), &[])
            }
            AnyServiceRun::Rejected(run) => {
                let state = run.state();
                (Some(state.digest()), Some((state.rejected_by(), state.rejected_at_ms())), &[])
            }
            AnyServiceRun::Submitted(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Confirmed(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Reverted(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Created(_)
            | AnyServiceRun::Running(_)
            | AnyServiceRun::Paused(_)
            | AnyServiceRun::Blocked(_)
            | AnyServiceRun::Failed(_) => (None, None, &[]),
        };
        RunView {
            run_id: stored.id.clone(),
            version: stored.version,
            created_at_ms: stored.created_at_ms,
            updated_at_ms: stored.updated_at_ms,
            status: stored.status,
            final_status: stored.final_status,
            current_step: stored.current_step,
            intent: stored.intent.clone(),
            wallet: run.record().wallet().map(str::to_owned),
            chain_id: run.record().chain_id(),
            digest: digest.map(str::to_owned),
            tx_hashes: tx_hashes.to_vec(),
            decided_by: decided_by.map(|(actor, at_ms)| (actor.to_owned(), at_ms)),
            requested_by: stored.requested_by.clone(),
            artifacts,
        }
    }
}
