//! What a worker drives runs with.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::error::StoreError;
use super::super::load::Loaded;
use crate::agent::Agent;
use crate::agent::event::EventSink;
use crate::snapshot::Migration;
use crate::termination::TerminationReason;

/// What a worker drives runs with: it knows what is in the [`spec`](Loaded::spec) of a run.
#[async_trait]
pub trait Host: Send + Sync {
    /// Says what a run that was claimed is driven with.
    ///
    /// # Errors
    /// Why it cannot be driven now. It is put off then, and tried again.
    async fn prepare(&self, run: &Loaded) -> Result<Job, HostError>;

    /// A run was given back.
    fn ended(&self, _run: &str, _ended: &Ended) {}

    /// The store could not be reached, and the worker goes on trying; or it has a run that cannot be read, of which this is said
    /// once, and the worker goes on with the others.
    fn troubled(&self, _error: &StoreError) {}
}

/// What a run is driven with.
#[derive(Clone)]
#[non_exhaustive]
pub struct Job {
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

impl Job {
    /// Drives a run with this agent; one that has not begun begins with this message.
    pub fn new(agent: Agent, message: impl Into<Arc<str>>) -> Self {
        Job {
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

    /// The same, reading older runs and calls through these.
    #[must_use]
    pub fn migrated_by(mut self, of_run: Arc<[Migration]>, of_calls: Arc<[Migration]>) -> Self {
        (self.run_migrations, self.call_migrations) = (of_run, of_calls);
        self
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("agent", &self.agent)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

/// Why a run cannot be driven now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostError(String);

impl HostError {
    /// For this reason.
    pub fn new(why: impl fmt::Display) -> Self {
        HostError(why.to_string())
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HostError {}

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
    PutOff(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Over(reason) => write!(f, "over: {reason}"),
            Ended::Waits(calls) => write!(f, "waits for {}", calls.join(", ")),
            Ended::Drained => f.write_str("given back, to go on elsewhere"),
            Ended::Lost(error) => write!(f, "lost: {error}"),
            Ended::PutOff(why) => write!(f, "put off: {why}"),
        }
    }
}
