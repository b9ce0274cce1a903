//! The executor of a worker.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use runstate::snapshot::Migration;
use runstate::termination::TerminationReason;
use runstate_agent::event::EventSink;
use runstate_agent::{Agent, InferenceRequest, Model, ModelStream};

use super::super::error::StoreError;
use super::super::load::Loaded;

/// The executor of a worker: it interprets the [`spec`](Loaded::spec) of a run.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Returns the agent, message and migrations for a claimed run.
    ///
    /// # Errors
    /// The reason for which the run cannot be driven now. The run is retried later; a pending cancellation is still
    /// honoured.
    ///
    /// # Cancel safety
    /// The future is dropped when the lease on the run cannot be renewed.
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError>;

    /// Receives the end of a run that was given back.
    fn ended(&self, _run: &str, _ended: &Ended) {}

    /// Receives an error of the store, in three cases:
    ///
    /// - The store cannot be reached. The worker continues to try. Reported once, and again when the reason changes.
    /// - A run cannot be read. The worker continues with the others. Each run is reported once.
    /// - A run could not be given back. It can be claimed once its lease expires.
    fn on_store_error(&self, _error: &StoreError) {}

    /// Receives the recovery of the store, after a report that it cannot be reached.
    fn on_store_recovered(&self) {}
}

/// An executor without reports.
#[async_trait]
impl<F> Executor for F
where
    F: Fn(&Loaded) -> Result<JobSpec, ExecutorError> + Send + Sync,
{
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        self(run)
    }
}

/// The agent, message and migrations for one run.
#[derive(Clone)]
#[non_exhaustive]
pub struct JobSpec {
    /// The agent.
    pub agent: Agent,
    /// The message of the user, with which a new run begins.
    pub message: Arc<str>,
    /// The receiver of events.
    pub events: Option<Arc<dyn EventSink>>,
    /// Migrations of runs of older versions.
    pub run_migrations: Arc<[Migration]>,
    /// Migrations of calls of older versions.
    pub call_migrations: Arc<[Migration]>,
}

impl JobSpec {
    /// Creates a job with a model that is never called: enough to cancel a run.
    pub(super) fn of_nothing() -> Result<Self, ExecutorError> {
        Ok(JobSpec::new(Agent::builder(Nobody).build().map_err(ExecutorError::new)?, ""))
    }

    /// Creates a job with an agent. A new run begins with the message.
    pub fn new(agent: Agent, message: impl Into<Arc<str>>) -> Self {
        JobSpec {
            agent,
            message: message.into(),
            events: None,
            run_migrations: Arc::from([]),
            call_migrations: Arc::from([]),
        }
    }

