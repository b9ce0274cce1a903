//! Commits of a run under virtual or real time, into a store with real time.

use async_trait::async_trait;
use runstate::checkpoint::Due;
use runstate::trace::{Event, Recorder};
use runstate_agent::{CommitError, Delta, StateCommitter};
use runstate_store::{Lost, StoreCommitter};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::progress::Progress;
use crate::store::beside;

/// Commits into a store, and reports the transitions of calls once they are durable.
///
/// The store works in a separate runtime, and this one stands still meanwhile: no virtual delay ends during a commit.
pub(super) struct Commits<'a> {
    store: StoreCommitter,
    lost: watch::Receiver<Option<Lost>>,
    handle: Handle,
    recorder: &'a Recorder,
    progress: &'a Progress,
    /// Events that are not known to be durable.
    untold: Vec<Event<'static>>,
}

impl<'a> Commits<'a> {
    pub(super) fn new(
        store: StoreCommitter,
        handle: Handle,
        recorder: &'a Recorder,
        progress: &'a Progress,
    ) -> Self {
        let lost = store.lost();
        Commits { store, lost, handle, recorder, progress, untold: Vec::new() }
    }

    /// The signal that the run must be dropped, with the reason.
    pub(super) fn lost(&self) -> watch::Receiver<Option<Lost>> {
        self.lost.clone()
    }
}

#[async_trait]
impl StateCommitter for Commits<'_> {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        self.untold.extend(self.recorder.events());
        let (store, lost) = (&mut self.store, &mut self.lost);
        let made = beside(&self.handle, async {
            tokio::select! {
                made = store.commit(due, delta) => Some(made),
                _ = async { lost.wait_for(Option::is_some).await.map(drop) } => None,
            }
        });
        match made {
            Some(made) => made?,
            // The receiver of `lost` drops the run.
            None => std::future::pending().await,
        }
        self.progress.moved(&self.untold, delta.state());
        self.untold.clear();
        Ok(())
    }

    fn keeps_events(&self) -> bool {
        self.store.keeps_events()
    }
}
