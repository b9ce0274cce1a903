//! The operations on runs, and the driver of their passes.

mod decide;
mod drive;
mod error;
mod pass;
mod send;
mod view;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::{AnyServiceRun, ServiceRunRecord};
use runstate_runtime::clock::Clock;
use serde_json::Value;

use crate::config::Config;
use crate::node::Graph;
use crate::port::Ports;
use crate::rows::{RunStep, StepPhase};
use crate::store::{ServiceStore, ServiceStoreError};
use crate::work::{UnusableRun, Work, recorder};

pub use error::{Conflict, Operation, ServiceError};
pub use pass::Answers;
pub use send::{Handout, Mismatch, Poll, SubmittedBy};
pub use view::RunView;

/// The longest intent, in characters.
const MAX_INTENT: usize = 5_000;

/// The longest note or reason, in characters.
const MAX_NOTE: usize = 2_000;

/// A run to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServiceRun {
    /// The id, which the caller makes.
    pub id: String,
    /// The intent: 1 to 5,000 characters.
    pub intent: String,
    /// The address of the wallet. Default: none, which the graph asks for.
    pub wallet: Option<String>,
    /// The id of the chain. Default: none, which the graph asks for.
    pub chain_id: Option<u64>,
}

/// The run service: the operations on runs, and the driver of their passes. Clones share everything.
///
/// An operation of an actor is one compare-and-set: of two that contradict each other one alone succeeds. A pass is
/// driven under a lease, node by node.
#[derive(Clone)]
pub struct Service {
    store: Arc<dyn ServiceStore>,
    graph: Graph,
    clock: Arc<dyn Clock>,
    holder: Arc<str>,
    term: Duration,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("store", &self.store)
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}

impl Service {
    /// Creates a service. `holder` is the name of this process in leases, for display.
    pub fn new(
        store: Arc<dyn ServiceStore>,
        ports: Ports,
        config: Config,
        clock: Arc<dyn Clock>,
        holder: &str,
    ) -> Self {
        // Each commit renews the lease, and between two commits one port is called.
        let term = config.port_limit.saturating_mul(2).max(Duration::from_secs(10));
        Service {
            store,
            graph: Graph { ports, config: Arc::new(config) },
            clock,
            holder: holder.into(),
            term,
        }
    }

    /// The store, for lists, steps, timelines and events.
    pub fn store(&self) -> &Arc<dyn ServiceStore> {
        &self.store
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.graph.config
    }

    /// Creates a run in the name of `actor`. It executes nothing yet.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an intent of another length, an actor without a name, a wallet that is no address,
    /// and the chain zero. [`ServiceStoreError::Taken`] for an id that was used before.
    pub async fn create(&self, new: NewServiceRun, actor: &str) -> Result<RunView, ServiceError> {
        named(actor)?;
        check_intent(&new.intent)?;
        if new.id.is_empty() {
            return Err(invalid("id", "it is empty"));
        }
        if new.wallet.as_deref().is_some_and(|wallet| !crate::config::is_address(wallet)) {
            return Err(invalid("wallet", "expected 0x and 1 to 62 hexadecimal digits"));
        }
        if new.chain_id == Some(0) {
            return Err(invalid("chain_id", "expected 1 or more"));
        }
        let recorder = recorder(&new.id, 0, &self.clock);
        let mut record = ServiceRunRecord::new(&new.id, new.intent).observed(recorder.observer("run"));
        if let Some(wallet) = new.wallet {
            record = record.for_wallet(wallet);
        }
        if let Some(chain_id) = new.chain_id {
            record = record.on_chain(chain_id);
        }
        let mut work = Work::new(new.id.clone(), AnyServiceRun::new(record), recorder, &self.clock);
        work.step(RunStep::RunCreated.into(), StepPhase::Done, Some(actor), "", Value::Null);
        work.requested_by = Some(actor.to_owned());
        let change = work.change().map_err(unusable(&new.id))?;
        self.store.create(&new.id, &change).await?;
        self.get(&new.id).await
    }

    /// Returns a run.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceError::Unusable`] for a stored run of another program.
    pub async fn get(&self, run: &str) -> Result<RunView, ServiceError> {
        let stored = self.store.load(run).await?;
        let work = Work::of(stored.clone(), &self.clock).map_err(unusable(run))?;
        Ok(RunView::new(&stored, &work.run, work.artifacts))
    }

    /// Removes a run that is over.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not over, [`ServiceStoreError::Held`] for a leased one.
    pub async fn delete(&self, run: &str) -> Result<(), ServiceError> {
        match self.store.delete(run).await {
            Err(ServiceStoreError::NotOver { .. }) => {
                let work = self.load(run).await?;
                Err(ServiceError::Conflict(conflict(&work, Operation::Delete)))
            }
            result => Ok(result?),
        }
    }

    async fn load(&self, run: &str) -> Result<Work, ServiceError> {
        let stored = self.store.load(run).await?;
        Work::of(stored, &self.clock).map_err(unusable(run))
    }

    /// Applies an operation of an actor to the newest version of a run. If another change comes first, the operation is
    /// checked again on the newer version.
    async fn change<T>(
        &self,
        run: &str,
        operate: impl Fn(&mut Work) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        loop {
            let mut work = self.load(run).await?;
            let result = operate(&mut work)?;
            let change = work.change().map_err(unusable(run))?;
            match self.store.compare_and_set(run, work.version, &change).await {
                Ok(_) => return Ok(result),
                Err(ServiceStoreError::Version { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn unusable(run: &str) -> impl FnOnce(UnusableRun) -> ServiceError {
    let run = run.to_owned();
    move |error| ServiceError::Unusable { run, error }
}

fn conflict(work: &Work, operation: Operation) -> Conflict {
    let status = work.run.status();
    let allowed = Operation::allowed(status);
    Conflict { run: work.id.clone(), operation, status, final_status: work.run.final_status(), allowed }
}

fn refused(work: &Work, operation: Operation) -> ServiceError {
    ServiceError::Conflict(conflict(work, operation))
}

fn invalid(field: &'static str, reason: impl Into<String>) -> ServiceError {
    ServiceError::Invalid { field, reason: reason.into() }
}

fn named(actor: &str) -> Result<(), ServiceError> {
    if actor.trim().is_empty() { Err(invalid("actor", "it has no name")) } else { Ok(()) }
}

fn check_intent(intent: &str) -> Result<(), ServiceError> {
    match intent.chars().count() {
        1..=MAX_INTENT => Ok(()),
        got => Err(invalid("intent", format!("it has {got} characters; expected 1 to {MAX_INTENT}"))),
    }
}

fn check_note(field: &'static str, note: &str) -> Result<(), ServiceError> {
    match note.chars().count() {
        0..=MAX_NOTE => Ok(()),
        got => Err(invalid(field, format!("it has {got} characters; expected at most {MAX_NOTE}"))),
    }
}
