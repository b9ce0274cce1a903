//! A store that records its commit numbers beside the folders of their runs.

use std::sync::Arc;

use async_trait::async_trait;
use runstate_store::{Commit, Lease, RunStore, StoreError, Wrapper};

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

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.store.commit(lease, commit).await?;
        // After the durable commit: the number is never ahead of the store.
        self.marks.note(&lease.run, commit.version);
        Ok(())
    }
}
