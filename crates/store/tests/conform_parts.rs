//! The conformance suite, for stores that have a part of the trait.

use std::sync::Arc;
use std::time::Duration;

use runstate_agent::async_trait;
use runstate_runtime::clock::SetClock;
use runstate_store::{Claim, Lease, MemoryStore, Release, RunData, RunLists, RunQueue, StoreError};
use runstate_store_conformance::{BEHAVIOURS, Part, PartBench, WithoutQueue, check_part};

/// Rows and lists, without the queue of the store that has them.
struct Rows {
    store: Arc<MemoryStore>,
    clock: SetClock,
    has_lists: bool,
}

impl Rows {
    fn bench(has_lists: bool) -> WithoutQueue<Rows> {
        let clock = SetClock::default();
        let store = Arc::new(MemoryStore::with_clock(clock.clone()));
        WithoutQueue::new(Rows { store, clock, has_lists })
    }
}

#[async_trait]
impl PartBench for Rows {
    async fn data(&self) -> Arc<dyn RunData> {
        Arc::clone(&self.store) as Arc<dyn RunData>
    }

    async fn lists(&self) -> Option<Arc<dyn RunLists>> {
        self.has_lists.then(|| Arc::clone(&self.store) as Arc<dyn RunLists>)
    }

    async fn lease(&self, run: &str) -> Result<Lease, StoreError> {
        if let Some(holder) = self.store.load(run).await?.info.holder {
            self.store.renew(&Lease::new(run, holder.fence), Duration::ZERO).await?;
        }
        let lease = self.store.claim(&Claim::of(run, "an engine", Duration::MAX)).await?;
        lease.ok_or_else(|| StoreError::failed("no lease"))
    }

    async fn give_back(&self, lease: &Lease) -> Result<(), StoreError> {
        self.store.release(lease, &Release::clean()).await
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

mod data_alone {
    runstate_store_conformance::store_conformance!(data: async { super::Rows::bench(false) });
}

mod data_and_lists {
    runstate_store_conformance::store_conformance!(data: async { super::Rows::bench(true) });
    runstate_store_conformance::store_conformance!(lists: async { super::Rows::bench(true) });
}

/// Behaviours that hold without their part: `decide` takes open questions from the rows here, and the defaults of the queue are enough.
const WITHOUT: [&[&str]; 2] = [
    &[
        "a_name_that_two_calls_have_is_refused",
        "a_decision_is_for_the_question_that_was_shown",
        "a_decision_in_the_name_of_the_runtime_is_refused",
        "an_actor_that_cannot_be_told_apart_is_refused",
        "a_result_that_does_not_fit_is_refused",
        "approval_has_the_call_and_the_question",
    ],
    &[
        "an_older_lease_gives_nothing_back",
        "changes_name_committed_runs_once",
        "current_cursor_is_after_all_commits",
        "a_commit_wakes_each_reader_of_changes",
        "wait_for_changes_ends_after_its_timeout",
        "change_wakes_every_waiter",
        "refused_input_wakes_no_waiter",
    ],
];

#[tokio::test]
async fn behaviours_fail_without_their_part() {
    for ((part, has_lists), without) in [(Part::Lists, false), (Part::Queue, true)].into_iter().zip(WITHOUT) {
        let failed = check_part(part, || async move { Rows::bench(has_lists) }).await;
        let all =
            BEHAVIOURS.iter().filter(|behaviour| behaviour.part == part).map(|behaviour| behaviour.name);
        let passed: Vec<_> = all.filter(|name| failed.iter().all(|(failed, _)| failed != name)).collect();
        assert_eq!(passed, without, "behaviours of {part:?}");
    }
}
