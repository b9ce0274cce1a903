//! The committer of one run to a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::checkpoint::{Due, Trigger};
use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus;
use runstate::trace::Recorder;
use runstate_agent::{CommitError, Delta, StateCommitter};
use runstate_runtime::clock::Clock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::commit::{Commit, Place, TraceRow};
use super::error::StoreError;
use super::lease::Lease;
use super::load::Loaded;
use super::{RunData, RunQueue};

/// Commits one run and its trace to a store.
///
/// A refused or failed commit does not end the run with an error. Such an end would need a commit as well: it would
/// fail too, or would become durable as soon as the store recovers. So the commit never returns, [`lost`](Self::lost)
/// reports the reason, and the caller drops the loop. The run stays at its last commit, from which the next worker
/// continues.
pub struct StoreCommitter {
    store: Arc<dyn RunData>,
    lease: Lease,
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    on_thread: bool,
    takes: Option<String>,
    patience: Duration,
    drain: CancellationToken,
    /// Events of commits without an acknowledgement.
    trace: Vec<TraceRow>,
    /// The last acknowledged commit, and the number of messages after it.
    known: Known,
    /// The attempted commit after `known`. The store may have it.
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

/// The reason for which a caller drops a loop.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Lost {
    /// The store refused the commit, or could not make it.
    Refused(Arc<StoreError>),
    /// The committer was [drained](StoreCommitter::drained_by), and no tool executes.
    Drained,
}

impl StoreCommitter {
    /// Creates a committer for the run of a lease. It continues after the loaded version.
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

    /// Sets the time for which a commit is retried while the store cannot be reached. Default: 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets a token that drains the loop. After its cancellation, the loop is lost at the next commit at which no
    /// tool executes: no call is in doubt then.
    #[must_use]
    pub fn drained_by(mut self, drain: CancellationToken) -> Self {
        self.drain = drain;
        self
    }

    /// Makes the last commit of an activation give the run back ([`RunQueue::commit_and_release`]). No later commit
    /// under the lease is possible. So the loop must [park](runstate_agent::RunHandles::parking), with a state that was
    /// loaded under this lease.
    #[must_use]
    pub fn giving_back(mut self, queue: Arc<dyn RunQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Returns whether the run [was given back](Self::giving_back).
    pub fn is_given_back(&self) -> bool {
        self.is_given_back
    }

    /// Sets the [message](RunData::supersede) that the next commit contains. For a loop that continues with the text
    /// of that message.
    pub fn takes(&mut self, message: impl Into<String>) {
        self.takes = Some(message.into());
    }

    /// Returns a receiver that reports the reason once the caller must drop the loop.
    pub fn lost(&self) -> watch::Receiver<Option<Lost>> {
        self.lost.subscribe()
    }

    /// Reports the reason and never returns. The receiver of [`lost`](Self::lost) drops the loop.
    async fn lose(&self, why: Lost) -> ! {
        self.lost.send_replace(Some(why));
        std::future::pending().await
    }

    /// Returns the stored position before the delta, and whether the store may already have the delta.
    fn place(&mut self, version: u64) -> (Known, bool) {
        match self.tried.take() {
            // The commit was made: the run was loaded again, or its loop continued.
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
        // If the future is dropped in the next statement, the result of the commit is unknown.
        self.tried = Some(made);
        if let Err(error) = self.try_for_long(&mut commit).await {
            self.lose(Lost::Refused(Arc::new(error))).await;
        }
        (self.known, self.tried, self.takes) = (made, None, None);
        self.trace.clear();
        self.is_given_back = self.queue.is_some() && due.trigger() == Trigger::RunFinished;
        // The scan of all calls is not free, but the closure runs only once the token is cancelled.
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
