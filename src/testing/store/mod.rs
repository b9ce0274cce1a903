//! The conformance suite of stores: what [`RunStore`] says, as behaviours that any implementation runs in its own tests.
//!
//! A [`Bench`] is a place with a store in it, empty to begin with. It gives handles on it, as many as are asked for; each
//! is like a process of its own. [`store_conformance!`](crate::store_conformance) makes a test of each behaviour, on a
//! bench of its own:
//!
//! ```
//! use runstate::store::MemoryStore;
//! use runstate::testing::store::OneHandle;
//!
//! mod conformance {
//!     # use super::*;
//!     runstate::store_conformance!(async { OneHandle::new(MemoryStore::with_clock) });
//! }
//! ```
//!
//! [`check_all`] runs all of them at once and says which failed:
//!
//! ```
//! use runstate::store::MemoryStore;
//! use runstate::testing::store::{OneHandle, check_all};
//!
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let failed = check_all(|| async { OneHandle::new(MemoryStore::with_clock) }).await;
//! assert_eq!(failed, []);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Behaviours are listed by the [`Part`] of a store that they need. A store without a queue, or without lists, has a [`PartBench`], and
//! `store_conformance!(data: ...)` makes its tests.
//!
//! A behaviour that does not hold panics, saying what it got and what it expected. What the suite can not see is whether
//! what is durable survives a power cut: for that a store counts its syncs, or runs on a simulated disk
//! ([`SimDisk`](crate::files::SimDisk)).

mod behaviours;
mod cancels;
mod claims;
mod commits;
mod creates;
mod crowds;
mod decides;
mod drives;
mod events;
mod leases;
mod lists;
mod loads;
mod moments;
mod owners;
mod parted;
mod places;
mod played;
mod posts;
mod puts;
mod random;
mod refusals;
mod removes;
mod reopened;
mod taped;
mod texts;
mod threads;
mod timers;
mod traces;
mod unknown;
mod world;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;

use crate::clock::SetClock;
use crate::store::RunStore;

pub use behaviours::BEHAVIOURS;
pub use parted::{Part, PartBench, WithoutQueue};
pub use played::Played;
pub use taped::Taped;

/// A place with a store in it.
#[async_trait]
pub trait Bench: Send + Sync {
    /// Another handle on the same data, as another process would open it: a connection, an instance of its own. A store
    /// that lives in memory gives the same one again ([`OneHandle`]).
    async fn store(&self) -> Arc<dyn RunStore>;

    /// The clock of all its handles, by which they tell leases and lapses.
    fn clock(&self) -> &SetClock;
}

/// A store that has one handle and no more, such as one in memory.
#[derive(Debug, Clone)]
pub struct OneHandle {
    store: Arc<dyn RunStore>,
    clock: SetClock,
}

impl OneHandle {
    /// With the store that is made with this clock.
    pub fn new<S: RunStore + 'static>(make: impl FnOnce(SetClock) -> S) -> Self {
        let clock = SetClock::default();
        OneHandle { store: Arc::new(make(clock.clone())), clock }
    }
}

#[async_trait]
impl Bench for OneHandle {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::clone(&self.store)
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

/// One thing that a store does.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// Its name, as the name of its test.
    pub name: &'static str,
    /// The last part of a store that it needs.
    pub part: Part,
    run: for<'b> fn(&'b dyn Bench) -> futures_util::future::BoxFuture<'b, ()>,
}

impl Behaviour {
    /// Looks whether the store on that bench, which is empty, does it.
    ///
    /// # Panics
    /// When it does not.
    ///
    /// # Cancel safety
    /// Dropped, it leaves on the bench what it put there.
    pub async fn check(&self, bench: &dyn Bench) {
        bench.clock().set(world::NOW);
        (self.run)(bench).await;
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Behaviour({})", self.name)
    }
}

/// The behaviour of that name, on a runtime of its own with several threads: what the tests of
/// [`store_conformance!`](crate::store_conformance) do.
///
/// # Panics
/// When the store does not behave so, when there is no behaviour of that name, and when no runtime can be made.
pub fn check_one<B: Bench>(name: &str, bench: impl Future<Output = B>) {
    let Some(behaviour) = BEHAVIOURS.iter().find(|behaviour| behaviour.name == name) else {
        panic!("there is no behaviour {name:?}; `BEHAVIOURS` has those there are");
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime could be made: {error}"));
    runtime.block_on(async {
        let bench = bench.await;
        behaviour.check(&bench).await;
    });
}

/// All behaviours, each on a bench of its own: the names of those that the store does not have, each with what was said.
///
/// # Cancel safety
/// Dropped, it leaves on the benches what it put there.
pub async fn check_all<B: Bench, F: Future<Output = B>>(bench: impl FnMut() -> F) -> Vec<(String, String)> {
    check(BEHAVIOURS.iter(), bench).await
}

/// Checks the behaviours of one part of a store, as [`check_all`] does. A [`PartBench`] has an example.
///
/// # Cancel safety
/// Dropped, it leaves on the benches what it put there.
pub async fn check_part<B: Bench, F: Future<Output = B>>(
    part: Part,
    bench: impl FnMut() -> F,
) -> Vec<(String, String)> {
    check(BEHAVIOURS.iter().filter(|behaviour| behaviour.part == part), bench).await
}

async fn check<B: Bench, F: Future<Output = B>>(
    behaviours: impl Iterator<Item = &'static Behaviour>,
    mut bench: impl FnMut() -> F,
) -> Vec<(String, String)> {
    let mut failed = Vec::new();
    for behaviour in behaviours {
        let bench = bench().await;
        let checked = std::panic::AssertUnwindSafe(behaviour.check(&bench)).catch_unwind();
        if let Err(panic) = checked.await {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
            failed.push((behaviour.name.to_owned(), said.unwrap_or_default()));
        }
    }
    failed
}
