//! The worker: it drives what is in a store.

mod drive;
mod executor;
mod rounds;
mod signals;
mod tried;
mod trouble;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::error::StoreError;
use super::expire::expire_run;
use super::lease::{Claim, Lease};
use super::query::SET_ASIDE_AFTER;
use super::renew::LeaseTerm;
use super::{PendingSignals, RunStore};
use crate::clock::{Clock, unix_clock};

pub use executor::{Ended, Executor, ExecutorError, JobSpec};
use rounds::Until;

/// Drives runs of a store: it claims those that can go on, gives up calls that nobody decided in time, takes decisions that
/// any process posts, and parks what waits, also where the agent would [wait in place](crate::agent::WhenSuspended). Any number
/// of workers may share a store.
///
/// A run that cannot be read holds up no other: the host is told of it, once, and the worker goes on.
///
/// A run that is driven is leased; the lease is [kept](super::keep()) from when it was claimed until it is given back. A worker
/// that was stopped for longer than a lease lasts (a laptop that slept) may find its run taken, and writes nothing more.
///
/// All runs of a worker are driven by the task that [`run`](Self::run) is awaited in: a tool that blocks its thread stops the
/// others, and the renewal of their leases.
///
/// ```
/// use std::sync::Arc;
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{Agent, InferenceRequest, Model, ModelStream, async_trait};
/// use runstate::run::RunStatus;
/// use runstate::store::{Executor, ExecutorError, JobSpec, Loaded, MemoryStore, NewRun, RunData, RunStore, Worker};
/// use serde_json::json;
///
/// struct Polite;
///
/// impl Model for Polite {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         let events = [ModelEvent::Text("hello".to_owned()), ModelEvent::Finish(FinishReason::Stop)];
///         Box::pin(futures_util::stream::iter(events))
///     }
/// }
///
/// struct Greeters;
///
/// #[async_trait]
/// impl Executor for Greeters {
///     async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
///         // What a run is driven with follows from what it was created with.
///         let message = run.spec["message"].as_str().ok_or_else(|| ExecutorError::new("it has no message"))?;
///         let agent = Agent::builder(Polite).build().map_err(ExecutorError::new)?;
///         Ok(JobSpec::new(agent, message))
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
/// store.create(&NewRun::new("r1", json!({ "message": "hi" }), 0)).await?;
/// store.create(&NewRun::new("r2", json!({}), 0)).await?;
///
/// Worker::new(Arc::clone(&store), "worker-1").run_ready(&Greeters).await?;
/// assert_eq!(store.load("r1").await?.info.status, RunStatus::Done);
///
/// // What cannot be driven says why, and is tried again later.
/// let r2 = store.load("r2").await?.info;
/// assert_eq!(r2.problem.as_deref(), Some("it has no message"));
/// # Ok::<(), runstate::store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Worker {
    store: Arc<dyn RunStore>,
    name: String,
    clock: Arc<dyn Clock>,
    lease: Duration,
    poll: Duration,
    retry_delay: Duration,
    concurrency: usize,
    set_aside_after: u32,
    /// Held while a run is driven that has lost claims.
    suspect: Arc<Mutex<()>>,
}

impl Worker {
    /// A worker of that name, which people read in lists.
    pub fn new(store: Arc<dyn RunStore>, name: impl Into<String>) -> Self {
        Worker {
            store,
            name: name.into(),
            clock: Arc::new(unix_clock()),
            lease: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            retry_delay: Duration::from_secs(30),
            concurrency: 16,
            set_aside_after: SET_ASIDE_AFTER,
            suspect: Arc::default(),
        }
    }

    /// Reads the time here; from the machine's clock if this is not said.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Leases runs for so long; for 30 seconds if this is not said. Somebody else goes on with the runs of a worker that was
    /// killed after that time at the latest.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Looks for work so often; every second if this is not said. What the store tells news of is found before that. Calls that
    /// lapse, leases that are over, and runs that were put off are not news to a store: they are found so late at most.
    #[must_use]
    pub fn poll(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Tries again after this time what could not be driven; after 30 seconds if this is not said.
    #[must_use]
    pub fn retry_delay(mut self, delay: Duration) -> Self {
        self.retry_delay = delay;
        self
    }

    /// Drives at most so many runs at once, but one; 16 if this is not said.
    #[must_use]
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.max(1);
        self
    }

