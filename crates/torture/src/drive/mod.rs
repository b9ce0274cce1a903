//! A driver: a process that works on a store until it is killed or stopped.

mod ahead;
mod host;
mod tools;
mod witness;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use runstate_store::{StoreError, Worker};
use tokio_util::sync::CancellationToken;

pub use ahead::Ahead;
pub use host::{MESSAGE, Scripts};
pub use witness::Witness;

use crate::fault::{Fault, Faulty};
use crate::ledger::Ledger;
use crate::open::open;

/// The settings of a driver.
#[derive(Debug, Clone)]
pub struct Driver {
    /// The address of the store.
    pub store: String,
    /// The ledger.
    pub ledger: PathBuf,
    /// Its name.
    pub name: String,
    /// The duration of its leases.
    pub lease: Duration,
    /// How far the clock of its machine is ahead.
    pub ahead: Duration,
    /// The injected fault.
    pub fault: Option<Fault>,
}

/// Drives the runs of the store until `drain` is cancelled.
///
/// # Errors
/// Errors of the store and of the ledger.
///
/// # Cancel safety
/// A dropped driver behaves like a killed one.
pub async fn drive(driver: Driver, drain: CancellationToken) -> Result<(), StoreError> {
    let Driver { store, ledger, name, lease, ahead, fault } = driver;
    let clock = Ahead::by(ahead);
    let ledger = Ledger::open(&ledger).map_err(StoreError::failed)?;
    let store = Faulty::wrap(open(&store).await?, fault);
    let store = Witness::new(store, ledger.clone(), &name);
    let host = Scripts::new(ledger, &name, clock, fault == Some(Fault::SaidRepeatable));
    Worker::new(Arc::new(store), name)
        .clock(clock)
        .lease(lease)
        .poll(Duration::from_millis(20))
        .retry_delay(Duration::from_millis(100))
        .concurrency(8)
        // In this test the workers are killed repeatedly.
        .set_aside_after(u32::MAX)
        .run(&host, drain)
        .await
}
