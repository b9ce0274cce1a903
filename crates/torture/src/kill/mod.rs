//! The parent process: it makes runs, decides, kills the drivers at random, and starts the judge.

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
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use runstate_runtime::clock::{UnixClock, unix_clock};
use runstate_store::RunStore;
use tokio::sync::watch as channel;
use tokio_util::sync::CancellationToken;

pub use drivers::{Drivers, Signal};
pub use report::Report;
pub use strike::Strikes;
pub(crate) use strike::strike;

use crate::fault::{Fault, Faulty};
use crate::judge::{Violation, judge};
use crate::ledger::{self, Ledger};
use crate::open::open;
use people::Demand;

/// The settings of a campaign.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program of the drivers: usually this one.
    pub program: PathBuf,
    /// The address of the store; it should be new.
    pub store: String,
    /// A folder for the ledger and the output of the drivers.
    pub folder: PathBuf,
    /// The number of kills.
    pub times: u32,
    /// The number of simultaneous drivers.
    pub drivers: usize,
    /// The duration of their leases.
    pub lease: Duration,
    /// The difference between the clocks of two consecutive drivers.
    pub apart: Duration,
    /// The seed of all random choices. The timing of kills depends on the machine.
    pub seed: u64,
    /// The injected fault.
    pub fault: Option<Fault>,
    /// The kind of the runs.
    pub kind: Kind,
}

/// A kind of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Runs of agents.
    Agent,
    /// Service runs.
    Service,
}

impl Kind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Service => "service",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        let found = [Kind::Agent, Kind::Service].into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("{name:?} is no kind of runs; expected agent or service"))
    }
}

impl Options {
    /// Two drivers of agent runs, with leases of 600 ms and clocks an hour apart.
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
            kind: Kind::Agent,
        }
    }

    /// The file of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join("ledger.jsonl")
    }
}

/// The shared state of the parent's tasks.
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
/// If the campaign is impossible: the store cannot be opened, the ledger cannot be written, a driver cannot be started. An
/// error of a run is no error here: it is in the report.
///
/// # Cancel safety
/// Dropping it kills its drivers.
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
    let strikes = strike(options, &mut drivers, &mut rng).await?;

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

    // A fresh reader judges, without earlier observations.
    let entries = ledger::read(&options.ledger())?;
    let judged = judge(&*open(&options.store).await?, &entries).await;
    violations.extend(judged.violations.iter().cloned());
    Ok(Report { options: options.clone(), strikes, received, entries, facts: judged.facts, violations })
}

/// An error of the parent's own requests.
pub(crate) fn failed(rule: &'static str, error: impl std::fmt::Display) -> Violation {
    Violation::new(rule, String::new(), error)
}
