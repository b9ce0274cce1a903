//! The operations on runs, and the driver of their passes.

mod caller;
mod decide;
mod drive;
mod error;
mod pass;
mod send;
mod view;
mod worker;

use std::fmt;
use std::sync::Arc;

use runstate::service_run::{AnyServiceRun, ServiceRunRecord};
use runstate_runtime::clock::Clock;
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::Config;
use crate::node::Graph;
use crate::port::Ports;
use crate::rows::{RunStep, StepPhase};
use crate::store::{KeyedAnswer, RequestKey, ServiceStore, ServiceStoreError, StoredRun};
use crate::work::{UnusableRun, Work, recorder};

pub use caller::{Caller, Request};
pub use error::{Conflict, Operation, ServiceError};
pub use pass::Answers;
pub use send::{Handout, Mismatch, Poll, SubmittedBy};
pub use view::RunView;

/// The longest id.
const MAX_ID: usize = 128;

/// The longest intent, in characters.
const MAX_INTENT: usize = 5_000;

/// The longest note or reason, in characters.
const MAX_NOTE: usize = 2_000;

/// A run to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServiceRun {
    /// The id, which the caller makes: 1 to 128 ASCII letters, digits, `-` and `_`.
    pub id: String,
    /// The intent: 1 to 5,000 characters.
    pub intent: String,
    /// The address of the wallet: `0x` and 1 to 62 hexadecimal digits. Default: none, which the graph asks for.
    pub wallet: Option<String>,
    /// The id of the chain, from 1. Default: none, which the graph asks for.
    pub chain_id: Option<u64>,
}

