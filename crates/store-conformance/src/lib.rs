//! The conformance suite of stores: the contract of [`RunStore`] as behaviours that any implementation runs in its
//! own tests.
//!
//! A [`Bench`] is a place with an initially empty store. It returns any number of handles on the store, each like one
//! of a separate process. [`store_conformance!`](crate::store_conformance) creates a test for each behaviour, on a
//! separate bench:
//!
//! ```
//! use runstate_store::MemoryStore;
//! use runstate_store_conformance::OneHandle;
//!
//! mod conformance {
//!     # use super::*;
//!     runstate_store_conformance::store_conformance!(async { OneHandle::new(MemoryStore::with_clock) });
//! }
//! ```
//!
//! [`check_all`] runs all behaviours and returns the failed ones:
//!
//! ```
//! use runstate_store::MemoryStore;
//! use runstate_store_conformance::{OneHandle, check_all};
//!
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let failed = check_all(|| async { OneHandle::new(MemoryStore::with_clock) }).await;
//! assert_eq!(failed, []);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Behaviours are listed by the [`Part`] of a store that they need. For a store without a queue, or without lists,
//! implement a [`PartBench`]; `store_conformance!(data: ...)` creates its tests.
//!
//! A failed behaviour panics with the actual and the expected result. The suite cannot see whether durable data
//! survives a power cut. For that, a test counts the syncs of a store, or runs it on a simulated disk
//! (`runstate_runtime::files::SimDisk`).

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
mod recording;
mod refusals;
mod removes;
mod reopened;
pub mod replies;
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
use runstate_runtime::clock::SetClock;
use runstate_store::RunStore;

pub use behaviours::BEHAVIOURS;
pub use parted::{Part, PartBench, WithoutQueue};
pub use played::Played;
pub use recording::RecordingStore;

/// A place with a store.
#[async_trait]
pub trait Bench: Send + Sync {
    /// Returns another handle on the data, as another process would open it: a connection, or a separate instance. A
    /// store in memory returns its only handle again ([`OneHandle`]).
    async fn store(&self) -> Arc<dyn RunStore>;

    /// Returns the clock of all handles, for leases and expiries.
    fn clock(&self) -> &SetClock;
}

/// The bench of a store with one handle, such as one in memory.
#[derive(Debug, Clone)]
pub struct OneHandle {
    store: Arc<dyn RunStore>,
    clock: SetClock,
}

impl OneHandle {
    /// Creates a bench with a store that uses the bench's clock.
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

/// One behaviour of a store.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// The name of the behaviour and of its test.
    pub name: &'static str,
    /// The last part of a store that the behaviour needs.
    pub part: Part,
    run: for<'b> fn(&'b dyn Bench) -> futures_util::future::BoxFuture<'b, ()>,
}

impl Behaviour {
    /// Checks the behaviour on an empty bench.
    ///
    /// # Panics
    /// If the store does not have the behaviour.
    ///
    /// # Cancel safety
    /// If the future is dropped, the bench keeps its data.
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

/// Checks the behaviour with that name, on a new runtime with several threads. The tests of
/// [`store_conformance!`](crate::store_conformance) call this function.
///
/// # Panics
/// If the store does not have the behaviour, if no behaviour has that name, and if the runtime cannot be created.
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

/// Checks all behaviours, each on a separate bench. Returns the names of the failed ones, each with its panic
/// message.
///
/// # Cancel safety
/// If the future is dropped, the benches keep their data.
pub async fn check_all<B: Bench, F: Future<Output = B>>(bench: impl FnMut() -> F) -> Vec<(String, String)> {
    check(BEHAVIOURS.iter(), bench).await
}

/// Checks the behaviours of one part of a store, as [`check_all`] does. A [`PartBench`] has an example.
///
/// # Cancel safety
/// If the future is dropped, the benches keep their data.
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

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
