//! The parent: it makes runs, decides, kills the drivers at random, and has what is left judged.

mod drivers;
mod feed;
mod finish;
mod people;
mod receivers;
mod report;
mod strike;
mod watch;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use runstate::clock::{UnixClock, unix_clock};
use runstate::store::RunStore;
use tokio::sync::watch as channel;
use tokio_util::sync::CancellationToken;

pub use drivers::{Drivers, Signal};
pub use report::Report;

use crate::fault::{Fault, Faulty};
use crate::judge::{Violation, judge};
use crate::ledger::{self, Ledger};
use crate::open::open;
use people::Demand;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that drives: this one, most often.
    pub program: PathBuf,
    /// The address of the store; it should be new.
    pub store: String,
    /// A folder for the ledger and what the drivers say.
    pub folder: PathBuf,
    /// How often a driver is killed.
    pub times: u32,
    /// How many drivers there are at once.
    pub drivers: usize,
    /// How long their leases are.
    pub lease: Duration,
    /// How far the clocks of two drivers that follow each other are apart.
    pub apart: Duration,
    /// What is drawn is drawn from it. When the kills hit is up to the machine.
    pub seed: u64,
    /// What is wrong on purpose.
    pub fault: Option<Fault>,
}

impl Options {
    /// Two drivers, with leases of 600 ms and clocks an hour apart.
    pub fn new(
        program: impl Into<PathBuf>,
        store: impl Into<String>,
        folder: &Path,
        times: u32,
        seed: u64,
    ) -> Self {
        Options {
            program: program.into(),
            store: store.into(),
            folder: folder.to_owned(),
            times,
            drivers: 2,
            lease: Duration::from_millis(600),
            apart: Duration::from_secs(3_600),
            seed,
            fault: None,
        }
    }

    /// The file of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join("ledger.jsonl")
    }
}

/// What the tasks of the parent have in common.
#[derive(Clone)]
struct Parent {
    store: Arc<dyn RunStore>,
    ledger: Ledger,
    clock: UnixClock,
    stop: CancellationToken,
}

/// Kills drivers at random, lets the last ones finish, and judges.
///
/// # Errors
/// When it cannot be done: the store cannot be opened, the ledger not be written, a driver not be started. What is wrong
/// with the runs is no error: it is in the report.
///
/// # Cancel safety
/// Dropped, its drivers are killed.
pub async fn kill(options: &Options) -> Result<Report, Box<dyn Error + Send + Sync>> {
    let mut rng = Rng::with_seed(options.seed);
    let store = Faulty::wrap(open(&options.store).await?, options.fault);
    let ledger = Ledger::open(&options.ledger())?;
    let clock = unix_clock();
    let parent = Parent { store, ledger, clock, stop: CancellationToken::new() };
    let fed_up = CancellationToken::new();
    let (demand, demanded) = channel::channel(Demand::Busy);

    let feeder = tokio::spawn(feed::feed(parent.clone(), fed_up.clone(), rng.fork()));
    let people = tokio::spawn(people::people(parent.clone(), demanded, rng.fork()));
    let watching = tokio::spawn(watch::watch(parent.clone()));
    let receiving = tokio::spawn(receivers::receive(parent.clone(), rng.fork()));
    let mut drivers = Drivers::start(options)?;
    let strikes = strike::strike(options, &mut drivers, &mut rng).await?;

    fed_up.cancel();
    let mut violations = feeder.await?;
    violations.extend(finish::finish(&parent, &demand).await);
    parent.stop.cancel();
    let seen = people.await?;
    violations.extend(seen.violations);
    violations.extend(watching.await?);
    let (received, wrong) = receiving.await?;
    violations.extend(wrong);
    violations.extend(drivers.drain().await);
    drop(parent);

    // What is judged is read by somebody who saw nothing of it before.
    let entries = ledger::read(&options.ledger())?;
    let judged = judge(&*open(&options.store).await?, &entries).await;
    violations.extend(judged.violations.iter().cloned());
    Ok(Report { options: options.clone(), strikes, received, entries, facts: judged.facts, violations })
}

/// Something is wrong with the parent's own requests.
fn failed(rule: &'static str, error: impl std::fmt::Display) -> Violation {
    Violation::new(rule, String::new(), error)
}