/// The run service: the operations on runs, and the driver of their passes. Clones share everything.
///
/// An operation of a caller is one compare-and-set: of two that contradict each other one alone succeeds. A pass is
/// driven under a lease, node by node.
#[derive(Clone)]
pub struct Service {
    store: Arc<dyn ServiceStore>,
    graph: Graph,
    clock: Arc<dyn Clock>,
    holder: Arc<str>,
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
        Service { store, graph: Graph { ports, config: Arc::new(config) }, clock, holder: holder.into() }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.graph.config
    }

    /// Creates a run in the name of the caller. It executes nothing yet.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an intent of another length, an actor without a name, an id of another form, a
    /// wallet that is no address, and the chain zero. [`ServiceStoreError::Taken`] for an id that was used before.
    /// [`ServiceStoreError::KeyTaken`] for a request that has an answer.
    pub async fn create(
        &self,
        new: NewServiceRun,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        caller.check()?;
        check_id(&new.id)?;
        check_intent(&new.intent)?;
        if let Some(wallet) = new.wallet.as_deref().filter(|wallet| !crate::config::is_address(wallet)) {
            return Err(invalid("wallet", not_an_address(&wallet.into())));
        }
        if new.chain_id == Some(0) {
            return Err(invalid("chain_id", "got 0, expected 1 or more"));
        }
        self.check_key(&caller).await?;
        let recorder = recorder(&new.id, 0, &self.clock);
        let mut record = ServiceRunRecord::new(&new.id, new.intent).observed(recorder.observer("run"));
        if let Some(wallet) = new.wallet {
            record = record.for_wallet(wallet);
        }
        if let Some(chain_id) = new.chain_id {
            record = record.on_chain(chain_id);
        }
        let mut work = Work::new(new.id.clone(), AnyServiceRun::new(record), recorder, &self.clock);
        work.act(RunStep::RunCreated, StepPhase::Done, &caller, "", Value::Null);
        work.requested_by = Some(caller.actor.clone());
        let mut change = work.change().map_err(unusable(&new.id))?;
        let view = RunView::new(&change.first_row(&new.id), &work.run, work.artifacts);
        change.answer = keyed(&caller, &view);
        self.store.create(&new.id, &change).await?;
        Ok(view)
    }

    /// Returns the stored answer to a request of an actor: the result of its operation, as JSON. A [`RunView`] among the
    /// results has the artifacts `needs_input` and `assistant_message` alone. None if there is no answer, or if it is older than 24 hours.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn answer(&self, actor: &str, key: &str) -> Result<Option<KeyedAnswer>, ServiceError> {
        let key = RequestKey { principal: actor.to_owned(), key: key.to_owned() };
        Ok(self.store.answer(&key, self.clock.now_ms()).await?)
    }

    /// Returns a run.
    ///
    /// # Errors
    /// [`ServiceStoreError::NoRun`]. [`ServiceError::Unusable`] for a stored run of another program.
    pub async fn get(&self, run: &str) -> Result<RunView, ServiceError> {
        let mut stored = self.store.load(run).await?;
        let work = Work::of(&mut stored, &self.clock).map_err(unusable(run))?;
        Ok(RunView::new(&stored, &work.run, work.artifacts))
    }

    /// Removes a run that is over, if it has the version; any version, if it is none. A run that is over never changes.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not over, [`ServiceStoreError::Version`] for another version.
    pub async fn delete(&self, run: &str, version: Option<u64>) -> Result<(), ServiceError> {
        let work = self.load(run).await?;
        if !work.run.status().is_terminal() {
            return Err(refused(&work, Operation::Delete));
        }
        if let Some(got) = version.filter(|got| *got != work.version) {
            let (run, current) = (run.to_owned(), work.version);
            return Err(ServiceStoreError::Version { run, got, current }.into());
        }
        Ok(self.store.delete(run).await?)
    }

    async fn load(&self, run: &str) -> Result<Work, ServiceError> {
        let mut stored = self.store.load(run).await?;
        Work::of(&mut stored, &self.clock).map_err(unusable(run))
    }

    /// Applies an operation of a caller to the newest version of a run. If another change comes first, the operation is
    /// checked again on the newer version. `answer` makes the result from that of the operation and the run.
    async fn change<T, A: Serialize>(
        &self,
        run: &str,
        caller: &Caller,
        operate: impl Fn(&mut Work) -> Result<T, ServiceError>,
        answer: impl Fn(T, RunView) -> A,
    ) -> Result<A, ServiceError> {
        caller.check()?;
        loop {
            let mut row = self.store.load(run).await?;
            self.check_key(caller).await?;
            let mut work = Work::of(&mut row, &self.clock).map_err(unusable(run))?;
            let result = operate(&mut work)?;
            match self.store_change(row, work, caller, |view| answer(result, view)).await? {
                Some(answer) => return Ok(answer),
                None => continue,
            }
        }
    }

    /// Stores the change of a caller with its answer. None if another change came first.
    async fn store_change<A: Serialize>(
        &self,
        mut row: StoredRun,
        mut work: Work,
        caller: &Caller,
        answer: impl FnOnce(RunView) -> A,
    ) -> Result<Option<A>, ServiceError> {
        if let Some(got) = caller.version.filter(|got| *got != row.version) {
            return Err(ServiceStoreError::Version { run: row.id, got, current: row.version }.into());
        }
        let version = row.version;
        let mut change = work.change().map_err(unusable(&row.id))?;
        change.apply_to(&mut row);
        let answer = answer(RunView::new(&row, &work.run, work.artifacts));
        change.answer = keyed(caller, &answer);
        match self.store.compare_and_set(&row.id, version, &change).await {
            Ok(_) => Ok(Some(answer)),
            Err(ServiceStoreError::Version { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a request that has an answer.
    async fn check_key(&self, caller: &Caller) -> Result<(), ServiceError> {
        let Some(key) = caller.key() else { return Ok(()) };
        match self.store.answer(&key, self.clock.now_ms()).await? {
            None => Ok(()),
            Some(_) => {
                let RequestKey { principal, key } = key;
                Err(ServiceStoreError::KeyTaken { principal, key }.into())
            }
        }
    }
}

/// The answer to a request with a key, as it is stored.
fn keyed(caller: &Caller, answer: &impl Serialize) -> Option<KeyedAnswer> {
    let digest = caller.request.as_ref()?.digest.clone();
    let mut answer = json!(answer);
    // Most artifacts are large, and the run has them.
    if let Some(artifacts) = answer.get_mut("artifacts").and_then(Value::as_object_mut) {
        artifacts.retain(|name, _| matches!(&**name, "needs_input" | "assistant_message"));
    }
    Some(KeyedAnswer { key: caller.key()?, digest, answer })
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

fn not_an_address(got: &Value) -> String {
    format!("got {got}, expected 0x and 1 to 62 hexadecimal digits")
}

fn check_id(id: &str) -> Result<(), ServiceError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain) {
        return Ok(());
    }
    Err(invalid("id", format!("got {id:?}, expected 1 to {MAX_ID} ASCII letters, digits, `-` and `_`")))
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
