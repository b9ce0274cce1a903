//! The worker: it drives the runs of a store.

mod drive;
mod executor;
mod rounds;
mod signals;
mod tried;
mod trouble;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use executor::{Ended, Executor, ExecutorError, JobSpec};
use rounds::Until;
use runstate_runtime::clock::{Clock, unix_clock};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::error::StoreError;
use super::expire::expire_run;
use super::lease::{Claim, Lease};
use super::query::SET_ASIDE_AFTER;
use super::renew::LeaseTerm;
use super::{PendingSignals, RunStore};

/// Drives runs of a store. A worker claims runs that can continue, gives up calls whose questions have expired, and
/// takes decisions that any process posts. It parks a run with suspended calls, even if its agent would [wait in
/// place](runstate_agent::WhenSuspended). Any number of workers may share a store.
///
/// A run that cannot be read does not block other runs: the worker reports it to the executor once and continues.
///
/// A driven run is leased. The lease is [renewed](super::renew_loop()) from the claim until the run is given back. A
/// worker that is stopped for longer than its lease, for example on a sleeping laptop, may lose its run to another
/// claim. It then writes nothing more.
///
/// The task that awaits [`run`](Self::run) drives all runs of a worker. A tool that blocks its thread stops the other
/// runs and the renewal of their leases.
///
/// ```
/// use std::sync::Arc;
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{Agent, InferenceRequest, Model, ModelStream, async_trait};
/// use runstate::run::RunStatus;
/// use runstate_store::{Executor, ExecutorError, JobSpec, Loaded, MemoryStore, NewRun, RunData, RunStore, Worker};
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
///         // The job of a run follows from its specification.
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
/// // The entry of a run that cannot be driven has the reason. The run is retried later.
/// let r2 = store.load("r2").await?.info;
/// assert_eq!(r2.problem.as_deref(), Some("it has no message"));
/// # Ok::<(), runstate_store::StoreError>(())
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
    /// Locked while a run with lost claims is driven.
    suspect: Arc<Mutex<()>>,
}

impl Worker {
    /// Creates a worker with a name for lists.
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

    /// Sets the clock. Default: the clock of the machine.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the duration of leases. Default: 30 s. After a worker is killed, other workers can claim its runs at the
    /// latest after this time.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the poll interval for work. Default: 1 s. Input with a notification is found earlier. A store sends no
    /// notification of an expired question, an expired lease and an ended retry delay: they are found after one
    /// interval at the latest.
    #[must_use]
    pub fn poll(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Sets the delay before a run that could not be driven is retried. Default: 30 s.
    #[must_use]
    pub fn retry_delay(mut self, delay: Duration) -> Self {
        self.retry_delay = delay;
        self
    }

    /// Sets the limit of concurrently driven runs, at least 1. Default: 16.
    #[must_use]
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.max(1);
        self
    }

    /// Sets the number of consecutive [lost claims](crate::RunInfo::lost) after which a run is set aside.
    /// Default: 2.
    ///
    /// A run can end each process that drives it: by a panic in a destructor, a stack overflow, or excessive use of
    /// memory. Such a run would end one worker after another, and block all other runs. A run that is set aside is
    /// claimed and given back with a retry delay, and is not driven. A release that resets its lost claims
    /// ([`Release::with_lost_claims_reset`](crate::Release::with_lost_claims_reset)) enables it again. A cancellation ends it without its
    /// agent, unless the load of the run ends a process once more.
    ///
    /// A process that ends has leases on other runs too. Of the runs with lost claims a worker drives one at a time until
    /// its first step is complete, so that the next end has one possible cause. The others are tried again after the
    /// poll interval. A completed step resets the lost claims of a run.
    #[must_use]
    pub fn set_aside_after(mut self, claims: u32) -> Self {
        self.set_aside_after = claims;
        self
    }

    /// Drives runs until `drain` is cancelled. Then it claims no more runs, lets each run continue to its next commit
    /// at which no tool executes, gives the leases back and returns.
    ///
    /// # Errors
    /// The errors of the store. A store that cannot be reached is no error: the worker continues to try. The driven
    /// runs are drained before the function returns an error.
    ///
    /// # Cancel safety
    /// A dropped future is like a killed worker: its runs continue from their last commits once their leases expire.
    pub async fn run(&self, host: &dyn Executor, drain: CancellationToken) -> Result<(), StoreError> {
        self.rounds(host, &drain, Until::Drained).await
    }

    /// Drives all runs that can continue now, and returns when none is left. A run that cannot be driven is tried
    /// once.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_ready(&self, host: &dyn Executor) -> Result<(), StoreError> {
        self.run_ready_until(host, CancellationToken::new()).await
    }

    /// Drives all runs that can continue now, as [`run_ready`](Self::run_ready). After a cancellation of `drain` it
    /// claims no more runs, and gives its runs back as [`run`](Self::run) does.
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

    /// Claims one run and drives it until it is over, waits, or cannot continue. Returns the end, which the executor
    /// receives as well.
    ///
    /// # Errors
    /// [`StoreError::NoRun`], [`StoreError::Held`], and the errors of the store. On an error nothing was driven.
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
        // A decision may have arrived during the last commit.
        while matches!(ended, Ended::Waits(_)) && !drain.is_cancelled() && self.has_mail(run).await {
            match self.claim_and_drive(host, run, drain.clone()).await {
                Ok(again) => ended = again,
                // Another process has claimed the run, or the store cannot be reached now.
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

    /// Waits for notifications beyond the cursor `seen` and advances it. Waits at most for the poll interval, and
    /// exactly for it while the store cannot be reached.
    async fn changed_since(&self, seen: &mut u64, is_reached: bool) {
        if is_reached && let Ok(mark) = self.store.changed_since(*seen, self.poll).await {
            *seen = mark;
        } else {
            tokio::time::sleep(self.poll).await;
        }
    }

    /// Returns the term of a lease that is requested now.
    fn term(&self) -> LeaseTerm {
        LeaseTerm::from_now(self.lease, &*self.clock)
    }
}

/// A claimed run.
#[derive(Debug)]
struct Held {
    lease: Lease,
    term: LeaseTerm,
    /// Whether the store returned the run as one that can continue. A run that is claimed by name may be at rest.
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
