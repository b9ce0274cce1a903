//! Commits of one run into a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::commit::{Commit, Place, TraceRow};
use super::error::StoreError;
use super::lease::Lease;
use super::load::Loaded;
use super::{RunData, RunQueue};
use crate::agent::{CommitError, Delta, StateCommitter};
use crate::checkpoint::{Due, Trigger};
use crate::clock::Clock;
use crate::run::RunStatus;
use crate::tool_call::ToolCallStatus;
use crate::trace::Recorder;

/// Commits one run, and what was recorded of it, into a store.
///
/// A commit that the store refuses or cannot make does not end the run with an error: that end could not be committed
/// either, or worse, could be once the store is well again. The loop is to be dropped instead: the commit never returns, and
/// [`lost`](Self::lost) says why. The run is then as its last commit left it, for whoever goes on with it.
pub struct StoreCommitter {
    store: Arc<dyn RunData>,
    lease: Lease,
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    on_thread: bool,
    takes: Option<String>,
    patience: Duration,
    drain: CancellationToken,
    /// Events of commits that are not known to be made.
    trace: Vec<TraceRow>,
    /// The last commit that is known to be made, and the messages it left.
    known: Known,
    /// The commit behind that one was tried: it may be there.
    tried: Option<Known>,
    lost: watch::Sender<Option<Lost>>,
    /// The queue that takes the run back with the last commit.
    queue: Option<Arc<dyn RunQueue>>,
    is_given_back: bool,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    version: u64,
    messages: u64,
}

/// Why a loop is to be dropped.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Lost {
    /// The store refused the commit, or could not make it.
    Refused(Arc<StoreError>),
    /// It was asked to stop, and nothing executes.
    Drained,
}

impl StoreCommitter {
    /// Commits the run of that lease, from where it was loaded.
    pub fn new(
        store: Arc<dyn RunData>,
        lease: Lease,
        loaded: &Loaded,
        recorder: Recorder,
        clock: Arc<dyn Clock>,
    ) -> Self {
        StoreCommitter {
            store,
            lease,
            clock,
            recorder,
            on_thread: loaded.before.is_some(),
            takes: None,
            patience: Duration::from_secs(10),
            drain: CancellationToken::new(),
            trace: Vec::new(),
            known: Known { version: loaded.info.version, messages: loaded.messages },
            tried: None,
            lost: watch::Sender::new(None),
            queue: None,
            is_given_back: false,
        }
    }

    /// Tries for so long when the store cannot be reached; for 10 seconds if this is not said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Once this is cancelled, the loop is lost at the next commit at which no tool executes: nothing is in doubt then.
    #[must_use]
    pub fn drained_by(mut self, drain: CancellationToken) -> Self {
        self.drain = drain;
        self
    }

    /// Gives the run back with the last commit of an activation ([`RunQueue::commit_and_release`]). No commit is made under the lease
    /// after it, so the loop must [park](crate::agent::RunHandles::parking), on a state that was loaded under this lease.
    #[must_use]
    pub fn giving_back(mut self, queue: Arc<dyn RunQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Returns whether the run [was given back](Self::giving_back).
    pub fn is_given_back(&self) -> bool {
        self.is_given_back
    }

    /// The next commit holds that [message](RunData::supersede) of the store. It is for the loop that goes on with the text of it.
    pub fn takes(&mut self, message: impl Into<String>) {
        self.takes = Some(message.into());
    }

    /// Says when the loop is to be dropped, and why.
    pub fn lost(&self) -> watch::Receiver<Option<Lost>> {
        self.lost.subscribe()
    }

    /// Never returns: whoever waits for [`lost`](Self::lost) drops the loop.
    async fn lose(&self, why: Lost) -> ! {
        self.lost.send_replace(Some(why));
        std::future::pending().await
    }

    /// What is stored before the delta, and whether the delta may be there already.
    fn place(&mut self, version: u64) -> (Known, bool) {
        match self.tried.take() {
            // It was made: the run was read anew, or its loop went on.
            Some(tried) if version == tried.version + 1 => {
                self.known = tried;
                (tried, false)
            }
            tried => (self.known, tried.is_some()),
        }
    }

    async fn make(&self, commit: &Commit) -> Result<(), StoreError> {
        match &self.queue {
            _ if self.is_given_back => {
                Err(StoreError::failed("the run was given back with the commit before this one"))
            }
            Some(queue) if commit.trigger == Trigger::RunFinished => {
                queue.commit_and_release(&self.lease, commit).await
            }
            _ => self.store.commit(&self.lease, commit).await,
        }
    }

    async fn try_for_long(&self, commit: &mut Commit) -> Result<(), StoreError> {
        let mut pause = Duration::from_millis(50);
        let until = tokio::time::Instant::now() + self.patience;
        loop {
            match self.make(commit).await {
                Err(StoreError::Unavailable(_)) if tokio::time::Instant::now() + pause < until => {
                    commit.again = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                tried => return tried,
            }
        }
    }
}

#[async_trait]
impl StateCommitter for StoreCommitter {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        let (known, again) = self.place(delta.version());
        self.recorder.drain(|event| {
            self.trace.push(TraceRow { seq: event.seq, json: event.to_json() });
        });
        let place =
            Place { again, at_ms: self.clock.now_ms(), messages: known.messages, on_thread: self.on_thread };
        let commit = Commit::of(delta, due.trigger(), place, self.trace.clone());
        let mut commit = commit.map_err(CommitError::new)?;
        commit.takes.clone_from(&self.takes);
        let made = Known { version: commit.version, messages: known.messages + commit.messages.len() as u64 };
        // Dropped in the next line, what becomes of it is not known.
        self.tried = Some(made);
        if let Err(error) = self.try_for_long(&mut commit).await {
            self.lose(Lost::Refused(Arc::new(error))).await;
        }
        (self.known, self.tried, self.takes) = (made, None, None);
        self.trace.clear();
        self.is_given_back = self.queue.is_some() && due.trigger() == Trigger::RunFinished;
        // Looking at all calls costs something, but only once.
        let can_stop = || delta.run().status() == RunStatus::Running && !executes(delta);
        if self.drain.is_cancelled() && can_stop() {
            self.lose(Lost::Drained).await;
        }
        Ok(())
    }

    fn keeps_events(&self) -> bool {
        true
    }
}

fn executes(delta: &Delta<'_>) -> bool {
    let mut calls = delta.state().calls();
    calls.any(|(_, call)| matches!(call.status(), ToolCallStatus::Running | ToolCallStatus::Resuming))
}

impl fmt::Debug for StoreCommitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreCommitter")
            .field("lease", &self.lease)
            .field("known", &self.known)
            .field("tried", &self.tried)
            .finish_non_exhaustive()
    }
}
