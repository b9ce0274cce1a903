//! The suite sees what is wrong with a store: here one that forgets the ids of the runs that were removed.

use runstate_agent::async_trait;
use runstate_store::{MemoryStore, RunData, RunStore, StoreError, Wrapper};
use runstate_store_conformance::{OneHandle, check_all};

#[derive(Debug, Default)]
struct Forgets(MemoryStore);

#[async_trait]
impl Wrapper for Forgets {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        match self.0.pending_signals(run).await {
            Ok(_) => Ok(true),
            Err(StoreError::NoRun { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conformance_check_finds_forgotten_ids() {
    let failed =
        check_all(|| async { OneHandle::new(|clock| Forgets(MemoryStore::with_clock(clock))) }).await;
    let names: Vec<_> = failed.iter().map(|(name, _)| &**name).collect();
    let expected = [
        "the_id_of_a_first_message_is_given_once",
        "a_message_takes_the_place_of_decisions",
        "the_id_of_a_removed_run_is_not_given_again",
    ];
    assert_eq!(names, expected, "{failed:?}");
}
