//! What a worker drives runs with.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::error::StoreError;
use super::super::load::Loaded;
use crate::agent::event::EventSink;
use crate::agent::{Agent, InferenceRequest, Model, ModelStream};
use crate::snapshot::Migration;
use crate::termination::TerminationReason;

/// What a worker drives runs with: it knows what is in the [`spec`](Loaded::spec) of a run.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Says what a run that was claimed is driven with.
    ///
    /// # Errors
    /// Why it cannot be driven now. It is put off then, and tried again; if somebody wants it cancelled it is cancelled all the same.
    ///
    /// # Cancel safety
    /// It is dropped when the lease on the run cannot be kept.
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError>;

    /// A run was given back.
    fn ended(&self, _run: &str, _ended: &Ended) {}

    /// The store cannot be reached, and the worker goes on trying: this is said once, and again when the reason is another one. Or
    /// it has a run that cannot be read, of which this is said once, and the worker goes on with the others. Or a run could not be
    /// given back, and others go on with it once its lease is over.
    fn on_store_error(&self, _error: &StoreError) {}

    /// The store can be reached again, after it was told that it cannot.
    fn on_store_recovered(&self) {}
}

/// What a run is driven with.
#[derive(Clone)]
#[non_exhaustive]
pub struct JobSpec {
    /// The agent.
    pub agent: Agent,
    /// What the user wrote: a run that has not begun begins with it.
    pub message: Arc<str>,
    /// Who is told what happens.
    pub events: Option<Arc<dyn EventSink>>,
    /// What brings runs of older versions to this one.
    pub run_migrations: Arc<[Migration]>,
    /// What brings calls of older versions to this one.
    pub call_migrations: Arc<[Migration]>,
}

impl JobSpec {
    /// Drives nothing: enough to cancel a run.
    pub(super) fn of_nothing() -> Result<Self, ExecutorError> {
        Ok(JobSpec::new(Agent::builder(Nobody).build().map_err(ExecutorError::new)?, ""))
    }

    /// Drives a run with this agent; one that has not begun begins with this message.
    pub fn new(agent: Agent, message: impl Into<Arc<str>>) -> Self {
        JobSpec {
            agent,
            message: message.into(),
            events: None,
            run_migrations: Arc::from([]),
            call_migrations: Arc::from([]),
        }
    }

    /// The same, telling this what happens.
    #[must_use]
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = Some(events);
        self
    }

    /// The same, reading older runs and calls through these: a change of a lifecycle's graph, or of what its states store, wants
    /// a new version, and a migration from the version that is in the stores of users. Without it such a run is left as it is;
    /// lists show what to do as its [problem](crate::store::RunInfo::problem).
    ///
    /// What is committed from then on is of this version. A call that does not move stays as it was written, so a migration is
    /// kept as long as a store may hold what it reads.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::Duration;
    /// # use runstate::agent::answer::{FinishReason, ModelEvent};
    /// # use runstate::agent::{Agent, InferenceRequest, Model, ModelStream, async_trait};
    /// use runstate::kernel::Fingerprint;
    /// use runstate::run::RunStatus;
    /// use runstate::snapshot::Migration;
    /// # use runstate::snapshot::Snapshot;
    /// # use runstate::store::{Claim, MemoryStore, NewRun, Release};
    /// use runstate::store::{Executor, ExecutorError, JobSpec, Loaded, RunData, RunQueue, RunStore, Worker};
    /// # use runstate::testing::store::Played;
    /// use serde_json::json;
    /// # use serde_json::Value;
    ///
    /// /// In version 0 a run said `because` where it says `cause` now.
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
    /// # let clock = runstate::clock::TokioClock::starting_at(1_000);
    /// # let store: Arc<dyn RunStore> = Arc::new(MemoryStore::with_clock(clock));
    /// # store.create(&NewRun::new("r1", Value::Null, 0)).await?;
    /// # let lease = store.claim(&Claim::of("r1", "version 0", Duration::from_secs(60))).await?.unwrap();
    /// # let mut commit = Played::new("r1", &[]).await.commits().next().unwrap().clone();
    /// # let mut older: Value = serde_json::from_str(&commit.run.snapshot)?;
    /// # (older["version"], older["fingerprint"]) = (0.into(), "00000000deadbeef".into());
    /// # older["state"] = json!({ "because": older["state"]["cause"] });
    /// # let mut older: Snapshot = serde_json::from_value(older)?;
    /// # older.reseal();
    /// # commit.run.snapshot = older.to_json();
    /// # store.commit(&lease, &commit).await?;
    /// # store.release(&lease, &Release::clean()).await?;
    /// // Version 0 was ended while it drove the run r1, and this one goes on.
    /// let worker = Worker::new(Arc::clone(&store), "worker-1");
    /// # let worker = worker.clock(clock);
    /// worker.run_ready(&Program(&[])).await?;
    /// let problem = store.load("r1").await?.info.problem.unwrap();
    /// assert!(problem.contains("run was stored under version 0, this is version 1: register a migration from 0"));
    ///
    /// // It is tried again a while later.
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

/// Why a run cannot be driven now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorError(String);

impl ExecutorError {
    /// For this reason.
    pub fn new(why: impl fmt::Display) -> Self {
        ExecutorError(why.to_string())
    }
}

impl fmt::Display for ExecutorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExecutorError {}

/// Why a worker gave a run back.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Ended {
    /// It is over.
    Over(TerminationReason),
    /// These calls wait, and nobody has decided.
    Waits(Vec<String>),
    /// The worker is to stop; the run goes on elsewhere.
    Drained,
    /// The store took the run from it, or cannot be reached: the run goes on from its last commit.
    Lost(Arc<StoreError>),
    /// It cannot be driven now, and is put off.
    Deferred(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Over(reason) => write!(f, "over: {reason}"),
            Ended::Waits(calls) => write!(f, "waits for {}", calls.join(", ")),
            Ended::Drained => f.write_str("given back, to go on elsewhere"),
            Ended::Lost(error) => write!(f, "lost: {error}"),
            Ended::Deferred(why) => write!(f, "put off: {why}"),
        }
    }
}

/// A model that is never asked.
struct Nobody;

impl Model for Nobody {
    fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
        Box::pin(futures_util::stream::empty())
    }
}
