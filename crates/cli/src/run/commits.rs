//! Commits of a run whose time may be played, into a store whose time is real.

use async_trait::async_trait;
use runstate::agent::{CommitError, Delta, StateCommitter};
use runstate::checkpoint::Due;
use runstate::store::{Lost, StoreCommitter};
use runstate::trace::{Event, Recorder};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::progress::Progress;
use crate::store::beside;

/// Commits into a store, and says what happened to calls once that is durable.
///
/// The store works in a runtime of its own, and this one stands still meanwhile: where delays are played, none is over while a
/// commit is made.
pub(super) struct Commits<'a> {
    store: StoreCommitter,
    lost: watch::Receiver<Option<Lost>>,
    handle: Handle,
    recorder: &'a Recorder,
    progress: &'a Progress,
    /// What is not known to be durable.
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

    /// Says when the run is to be dropped, and why.
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
            // Whoever waits for `lost` drops the run.
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
