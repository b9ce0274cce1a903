//! `runstate-torture kill sqlite: --times 300 --seed 1`: drivers of durable runs are killed at random, and a judge checks
//! the stored results.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use runstate_postgres_server::{Server, Setup};
use runstate_torture::drive::{Driver, drive};
use runstate_torture::fault::Fault;
use runstate_torture::judge::Violation;
use runstate_torture::kill::{Kind, Options, kill};
use runstate_torture::service;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const USAGE: &str = "\
runstate-torture kill STORE [--kind KIND] [--times N] [--seed N] [--drivers N] [--lease-ms N] [--apart-ms N] [--fault NAME]
runstate-torture faults STORE [--kind KIND] [--times N] [--seed N]      each fault is injected, and must be found
runstate-torture drive STORE LEDGER NAME [--kind KIND] [--lease-ms N] [--ahead-ms N] [--fault NAME]

KIND is agent (the default) or service, the kind of the runs. STORE is sqlite:PATH, file:FOLDER or postgres://…; with nothing behind the colon it is new, and removed unless something is
wrong.";

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, Default)]
struct Asked {
    words: Vec<String>,
    times: Option<u32>,
    seed: Option<u64>,
    drivers: Option<usize>,
    lease: Option<Duration>,
    ahead: Option<Duration>,
    apart: Option<Duration>,
    fault: Option<Fault>,
    kind: Option<Kind>,
}

impl Asked {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Asked, Failure> {
        let mut asked = Asked::default();
        while let Some(word) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
            match &*word {
                "--times" => asked.times = Some(value()?.parse()?),
                "--seed" => asked.seed = Some(value()?.parse()?),
                "--drivers" => asked.drivers = Some(value()?.parse()?),
                "--lease-ms" => asked.lease = Some(Duration::from_millis(value()?.parse()?)),
                "--ahead-ms" => asked.ahead = Some(Duration::from_millis(value()?.parse()?)),
                "--apart-ms" => asked.apart = Some(Duration::from_millis(value()?.parse()?)),
                "--kind" => asked.kind = Some(value()?.parse()?),
                "--fault" => asked.fault = Some(value()?.parse()?),
                _ if word.starts_with('-') => return Err(format!("{word} is no option\n{USAGE}").into()),
                _ => asked.words.push(word),
            }
        }
        Ok(asked)
    }

    fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Agent)
    }

    fn options(&self, store: &str, folder: &Path) -> Result<Options, Failure> {
        let program = std::env::current_exe()?;
        let mut options =
            Options::new(program, store, folder, self.times.unwrap_or(300), self.seed.unwrap_or(1));
        options.fault = self.fault;
        options.kind = self.kind();
        options.drivers = self.drivers.unwrap_or(options.drivers).max(1);
        options.lease = self.lease.unwrap_or(options.lease);
        options.apart = self.apart.unwrap_or(options.apart);
        Ok(options)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    let asked = Asked::read(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let words: Vec<&str> = asked.words.iter().map(String::as_str).collect();
    match *words {
        ["drive", store, ledger, name] => runtime.block_on(driver(&asked, store, ledger, name)),
        ["kill", store] => runtime.block_on(killed(&asked, store)),
        ["faults", store] => runtime.block_on(faults(&asked, store)),
        _ => Err(USAGE.into()),
    }
}

async fn driver(asked: &Asked, store: &str, ledger: &str, name: &str) -> Result<ExitCode, Failure> {
    let drain = CancellationToken::new();
    let parent_is_gone = drain.clone();
    // The driver ends at the end of its standard input: none outlives its parent.
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        std::io::stdin().read_to_end(&mut rest).ok();
        parent_is_gone.cancel();
    });
    let driver = Driver {
        store: store.to_owned(),
        ledger: PathBuf::from(ledger),
        name: name.to_owned(),
        lease: asked.lease.unwrap_or(Duration::from_secs(30)),
        ahead: asked.ahead.unwrap_or_default(),
        fault: asked.fault,
    };
    match asked.kind() {
        Kind::Agent => drive(driver, drain).await?,
        Kind::Service => service::drive(driver, drain).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A private folder or database for a campaign.
struct Place {
    store: String,
    folder: TempDir,
    server: Option<Server>,
}

impl Place {
    fn new(store: &str) -> Result<Place, Failure> {
        let (folder, mut server) = (tempfile::tempdir()?, None);
        let store = match store {
            "sqlite:" => format!("sqlite:{}", folder.path().join("runs.db").display()),
            "file:" => format!("file:{}", folder.path().join("runs").display()),
            "postgres:" => server.insert(Server::start(Setup::new())?).url("postgres"),
            store => store.to_owned(),
        };
        Ok(Place { store, folder, server })
    }

    /// Keeps the place and prints its path, to inspect an error.
    fn keep(self) {
        println!("the ledger is in {}, the store was {}", self.folder.keep().display(), self.store);
        if let Some(server) = self.server {
            println!("the server is stopped; its log ends with\n{}", server.last_words());
        }
    }
}

async fn killed(asked: &Asked, store: &str) -> Result<ExitCode, Failure> {
    let place = Place::new(store)?;
    let (violations, too_seldom) = {
        let options = asked.options(&place.store, place.folder.path())?;
        match asked.kind() {
            Kind::Agent => {
                let report = kill(&options).await?;
                print!("{report}");
                (report.violations.len(), report.too_seldom())
            }
            Kind::Service => {
                let report = service::kill(&options).await?;
                print!("{report}");
                (report.violations.len(), report.too_seldom())
            }
        }
    };
    if violations == 0 && too_seldom.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    place.keep();
    Ok(ExitCode::FAILURE)
}

/// A fault is tried with several seeds: the first one may not show it.
const SEEDS: u64 = 3;

async fn faults(asked: &Asked, store: &str) -> Result<ExitCode, Failure> {
    let mut survived = 0;
    println!("| fault | seed | caught by the promises | the first of them said |\n|---|---|---|---|");
    let all = match asked.kind() {
        Kind::Agent => Fault::ALL.as_slice(),
        Kind::Service => Fault::SERVICE.as_slice(),
    };
    for fault in all.iter().copied().filter(|fault| asked.fault.is_none_or(|only| only == *fault)) {
        let first = asked.seed.unwrap_or(1);
        let mut found = None;
        for seed in first..first + SEEDS {
            let place = Place::new(store)?;
            let mut options = asked.options(&place.store, place.folder.path())?;
            (options.fault, options.seed) = (Some(fault), seed);
            options.times = asked.times.unwrap_or(60);
            let violations = violations(&options).await?;
            if let Some(violation) = violations.first() {
                let rules: BTreeSet<&str> = violations.iter().map(|it| it.rule).collect();
                let rules: Vec<&str> = rules.into_iter().collect();
                found = Some((seed, rules.join(", "), violation.what.clone()));
                break;
            }
        }
        match found {
            Some((seed, rules, what)) => println!("| `{fault}` | {seed} | {rules} | {what} |"),
            None => {
                survived += 1;
                println!("| `{fault}` | | SURVIVED | |");
            }
        }
    }
    Ok(if survived == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn violations(options: &Options) -> Result<Vec<Violation>, Failure> {
    Ok(match options.kind {
        Kind::Agent => kill(options).await?.violations,
        Kind::Service => service::kill(options).await?.violations,
    })
}
