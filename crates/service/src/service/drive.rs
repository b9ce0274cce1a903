//! The driver of passes.

use std::pin::pin;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;

use super::{RunView, Service, ServiceError, unusable};
use crate::store::{ServiceLease, ServiceStoreError};
use crate::work::Work;

/// The term of a lease. A driver renews it, so that another one takes over soon after a crash.
pub(super) const TERM: Duration = Duration::from_secs(10);

/// The number of leases that a node may lose. With the next one the run fails: it ends its drivers.
const MAX_LOST: u32 = 5;

impl Service {
    /// Drives the pass of a RUNNING run to its outcome, under a lease. A run in another status is returned as it is.
    ///
    /// Each node with input or output is one commit, together with the nodes without it that follow. After a crash the
    /// pass continues behind its last commit: a node only reads, so its repetition is safe. A node that ends its drivers
    /// five times fails the run.
    ///
    /// # Errors
    /// [`ServiceStoreError::Held`] while another driver has the lease, [`ServiceStoreError::Fenced`] if another one
    /// claimed the run since. The errors of the store; the run can be driven again.
    ///
    /// # Cancel safety
    /// If the future is dropped, the work since the last commit is lost, and the run stays leased until the term of the
    /// lease is over.
    pub async fn drive(&self, run: &str) -> Result<RunView, ServiceError> {
        if let Some(lease) = self.store.claim(Some(run), &self.holder, TERM).await? {
            self.drive_leased(&lease).await?;
        }
        self.get(run).await
    }

    /// Drives the pass of the RUNNING run that has waited longest. None if no run waits for a driver.
    ///
    /// # Errors
    /// As [`drive`](Self::drive).
    pub async fn drive_next(&self) -> Result<Option<RunView>, ServiceError> {
        let Some(lease) = self.store.claim(None, &self.holder, TERM).await? else { return Ok(None) };
        self.drive_leased(&lease).await?;
        Ok(Some(self.get(&lease.run).await?))
    }

    pub(super) async fn drive_leased(&self, lease: &ServiceLease) -> Result<(), ServiceError> {
        let result = self.drive_to_the_end(lease).await;
        match &result {
            Ok(()) | Err(ServiceError::Store(ServiceStoreError::Fenced { .. })) => {}
            // No driver of this program can use the run: the others come first until the term of the lease.
            Err(ServiceError::Unusable { .. }) => {}
            // Another driver may try at once. A store that cannot be reached keeps the lease until its term.
            Err(_) => drop(self.store.release(lease).await),
        }
        result
    }

    async fn drive_to_the_end(&self, lease: &ServiceLease) -> Result<(), ServiceError> {
        let mut stored = self.store.load(&lease.run).await?;
        let mut work = Work::of(&mut stored, &self.clock).map_err(unusable(&lease.run))?;
        // A driver that was stopped after its claim loads the run of another one, which may have ended the pass.
        if work.run.status() != ServiceRunStatus::Running {
            return Ok(());
        }
        if work.lost > MAX_LOST {
            self.graph.give_up(&mut work, MAX_LOST);
        }
        // The pass stands at a node with I/O, unless the run was stored under another configuration.
        self.graph.settle(&mut work);
        loop {
            if work.run.status() == ServiceRunStatus::Running {
                self.perform(&mut work, lease).await?;
                self.graph.settle(&mut work);
            }
            self.commit(&mut work, lease).await?;
            if work.run.status() != ServiceRunStatus::Running {
                return Ok(());
            }
        }
    }

    /// Executes a node, and renews the lease while its port works.
    async fn perform(&self, work: &mut Work, lease: &ServiceLease) -> Result<(), ServiceError> {
        let mut perform = pin!(self.graph.perform(work));
        loop {
            match tokio::time::timeout(TERM / 3, &mut perform).await {
                Ok(()) => return Ok(()),
                Err(_) => match self.store.renew(lease, TERM).await {
                    // Two thirds of the term are left for another try.
                    Ok(()) | Err(ServiceStoreError::Unavailable(_)) => {}
                    Err(error) => return Err(error.into()),
                },
            }
        }
    }

    async fn commit(&self, work: &mut Work, lease: &ServiceLease) -> Result<(), ServiceError> {
        let change = work.change().map_err(unusable(&lease.run))?;
        let term = (change.status == ServiceRunStatus::Running).then_some(TERM);
        work.version = self.store.commit(lease, work.version, &change, term).await?;
        Ok(())
    }
}
