//! The campaign: processes with drivers and persons are killed at random, and the rest is finished here.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use fastrand::Rng;
use runstate_service::{ServiceError, ServiceStoreError};
use tokio_util::sync::CancellationToken;

use super::{Access, Entry, Person, Report, access, judge, live, work};
use crate::drive::Driver;
use crate::judge::Violation;
use crate::kill::{Drivers, Options, failed, strike};
use crate::ledger;
use crate::open::open_services;

/// Without progress for this time there will be none.
const STILL: Duration = Duration::from_secs(8);
const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of checks.
const LOOKS: u32 = 3_600;

/// Kills processes at random, finishes their runs, and judges.
///
/// # Errors
/// If the campaign is impossible: the store cannot be opened, the ledger cannot be written, a process cannot be started. An
/// error of a run is no error here: it is in the report.
///
/// # Cancel safety
/// Dropping it kills its processes.
pub async fn kill(options: &Options) -> Result<Report, Box<dyn Error + Send + Sync>> {
    let mut rng = Rng::with_seed(options.seed);
    let driver = Driver {
        store: options.store.clone(),
        ledger: options.ledger(),
        name: "last".to_owned(),
        lease: options.lease,
        ahead: Duration::ZERO,
        fault: options.fault,
    };
    // The store and the files exist before the first process: none fails to make them.
    let access = access(&driver).await?;
    let mut drivers = Drivers::start(options)?;
    let strikes = strike(options, &mut drivers, &mut rng).await?;
    let mut violations = drivers.drain().await;

    let entries = ledger::read::<Entry>(&options.ledger())?;
    access.repeat(&entries, usize::MAX).await?;
    let stop = CancellationToken::new();
    let persons = (0..2).map(|number| {
        let person = Person::new(access.clone(), format!("last-{number}"), rng.fork(), false);
        tokio::spawn(live(person, stop.clone()))
    });
    let persons: Vec<_> = persons.collect();
    let working = tokio::spawn({
        let (access, stop) = (access.clone(), stop.clone());
        async move { work(&access, stop).await }
    });
    violations.extend(settle(&access).await?.into_iter().map(|(run, status)| {
        Violation::new("stuck", run, format!("it came to no end, with all that it asked answered: {status}"))
    }));
    stop.cancel();
    working.await?;
    for person in persons {
        if let Err(error) = person.await? {
            violations.push(failed("requests", error));
        }
    }

    // A fresh reader judges, without earlier observations.
    let entries = ledger::read::<Entry>(&options.ledger())?;
    let judged = judge(&*open_services(&options.store).await?, &access.chain, &entries).await;
    violations.extend(judged.violations.iter().cloned());
    Ok(Report { options: options.clone(), strikes, torn: entries.torn, facts: judged.facts, violations })
}

/// Waits until every run is over; returns the others, with their statuses.
async fn settle(access: &Access) -> Result<Vec<(String, String)>, ServiceError> {
    let (mut still, mut last, mut left) = (Duration::ZERO, HashMap::new(), Vec::new());
    for _ in 0..LOOKS {
        let open = match access.open().await {
            Err(ServiceError::Store(ServiceStoreError::Unavailable(_))) => {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            open => open?,
        };
        left = open.iter().map(|run| (run.id.clone(), run.status.to_string())).collect();
        // A read of the receipts changes no status.
        let now: HashMap<_, _> = open.iter().map(|run| (run.id.clone(), run.status)).collect();
        still = if now == last { still + LOOK } else { Duration::ZERO };
        if left.is_empty() || still >= STILL {
            break;
        }
        last = now;
        tokio::time::sleep(LOOK).await;
    }
    Ok(left)
}
