//! The conformance suite of stores: the contract of [`ServiceStore`] as behaviours that any implementation runs in its
//! own tests.
//!
//! A [`ServiceBench`] is a place with an empty store.
//! [`service_store_conformance!`](crate::service_store_conformance) creates a test for each behaviour, on a separate
//! bench:
//!
//! ```
//! mod conformance {
//!     use runstate_service::MemoryServiceStore;
//!     use runstate_service::testing::OneStore;
//!
//!     runstate_service::service_store_conformance!(async { OneStore::new(MemoryServiceStore::with_clock) });
//! }
//! ```
//!
//! A failed behaviour panics with the actual and the expected result.
#![allow(clippy::unwrap_used, reason = "a suite of tests")]

mod answers;
mod changes;
mod driven;
mod leases;
mod lists;
mod rows;
mod versions;
mod world;

pub use world::example_change;

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use runstate_runtime::clock::SetClock;

use crate::store::ServiceStore;

/// A place with a store.
#[async_trait]
pub trait ServiceBench: Send + Sync {
    /// Returns another handle on the data, as another process would open it. A store in memory returns its only handle
    /// again ([`OneStore`]).
    async fn store(&self) -> Arc<dyn ServiceStore>;

    /// Returns the clock of all handles, for leases.
    fn clock(&self) -> &SetClock;

    /// Writes another text into the status of a run, as another program or another version may do. Returns `false` for a
    /// store whose rows no other program can write. Default: `false`.
    async fn spoil_status(&self, run: &str, status: &str) -> bool {
        let _ = (run, status);
        false
    }
}

/// The bench of a store with one handle, such as one in memory.
#[derive(Debug, Clone)]
pub struct OneStore {
    store: Arc<dyn ServiceStore>,
    clock: SetClock,
}

impl OneStore {
    /// Creates a bench with a store that uses the bench's clock.
    pub fn new<S: ServiceStore + 'static>(make: impl FnOnce(SetClock) -> S) -> Self {
        let clock = SetClock::default();
        OneStore { store: Arc::new(make(clock.clone())), clock }
    }
}

#[async_trait]
impl ServiceBench for OneStore {
    async fn store(&self) -> Arc<dyn ServiceStore> {
        Arc::clone(&self.store)
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

/// One behaviour of a store.
#[derive(Clone, Copy)]
pub struct ServiceBehaviour {
    /// The name of the behaviour and of its test.
    pub name: &'static str,
    run: for<'b> fn(&'b dyn ServiceBench) -> BoxFuture<'b, ()>,
}

impl std::fmt::Debug for ServiceBehaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl ServiceBehaviour {
    /// Checks the behaviour on an empty bench.
    ///
    /// # Panics
    /// If the store does not have the behaviour.
    pub async fn check(&self, bench: &dyn ServiceBench) {
        bench.clock().set(world::NOW);
        (self.run)(bench).await;
    }
}

macro_rules! behaviours {
    ($d:tt $($module:ident: $($name:ident),+;)+) => {
        /// All behaviours, in a fixed order.
        pub static SERVICE_BEHAVIOURS: &[ServiceBehaviour] = &[$($(ServiceBehaviour {
            name: stringify!($name),
            run: |bench| Box::pin($module::$name(bench)),
        }),+),+];

        /// Creates a test for each behaviour of a store. The argument is a future of an empty
        /// [`ServiceBench`](crate::testing::ServiceBench); it is awaited for each test. The calling package needs `tokio`
        /// with a scheduler of one thread and with time.
        #[macro_export]
        macro_rules! service_store_conformance {
            ($d bench:expr) => { $($(
                #[test]
                fn $name() {
                    let runtime = ::tokio::runtime::Builder::new_current_thread().enable_all().build();
                    let runtime = runtime.expect("a runtime can be built");
                    runtime.block_on($crate::testing::check_one(stringify!($name), $d bench));
                }
            )+)+ };
        }
    };
}

behaviours! { $
    versions:
        run_is_created_once,
        concurrent_creations_create_one_run,
        created_run_is_loaded_unchanged,
        change_needs_the_current_version,
        refused_change_stores_nothing,
        one_of_concurrent_changes_wins,
        artifacts_are_replaced_and_removed,
        transaction_belongs_to_one_run,
        unknown_run_is_an_error,
        removed_run_is_gone_and_its_id_taken,
        unfinished_run_is_not_removed;
    leases:
        lease_excludes_other_drivers,
        renewed_lease_lasts_longer,
        commit_renews_the_lease,
        commit_gives_the_run_back,
        each_lease_has_a_higher_fence,
        older_lease_writes_nothing,
        released_lease_writes_nothing,
        lease_whose_term_is_over_lasts_until_the_next_claim,
        lost_leases_are_counted_until_a_change,
        release_of_an_older_lease_changes_nothing,
        change_of_an_actor_defeats_the_driver,
        only_running_runs_are_leased,
        claim_of_any_takes_the_longest_waiting,
        claim_of_any_takes_lost_runs_last,
        leased_run_is_not_removed;
    rows:
        rows_are_numbered_without_a_gap,
        rows_are_paged,
        events_follow_from_the_change,
        end_is_the_last_event;
    lists:
        newest_run_is_listed_first,
        pages_are_stable_while_runs_are_created,
        lists_are_sorted,
        lists_are_filtered,
        counts_are_of_all_pages,
        unreadable_run_fails_no_list;
    answers:
        answer_is_stored_with_its_change,
        second_change_under_a_key_is_refused,
        answer_ends_with_its_term,
        answer_survives_its_run;
    driven:
        driven_run_has_the_rows_of_the_store_in_memory;
    changes:
        changes_list_runs_after_the_cursor,
        changes_are_paged,
        waiting_for_changes_ends_with_the_timeout,
        waiting_for_changes_ends_with_a_change,
        current_cursor_is_after_all_changes,
        stamp_differs_after_each_change;
}

/// Checks the behaviour of that name on a new bench.
///
/// # Panics
/// If the store does not have the behaviour, or if no behaviour has the name.
#[doc(hidden)]
pub async fn check_one<B: ServiceBench>(name: &str, bench: impl Future<Output = B>) {
    let behaviour = SERVICE_BEHAVIOURS.iter().find(|behaviour| behaviour.name == name);
    let bench = bench.await;
    behaviour.expect("the macro lists the behaviours").check(&bench).await;
}