    /// Sets a run aside after this number of [lost claims](crate::store::RunInfo::lost) in a row. Default: 2.
    ///
    /// A run can end each process that drives it: by a panic in a destructor, an overflow of the stack, by taking all memory. It would
    /// end one worker after another, and keep them from all other runs. A run that is set aside is put off again and again, and nothing
    /// of it is driven, until it is given back with a pardon ([`Release::pardoned`](crate::store::Release::pardoned)). A cancellation
    /// ends it, without its agent. A process that ends has other runs in hand: of those that have a lost claim a worker drives one at a
    /// time, so that the next end has one to blame, and a step that ends clears a run.
    #[must_use]
    pub fn set_aside_after(mut self, claims: u32) -> Self {
        self.set_aside_after = claims;
        self
    }

    /// Drives runs until `drain` is cancelled. Then it claims no more, lets each run go on to its next commit at which no
    /// tool executes, gives the leases back and returns.
    ///
    /// # Errors
    /// Those of the store, but for one that cannot be reached: that is tried again. Runs that are driven are drained first.
    ///
    /// # Cancel safety
    /// Dropped, it is as if it was killed: its runs go on from their last commits once their leases are over.
    pub async fn run(&self, host: &dyn Executor, drain: CancellationToken) -> Result<(), StoreError> {
        self.rounds(host, &drain, Until::Drained).await
    }

    /// Drives all that can go on now, and returns when nothing more can. A run that cannot be driven is tried once.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_ready(&self, host: &dyn Executor) -> Result<(), StoreError> {
        self.run_ready_until(host, CancellationToken::new()).await
    }

    /// The same; once `drain` is cancelled it claims no more, and gives its runs back as [`run`](Self::run) does.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_ready_until(
        &self,
        host: &dyn Executor,
        drain: CancellationToken,
    ) -> Result<(), StoreError> {
        self.rounds(host, &drain, Until::Idle).await
    }

    /// Claims one run and drives it until it is over, waits, or cannot go on. Returns how it ended; the host is told the same.
    ///
    /// # Errors
    /// [`StoreError::NoRun`], [`StoreError::Held`], and those of the store. Nothing was driven then.
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_one(
        &self,
        host: &dyn Executor,
        run: &str,
        drain: CancellationToken,
    ) -> Result<Ended, StoreError> {
        expire_run(&*self.store, run, self.clock.now_ms()).await?;
        let mut ended = self.claim_and_drive(host, run, drain.clone()).await?;
        // A decision that came while the last commit was made.
        while matches!(ended, Ended::Waits(_)) && !drain.is_cancelled() && self.has_mail(run).await {
            match self.claim_and_drive(host, run, drain.clone()).await {
                Ok(again) => ended = again,
                // Another process goes on with it, or the store cannot be reached now.
                Err(_) => break,
            }
        }
        Ok(ended)
    }

    async fn claim_and_drive(
        &self,
        host: &dyn Executor,
        run: &str,
        drain: CancellationToken,
    ) -> Result<Ended, StoreError> {
        let term = self.term();
        let claim = Claim::of(run, &*self.name, self.lease);
        let lease = self.store.claim(&claim).await?;
        let lease =
            lease.ok_or_else(|| StoreError::failed(format!("the store gave no lease on the run {run:?}")))?;
        Ok(self.drive(host, Held { lease, term, is_ready: false }, 0, drain).await.0)
    }

    async fn has_mail(&self, run: &str) -> bool {
        let mail = self.store.pending_signals(run).await;
        mail.is_ok_and(|PendingSignals { decisions, cancel, message }| {
            !decisions.is_empty() || cancel.is_some() || message.is_some()
        })
    }

    /// Waits for news beyond that mark, which is moved on; without them for no longer than work may wait, and where the store
    /// cannot be reached just that.
    async fn changed_since(&self, seen: &mut u64, is_reached: bool) {
        if is_reached && let Ok(mark) = self.store.changed_since(*seen, self.poll).await {
            *seen = mark;
        } else {
            tokio::time::sleep(self.poll).await;
        }
    }

    /// The term of a lease that is asked for now.
    fn term(&self) -> LeaseTerm {
        LeaseTerm::from_now(self.lease, &*self.clock)
    }
}

/// A run that was claimed.
#[derive(Debug)]
struct Held {
    lease: Lease,
    term: LeaseTerm,
    /// Did the store give it as one that can go on? One that was asked for by its name may be at rest.
    is_ready: bool,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("store", &self.store)
            .field("name", &self.name)
            .field("lease", &self.lease)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}
