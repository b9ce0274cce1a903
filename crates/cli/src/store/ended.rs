//! Leases of ended processes of this machine.

use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::{Lease, RunInfo, RunQuery, RunStore, StoreError};

use crate::machine;

/// The number of runs of one list.
const PAGE: usize = 1_000;

/// Ends the leases of ended processes of this machine: their time need not be waited for. Such a lease counts as lost, like
/// an expired one.
///
/// # Errors
/// The store is unreachable, or gives no list.
pub(crate) async fn end_leases(store: &dyn RunStore) -> Result<(), StoreError> {
    // A run that is over is claimed by no worker. A waiting run may have a decision.
    for status in [RunStatus::Running, RunStatus::Waiting] {
        let mut query = RunQuery::status(status, PAGE);
        query.held = true;
        loop {
            let page = store.runs(&query).await?;
            for info in &page {
                // Another error of one run does not stop the others.
                if let Err(error @ StoreError::Unavailable(_)) = end_lease(store, info).await {
                    return Err(error);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => query = query.after(last),
                _ => break,
            }
        }
    }
    Ok(())
}

/// Ends the lease of a run if its holder has ended, and returns whether it has.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn end_lease(store: &dyn RunStore, info: &RunInfo) -> Result<bool, StoreError> {
    let holder = info.holder.as_ref().filter(|holder| !holder.left.is_zero());
    let Some(holder) = holder.filter(|holder| machine::has_ended(&holder.name)) else { return Ok(false) };
    match store.renew(&Lease::new(&*info.id, holder.fence), Duration::ZERO).await {
        // Another process was quicker.
        Ok(()) | Err(StoreError::Fenced { .. } | StoreError::NoRun { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
