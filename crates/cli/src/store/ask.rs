//! A store that is open, and the runtime that it works in.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use runstate::snapshot::Keyring;
use runstate::store::{Damage, Keyed, RunStore, StoreError};
use tokio::runtime::{Builder, Handle, Runtime};

use super::again::Again;
use super::noted::Noted;
use super::open::open;
use super::url::StoreUrl;
use crate::failure::Failure;
use crate::output::{complain, printable};
use crate::runs::{self, Marks};

/// A store that is open, and a runtime of its own.
///
/// The time of that runtime is real, also while a run is driven whose delays are played: leases are kept by the day's time,
/// and a database answers when it does.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn RunStore>,
    url: StoreUrl,
    /// The folder of all runs, if the user has one.
    state_dir: Option<PathBuf>,
    /// The numbers of the last commits of the runs of this machine.
    marks: Arc<Marks>,
    /// What else a person says on the command line so that this store is meant.
    again: Again,
    runtime: Runtime,
    /// What was told of damage. Held for a moment.
    told: Mutex<BTreeSet<Damage>>,
}

/// How often a store that is away is tried again, by one that waits for it.
const AGAIN: Duration = Duration::from_secs(1);

impl Opened {
    pub(super) fn open(
        url: StoreUrl,
        state_dir: Option<PathBuf>,
        keys: Option<Keyring>,
        again: Again,
        waits: bool,
    ) -> Result<Self, Failure> {
        let made = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
        let store = runtime.block_on(async {
            let mut is_told = false;
            loop {
                match open(&url).await {
                    Err(error @ StoreError::Unavailable(_)) if waits => {
                        if !is_told {
                            let why = failure(&url, &again, &error);
                            complain(&printable(&format!(
                                "{}; it is tried again each second",
                                why.message()
                            )));
                        }
                        is_told = true;
                        tokio::time::sleep(AGAIN).await;
                    }
                    opened => break opened.map_err(|error| failure(&url, &again, &error)),
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

    /// Where it is, without a password.
    pub(crate) fn url(&self) -> String {
        self.url.to_string()
    }

    /// The folder of all runs, where the user has one or it was given.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// The folder that the tools of a run work in, where there is a folder of all runs.
    pub(crate) fn work_of(&self, run: &str) -> Option<PathBuf> {
        self.state_dir.as_deref().map(|state_dir| runs::work_of(state_dir, run))
    }

    /// What else is to be said on the command line so that this store is meant: for hints.
    pub(crate) fn again(&self) -> &Again {
        &self.again
    }

    /// The numbers of the last commits of the runs of this machine.
    pub(crate) fn marks(&self) -> &Arc<Marks> {
        &self.marks
    }

    /// The runtime it works in.
    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Has nobody been told of that damage? From now on somebody has.
    pub(super) fn is_new(&self, damage: &Damage) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(damage.clone())
    }

    /// Waits for an answer of the store.
    ///
    /// # Errors
    /// Those of the store, with its place.
    pub(crate) fn ask<T: Send>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, Failure> {
        beside(self.handle(), asked).map_err(|error| self.failure(&error))
    }

    /// Waits for a change to be made.
    ///
    /// # Errors
    /// Those of the store, with its place. One that did not answer may have made the change, and the failure says so.
    pub(crate) fn change<T: Send>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, Failure> {
        beside(self.handle(), asked).map_err(|error| self.of_change(&error))
    }

    /// An error of the store, with its place.
    pub(crate) fn failure(&self, error: &StoreError) -> Failure {
        failure(&self.url, &self.again, error)
    }

    /// The same, of a change: one that got no answer may have been made.
    pub(crate) fn of_change(&self, error: &StoreError) -> Failure {
        match error {
            StoreError::Unavailable(_) => {
                Failure::new(format!("{}: {error}; it is not known whether the change was made", self.url))
                    .with_help(format!(
                        "once the store can be reached, `runstate runs{again}` and `runstate show RUN{again}`{note} say \
                         what is there; made already, it is not made twice when it is asked for again",
                        again = self.again,
                        note = self.again.note()
                    ))
            }
            error => self.failure(error),
        }
    }
}

/// Waits for something in another runtime, whatever this thread is doing: it stands still meanwhile, and so does the time of a
/// runtime in which time is moved on when nothing else is to be done.
pub(crate) fn beside<T: Send>(handle: &Handle, asked: impl Future<Output = T> + Send) -> T {
    let waited = thread::scope(|scope| scope.spawn(|| handle.block_on(asked)).join());
    waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn failure(url: &StoreUrl, again: &Again, error: &StoreError) -> Failure {
    match error {
        StoreError::Unusable { what, help } | StoreError::TooLarge { what, help } => {
            Failure::new(format!("{url}: {what}")).with_help(help)
        }
        StoreError::Unavailable(_) => {
            Failure::new(format!("{url}: {error}")).with_help("try again when the store can be reached")
        }
        StoreError::NoRun { .. } => Failure::new(format!("{url}: {error}"))
            .with_help(format!("`runstate runs{again}`{} lists those that there are", again.note())),
        error => Failure::new(format!("{url}: {error}")),
    }
}
