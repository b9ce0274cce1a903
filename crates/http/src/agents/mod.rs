//! Agent runs, for reading.

pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod list;
pub(crate) mod read;

use std::sync::{Arc, OnceLock};

use axum::extract::Path;
use runstate_service::{ServiceError, ServiceStoreError};
use runstate_store::{Feed, RunStore, StoreError};

use crate::app::App;
use crate::problem::{Code, Problem};

/// The agent runs of a server.
pub(crate) struct Agents {
    store: Arc<dyn RunStore>,
    /// Made by the first watcher, since it needs a runtime.
    feed: OnceLock<Feed>,
}

impl Agents {
    pub(crate) fn new(store: Arc<dyn RunStore>) -> Self {
        Agents { store, feed: OnceLock::new() }
    }

    pub(crate) fn store(&self) -> &dyn RunStore {
        &*self.store
    }

    pub(crate) fn feed(&self) -> &Feed {
        self.feed.get_or_init(|| Feed::new(Arc::clone(&self.store)))
    }

    /// Returns whether there is a run of that id.
    async fn has(&self, run: &str) -> Result<bool, StoreError> {
        match self.store.pending_signals(run).await {
            Ok(_) => Ok(true),
            Err(StoreError::NoRun { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NoRun { .. } => Problem::new(Code::NotFound, error.to_string()),
            StoreError::Unavailable(_) => {
                let detail = "the store of agent runs cannot be reached";
                Problem::new(Code::Unavailable, detail).retry_after(1).caused_by(error)
            }
            // The text may have a path, or a part of the stored row.
            _ => Problem::new(Code::Internal, "the stored agent run cannot be used by this server")
                .caused_by(error),
        }
    }
}

/// A result about a service run: its value, or the agent runs if no service run has the id.
pub(crate) enum Found<'a, T> {
    Service(T),
    Agent(&'a Agents),
}

impl App {
    /// Looks for an agent run if no service run has the id.
    pub(crate) fn found<T>(&self, result: Result<T, ServiceError>) -> Result<Found<'_, T>, Problem> {
        match (result, &self.agents) {
            (Err(ServiceError::Store(ServiceStoreError::NoRun { .. })), Some(agents)) => {
                Ok(Found::Agent(agents))
            }
            (result, _) => Ok(Found::Service(result?)),
        }
    }

    /// The refusal of rows that agent runs lack.
    pub(crate) async fn without(&self, agents: &Agents, run: &str, rows: &str) -> Problem {
        match agents.has(run).await {
            Ok(true) => {
                let detail = format!(
                    "{run:?} is an agent run, which has no {rows}; it has trace, trace.jsonl, events, approvals and tool-calls"
                );
                Problem::new(Code::NotFound, detail)
            }
            Ok(false) => Problem::from(StoreError::NoRun { run: run.to_owned() }),
            Err(error) => error.into(),
        }
    }

    /// Explains the refusal of an operation on an agent run.
    pub(crate) async fn explained(&self, run: Option<&str>, problem: Problem) -> Problem {
        let (Some(agents), Some(run), Code::NotFound) = (&self.agents, run, problem.code()) else {
            return problem;
        };
        match agents.has(run).await {
            Ok(true) => {
                let detail = format!(
                    "{run:?} is an agent run, which this server reads only; the commands `runstate approve`, `deny`, `send` and `cancel` change it"
                );
                Problem::new(Code::NotFound, detail)
            }
            _ => problem,
        }
    }
}

/// The path of an operation: with the id of a run, or without one.
pub(crate) trait OfRun {
    fn run(&self) -> Option<String>;
}

impl OfRun for Path<String> {
    fn run(&self) -> Option<String> {
        Some(self.0.clone())
    }
}

impl OfRun for () {
    fn run(&self) -> Option<String> {
        None
    }
}
