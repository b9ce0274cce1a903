//! An open store, with its runtime.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use runstate::snapshot::Keyring;
use runstate::trace::closest;
use runstate_store::{CorruptEntry, Keyed, RunQuery, RunStore, StoreError};
use tokio::runtime::{Builder, Handle, Runtime};

use super::again::Again;
use super::noted::Noted;
use super::open::open;
use super::url::StoreUrl;
use crate::failure::Failure;
use crate::output::{complain, printable};
use crate::runs::{self, Marks};

/// An open store, with a separate runtime.
///
/// The time of that runtime is real, even while a run is driven under virtual time: leases use real time, and a database
/// replies in real time.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn RunStore>,
    url: StoreUrl,
    /// The folder of all runs, if the user has one.
    state_dir: Option<PathBuf>,
    /// The numbers of the last commits of the runs of this machine.
    marks: Arc<Marks>,
    /// The further arguments that name this store.
    again: Again,
    runtime: Runtime,
    /// The reported damage. Locked for a moment.
    told: Mutex<BTreeSet<CorruptEntry>>,
}

/// The use of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only to read: a store of an earlier version is refused.
    Read,
    /// To write.
    Write,
    /// To write, as soon as it can be reached.
    Waiting,
}

/// The number of stored runs that are compared with a misspelt id: the newest.
const NEWEST: usize = 1_000;

/// The interval between tries at an unreachable store.
const AGAIN: Duration = Duration::from_secs(1);

impl Opened {
    pub(super) fn open(
        url: StoreUrl,
        state_dir: Option<PathBuf>,
        keys: Option<Keyring>,
        again: Again,
        access: Access,
    ) -> Result<Self, Failure> {
        let made = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
        let store = runtime.block_on(async {
            let mut is_told = false;
            loop {
                match open(&url, access != Access::Read).await {
                    Err(error @ StoreError::Unavailable(_)) if access == Access::Waiting => {
                        if !is_told {
                            let why = failure(&url, &error);
                            complain(&printable(&format!(
                                "{}; the command tries again every second",
                                why.message()
                            )));
                        }
                        is_told = true;
                        tokio::time::sleep(AGAIN).await;
                    }
                    opened => break opened.map_err(|error| failure(&url, &error)),
                }
            }
        })?;
        let store: Arc<dyn RunStore> = match keys {
            Some(keys) => Arc::new(Keyed::new(store, keys)),
            None => store,
        };
        let marks = Arc::new(Marks::of(state_dir.clone()));
        let store = Arc::new(Noted { store, marks: Arc::clone(&marks) });
        Ok(Opened { store, url, state_dir, marks, again, runtime, told: Mutex::default() })
    }

    /// That store, for tests.
    #[cfg(test)]
    pub(crate) fn over(store: Arc<dyn RunStore>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Opened {
            store,
            url: StoreUrl::Sqlite("memory".into()),
            state_dir: None,
            marks: Arc::new(Marks::of(None)),
            again: Again::default(),
            runtime,
            told: Mutex::default(),
        }
    }

    /// Its address, without a password.
    pub(crate) fn url(&self) -> String {
        self.url.to_string()
    }

    /// The folder of all runs, if the user has one or it was given.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// The folder of a run's tools, if there is a folder of all runs.
    pub(crate) fn work_of(&self, run: &str) -> Option<PathBuf> {
        self.state_dir.as_deref().map(|state_dir| runs::work_of(state_dir, run))
    }

    /// The further arguments that name this store: for hints.
    pub(crate) fn again(&self) -> &Again {
        &self.again
    }

    /// The numbers of the last commits of the runs of this machine.
    pub(crate) fn marks(&self) -> &Arc<Marks> {
        &self.marks
    }

    /// The runtime of the store.
    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Is this damage unreported? Records it as reported.
    pub(super) fn is_new(&self, damage: &CorruptEntry) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(damage.clone())
    }

    /// Waits for a reply of the store.
    ///
    /// # Errors
    /// Errors of the store, with its place.
    pub(crate) fn ask<T: Send>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, Failure> {
        beside(self.handle(), asked).map_err(|error| self.failure(&error))
    }

    /// Waits for a change to be made.
    ///
    /// # Errors
    /// Errors of the store, with its place. A store without a reply may have made the change, and the failure says so.
    pub(crate) fn change<T: Send>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, Failure> {
        beside(self.handle(), asked).map_err(|error| self.of_change(&error))
    }

    /// An error of the store, with its place.
    pub(crate) fn failure(&self, error: &StoreError) -> Failure {
        match error {
            StoreError::NoRun { run } => self.no_run(run),
            error => failure(&self.url, error),
        }
    }

    /// The failure for a run that is not in the store, with a stored run of a similar id.
    pub(crate) fn no_run(&self, run: &str) -> Failure {
        self.absent(&format!("there is no run {run:?} in {}", self.url), run)
    }

    /// The failure for an absent run of that name, or for an object with the id of a run.
    pub(crate) fn absent(&self, what: &str, run: &str) -> Failure {
        let again = &self.again;
        // A store that cannot be read is reported by the command that reads it.
        let runs = beside(self.handle(), self.store.runs(&RunQuery::all(NEWEST))).unwrap_or_default();
        // Another number is another run, and no slip.
        let digits = |id: &str| id.chars().filter(char::is_ascii_digit).collect::<String>();
        let alike = runs.iter().map(|info| info.id.as_str()).filter(|id| digits(id) == digits(run));
        let near = closest(run, alike);
        let near = near.map(|near| format!("did you mean {near:?}? ")).unwrap_or_default();
        Failure::new(what)
            .with_help(format!("{near}`runstate runs{again}`{} lists the stored runs", again.note()))
    }

    /// As [`failure`](Self::failure), for a change: without a reply it may have been made.
    pub(crate) fn of_change(&self, error: &StoreError) -> Failure {
        match error {
            StoreError::Unavailable(_) => {
                Failure::new(format!("{}: {error}; the change may have been made", self.url))
                    .with_help(format!(
                        "when the store can be reached, `runstate runs{again}` and `runstate show RUN{again}`{note} show \
                         the change if it was made; the same command again makes a change once",
                        again = self.again,
                        note = self.again.note()
                    ))
            }
            error => self.failure(error),
        }
    }
}

/// Waits for a future of another runtime, blocking this thread: the time of a runtime with a virtual clock stands still
/// meanwhile.
pub(crate) fn beside<T: Send>(handle: &Handle, asked: impl Future<Output = T> + Send) -> T {
    let waited = thread::scope(|scope| scope.spawn(|| handle.block_on(asked)).join());
    waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

pub(super) fn failure(url: &StoreUrl, error: &StoreError) -> Failure {
    match error {
        StoreError::Unusable { what, help } | StoreError::TooLarge { what, help } => {
            Failure::new(format!("{url}: {what}")).with_help(help)
        }
        StoreError::Unavailable(_) => {
            Failure::new(format!("{url}: {error}")).with_help("try again when the store can be reached")
        }
        error => Failure::new(format!("{url}: {error}")),
    }
}
