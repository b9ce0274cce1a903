//! A store that is open, and the runtime that it works in.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use runstate::store::{Damage, RunStore, StoreError};
use tokio::runtime::{Builder, Handle, Runtime};

use super::open::open;
use super::url::StoreUrl;
use crate::failure::Failure;

/// A store that is open, and a runtime of its own.
///
/// The time of that runtime is real, also while a run is driven whose delays are played: leases are kept by the day's time,
/// and a database answers when it does.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn RunStore>,
    url: StoreUrl,
    runtime: Runtime,
    /// What was told of damage. Held for a moment.
    told: Mutex<BTreeSet<Damage>>,
}

impl Opened {
    pub(super) fn open(url: StoreUrl) -> Result<Self, Failure> {
        let made = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
        let store = runtime.block_on(open(&url)).map_err(|error| failure(&url, &error))?;
        Ok(Opened { store, url, runtime, told: Mutex::default() })
    }

    /// Where it is, without a password.
    pub(crate) fn url(&self) -> String {
        self.url.to_string()
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

    /// An error of the store, with its place.
    pub(crate) fn failure(&self, error: &StoreError) -> Failure {
        failure(&self.url, error)
    }
}

/// Waits for something in another runtime, whatever this thread is doing: it stands still meanwhile, and so does the time of a
/// runtime in which time is moved on when nothing else is to be done.
pub(crate) fn beside<T: Send>(handle: &Handle, asked: impl Future<Output = T> + Send) -> T {
    let waited = thread::scope(|scope| scope.spawn(|| handle.block_on(asked)).join());
    waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn failure(url: &StoreUrl, error: &StoreError) -> Failure {
    match error {
        StoreError::Unusable { what, help } => Failure::new(format!("{url}: {what}")).with_help(help),
        StoreError::Unavailable(_) => Failure::new(format!("{url}: {error}"))
            .with_help("nothing was changed; try again when the store can be reached"),
        StoreError::NoRun { .. } => {
            Failure::new(format!("{url}: {error}")).with_help("`runstate runs` lists those that there are")
        }
        error => Failure::new(format!("{url}: {error}")),
    }
}