    /// Sets the receiver of events. Default: none.
    #[must_use]
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = Some(events);
        self
    }

    /// Sets migrations for older runs and calls. Default: none. A change of a lifecycle's graph, or of the data that
    /// its states store, requires a new version, and a migration from the version in the stores of users. Without a
    /// migration such a run stays unchanged; lists show the remedy as its [problem](crate::RunInfo::problem).
    ///
    /// Later commits have the current version. A call without further transitions keeps its stored version. So a
    /// migration is needed as long as a store may contain data of its version.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::Duration;
    /// # use runstate_agent::answer::{FinishReason, ModelEvent};
    /// # use runstate_agent::{Agent, InferenceRequest, Model, ModelStream, async_trait};
    /// use runstate::kernel::Fingerprint;
    /// use runstate::run::RunStatus;
    /// use runstate::snapshot::Migration;
    /// # use runstate::snapshot::Snapshot;
    /// # use runstate_store::{Claim, MemoryStore, NewRun, Release};
    /// use runstate_store::{Executor, ExecutorError, JobSpec, Loaded, RunData, RunQueue, RunStore, Worker};
    /// # use runstate_store_conformance::Played;
    /// use serde_json::json;
    /// # use serde_json::Value;
    ///
    /// /// In version 0 the state `Running` had the field `because` instead of `cause`.
    /// const BEFORE: Fingerprint = Fingerprint::from_hex("00000000deadbeef");
    /// const SAYS_CAUSE: Migration = Migration::step("2026-11 a run says its cause", 0, BEFORE, |mut stored| {
    ///     if stored.status == "Running" {
    ///         stored.state = json!({ "cause": stored.state["because"] });
    ///     }
    ///     stored.version = 1;
    ///     Ok(stored)
    /// });
    ///
    /// # struct Polite;
    /// # impl Model for Polite {
    /// #     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
    /// #         let events = [ModelEvent::Text("hello".to_owned()), ModelEvent::Finish(FinishReason::Stop)];
    /// #         Box::pin(futures_util::stream::iter(events))
    /// #     }
    /// # }
    /// struct Program(&'static [Migration]);
    ///
    /// #[async_trait]
    /// impl Executor for Program {
    ///     async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
    ///         let agent = Agent::builder(Polite).build().map_err(ExecutorError::new)?;
    ///         Ok(JobSpec::new(agent, "hi").migrated_by(self.0.into(), [].into()))
    ///     }
    /// }
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// # let clock = runstate_runtime::clock::TokioClock::starting_at(1_000);
    /// # let store: Arc<dyn RunStore> = Arc::new(MemoryStore::with_clock(clock));
    /// # store.create(&NewRun::new("r1", Value::Null, 0)).await?;
    /// # let lease = store.claim(&Claim::of("r1", "version 0", Duration::from_secs(60))).await?.unwrap();
    /// # let mut commit = Played::new("r1", &[]).await.commits().next().unwrap().clone();
    /// # let mut older: Value = serde_json::from_str(&commit.run.snapshot)?;
    /// # (older["version"], older["fingerprint"]) = (0.into(), "00000000deadbeef".into());
    /// # older["state"] = json!({ "because": older["state"]["cause"] });
    /// # let mut older: Snapshot = serde_json::from_value(older)?;
    /// # older.recompute_checksum();
    /// # commit.run.snapshot = older.to_json();
    /// # store.commit(&lease, &commit).await?;
    /// # store.release(&lease, &Release::clean()).await?;
    /// // Version 0 was ended while it drove the run r1. This version continues the run.
    /// let worker = Worker::new(Arc::clone(&store), "worker-1");
    /// # let worker = worker.clock(clock);
    /// worker.run_ready(&Program(&[])).await?;
    /// let problem = store.load("r1").await?.info.problem.unwrap();
    /// assert!(problem.contains("run was stored under version 0, this is version 1: register a migration from 0"));
    ///
    /// // The run is retried after the retry delay.
    /// # tokio::time::advance(Duration::from_secs(31)).await;
    /// worker.run_ready(&Program(&[SAYS_CAUSE])).await?;
    /// assert_eq!(store.load("r1").await?.info.status, RunStatus::Done);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn migrated_by(mut self, of_run: Arc<[Migration]>, of_calls: Arc<[Migration]>) -> Self {
        (self.run_migrations, self.call_migrations) = (of_run, of_calls);
        self
    }
}

impl fmt::Debug for JobSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobSpec")
            .field("agent", &self.agent)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

/// The reason for which a run cannot be driven now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorError(String);

impl ExecutorError {
    /// Creates an error with this reason.
    pub fn new(why: impl fmt::Display) -> Self {
        ExecutorError(why.to_string())
    }
}

/// The reason for which a worker gave a run back.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Ended {
    /// The run is over.
    Over(TerminationReason),
    /// These calls wait for decisions.
    Waits(Vec<String>),
    /// The worker was told to stop. Another worker continues the run.
    Drained,
    /// The store refused a commit or a renewal, or cannot be reached. The run continues from its last commit.
    Lost(Arc<StoreError>),
    /// The run cannot be driven now. It is retried later.
    Deferred(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Over(reason) => write!(f, "over: {reason}"),
            Ended::Waits(calls) => write!(f, "waits for {}", calls.join(", ")),
            Ended::Drained => f.write_str("given back, to go on elsewhere"),
            Ended::Lost(error) => write!(f, "lost: {error}"),
            Ended::Deferred(why) => write!(f, "deferred: {why}"),
        }
    }
}

/// A model that is never called.
struct Nobody;

impl Model for Nobody {
    fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
        Box::pin(futures_util::stream::empty())
    }
}
