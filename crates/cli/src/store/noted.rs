//! A store that records its commit numbers beside the folders of their runs.

use std::sync::Arc;

use async_trait::async_trait;
use runstate_store::{Commit, Lease, LeaseAfter, Release, RunStore, StoreError, Wrapper};

use crate::runs::Marks;

#[derive(Debug)]
pub(super) struct Noted {
    pub(super) store: Arc<dyn RunStore>,
    pub(super) marks: Arc<Marks>,
}

#[async_trait]
impl Wrapper for Noted {
    fn inner(&self) -> &dyn RunStore {
        &*self.store
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        // Read before: another task may claim a run that the commit gives back.
        let driven = self.marks.driven(&lease.run);
        after.commit(&*self.store, lease, commit).await?;
        if let Some(driven) = driven {
            // After the durable commit: the number is never ahead of the store.
            self.marks.note(&lease.run, &driven, commit.version);
            if after == LeaseAfter::Released {
                self.marks.forget(&lease.run, &driven);
            }
        }
        Ok(())
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let driven = self.marks.driven(&lease.run);
        let released = self.store.release(lease, release).await;
        if let Some(driven) = driven {
            self.marks.forget(&lease.run, &driven);
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use runstate::run::RunStatus;
    use runstate_agent::CancellationToken;
    use runstate_runtime::clock::unix_clock;
    use runstate_store::{MemoryStore, NewRun, Worker};

    use super::*;
    use crate::host::RunExecutor;
    use crate::spec::Spec;

    /// A store that cannot be reached for a release behind a commit.
    #[derive(Debug, Default)]
    struct Unreleased(MemoryStore);

    #[async_trait]
    impl Wrapper for Unreleased {
        fn inner(&self) -> &dyn RunStore {
            &self.0
        }

        async fn release(&self, _: &Lease, _: &Release) -> Result<(), StoreError> {
            Err(StoreError::unavailable("the connection was reset"))
        }
    }

    #[tokio::test]
    async fn last_commit_of_an_activation_releases_the_run() {
        let marks = Arc::new(Marks::of(None));
        let store: Arc<dyn RunStore> =
            Arc::new(Noted { store: Arc::new(Unreleased::default()), marks: Arc::clone(&marks) });
        let scenario = "name: pay\nmessage: go\nmodel: [{text: done}]\n".to_owned();
        let spec = Spec::Scenario { scenario, token: None, message: None, message_id: None };
        store.create(&NewRun::new("pay-1", spec.to_json().unwrap(), 1)).await.unwrap();
        let worker = Worker::new(Arc::clone(&store), "a worker").clock(unix_clock());
        let host = RunExecutor::new(unix_clock(), None, marks);
        worker.run_ready_until(&host, CancellationToken::new()).await.unwrap();
        let info = store.load("pay-1").await.unwrap().info;
        assert_eq!((info.status, info.holder), (RunStatus::Done, None));
    }
}
