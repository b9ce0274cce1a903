//! Service runs: drivers and persons in processes that are killed, and a judge of the stored runs.

mod entry;
mod judge;
mod kill;
mod people;
mod ports;
mod report;
mod store;
mod world;

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use runstate_runtime::clock::Clock;
use runstate_service::sim::SimChain;
use runstate_service::{Service, ServiceError, ServiceStoreError};
use tokio_util::sync::CancellationToken;

pub use entry::{Asked, Deed, Entry, Made, Reply};
pub use judge::{Judged, judge};
pub use kill::kill;
pub use people::{Access, Person};
pub use report::Report;
pub use store::Witness;
pub use world::World;

use crate::drive::{Ahead, Driver};
use crate::ledger::{Ledger, digest_of, read_end};
use crate::open::open_services;

/// The number of persons in a process.
const PERSONS: u64 = 3;

/// The bytes at the end of the ledger in which a new process looks for requests without a reply.
const RECENT: u64 = 64 * 1024;

/// The file of the chain, beside the ledger.
fn chain_of(ledger: &Path) -> Result<SimChain, std::io::Error> {
    SimChain::journaled(&ledger.with_file_name("chain.jsonl"))
}

/// Opens the store of a driver, with the chain of its campaign.
async fn access(driver: &Driver) -> Result<Access, Box<dyn Error + Send + Sync>> {
    let Driver { store, ledger, name, lease, ahead, fault } = driver;
    let chain = chain_of(ledger)?;
    let ledger = Ledger::open(ledger)?;
    let store = Witness::new(open_services(store).await?, ledger.clone(), name, *lease, *fault);
    let clock: Arc<dyn Clock> = Arc::new(Ahead::by(*ahead));
    let service = Service::new(Arc::new(store), ports::ports(&chain), ports::config(&chain), clock, name);
    Ok(Access { service, chain, ledger })
}

/// Drives the service runs of the store, beside persons, until `drain` is cancelled.
///
/// # Errors
/// Errors of the store, of the chain and of the ledger.
///
/// # Cancel safety
/// A dropped driver behaves like a killed one.
pub async fn drive(driver: Driver, drain: CancellationToken) -> Result<(), Box<dyn Error + Send + Sync>> {
    let access = access(&driver).await?;
    // Names are unique in a campaign, so the seeds of two processes differ.
    let seed = digest_of(&driver.name.as_str().into());
    let persons: Vec<_> = (0..PERSONS)
        .map(|number| {
            let name = format!("{}-{number}", driver.name);
            let person = Person::new(access.clone(), name, Rng::with_seed(seed.wrapping_add(number)), true);
            tokio::spawn(live(person, drain.clone()))
        })
        .collect();
    let repeating = tokio::spawn({
        let (access, ledger) = (access.clone(), driver.ledger.clone());
        async move { access.repeat(&read_end(&ledger, RECENT)?, 8).await }
    });
    work(&access, drain).await;
    for person in persons {
        person.await??;
    }
    repeating.await??;
    Ok(())
}

/// The number of runs that a process drives at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Drives runs until the end. An error that no restart mends is noted.
async fn work(access: &Access, drain: CancellationToken) {
    let failed = |run: Option<&str>, error: &ServiceError| {
        let is_transient = matches!(
            error,
            ServiceError::Store(
                ServiceStoreError::Unavailable(_)
                    | ServiceStoreError::Fenced { .. }
                    | ServiceStoreError::Version { .. }
            )
        );
        if !is_transient {
            let (run, error) = (run.unwrap_or_default().to_owned(), error.to_string());
            // A missing line hides an error; the run then comes to no end, which is found.
            access.ledger.note(&Entry::Broken { run, error }).ok();
        }
    };
    access.service.work(AT_ONCE, drain.cancelled(), failed).await;
}

/// A person's rounds until the end.
async fn live(mut person: Person, drain: CancellationToken) -> Result<(), ServiceError> {
    while !drain.is_cancelled() {
        match person.round().await {
            Err(ServiceError::Store(ServiceStoreError::Unavailable(_) | ServiceStoreError::NoRun { .. })) => {
            }
            round => round?,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
