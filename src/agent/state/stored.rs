//! A run at rest (document 000, "Durable State Paths").

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::super::history::Message;
use super::super::keys::{KeyState, Scope, Values};
use super::super::stop::StopCounters;
use super::error::StateError;
use super::sound::{check, suspended};
use super::{Call, Offer, RunState};
use crate::decision::{Decision, Suspension};
use crate::kernel::Persist;
use crate::run::AnyRun;
use crate::snapshot::{Migration, RestoreError, Snapshot, UnsealedSnapshot, WrittenUnder, digest};
use crate::tool_call::AnyToolCall;

/// A run at rest, under the document's paths.
///
/// ```
/// use runstate::agent::{RunState, StoredRun};
///
/// let json = StoredRun::of(&RunState::new("r1"))?.to_json();
/// let state = StoredRun::from_json(json.as_bytes())?.restore()?;
/// assert_eq!(state.id(), "r1");
///
/// let error = StoredRun::from_json(json.replace("r1", "r2").as_bytes())?.restore().unwrap_err();
/// assert!(error.to_string().contains("changed after it was sealed"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRun {
    #[serde(rename = "__run")]
    pub(super) run: Snapshot,
    #[serde(rename = "__tool_call_states")]
    pub(super) calls: BTreeMap<String, StoredCall>,
    #[serde(rename = "__suspended_tool_calls")]
    pub(super) suspended: BTreeMap<String, Suspension>,
    #[serde(rename = "__resume_decisions")]
    pub(super) decisions: BTreeMap<String, Decision>,
    pub(super) thread: String,
    /// How many of the messages were there before the run.
    pub(super) base: usize,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    pub(super) values: KeyState,
    pub(super) steps: u32,
    #[serde(default, skip_serializing_if = "Offer::is_all")]
    pub(super) offer: Offer,
    pub(super) flows: u32,
    pub(super) events: u64,
    pub(super) version: u64,
    pub(super) counters: StopCounters,
    pub(super) digest: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredCall {
    pub(super) executions: u32,
    pub(super) snapshot: Snapshot,
}

/// What one commit stored, as it is read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredDelta {
    version: u64,
    head: Option<Head>,
    #[serde(rename = "__run")]
    run: Option<UnsealedSnapshot>,
    steps: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    offer: Option<Offer>,
    flows: Option<u32>,
    events: Option<u64>,
    counters: Option<StopCounters>,
    #[serde(rename = "__tool_call_states", default)]
    calls: BTreeMap<String, UnsealedCall>,
    #[serde(rename = "__resume_decisions", default)]
    decisions: BTreeMap<String, Decision>,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    values: Vec<(Scope, String, Option<Value>)>,
}

/// What a run has once and for all, or as long as one version of the library goes on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent) struct Head {
    thread: String,
    base: usize,
    /// What the thread keeps when the run, or this process, takes it up.
    thread_values: Values,
    run_under: WrittenUnder,
    calls_under: WrittenUnder,
}

impl Head {
    pub(in crate::agent) fn of(state: &RunState) -> Self {
        Head {
            thread: state.thread.id.to_string(),
            base: state.base,
            thread_values: state.thread.values.clone(),
            run_under: WrittenUnder::graph(AnyRun::GRAPH),
            calls_under: WrittenUnder::graph(AnyToolCall::GRAPH),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnsealedCall {
    executions: u32,
    snapshot: UnsealedSnapshot,
}

/// A stored run while the commits that made it are added up.
#[derive(Debug, Default)]
pub(in crate::agent) struct Fold(Option<(Head, StoredRun)>);

impl Fold {
    /// Adds what the next commit stored.
    pub(in crate::agent) fn add(&mut self, delta: StoredDelta) -> Result<(), StateError> {
        let expected = self.0.as_ref().map_or(1, |(_, stored)| stored.version + 1);
        let lacks = |what: &str| StateError::Contradiction {
            path: what.to_owned(),
            what: format!("commit {} has none, and neither has one before it", delta.version),
        };
        if delta.version != expected {
            let what = format!("commit {} where commit {expected} is the next", delta.version);
            return Err(StateError::Contradiction { path: "version".to_owned(), what });
        }
        let before = self.0.take();
        let (head_before, stored) = before.map_or((None, None), |(head, stored)| (Some(head), Some(stored)));
        let head = delta.head.clone().or(head_before).ok_or_else(|| lacks("head"))?;
        let run = delta.run.clone().map(|run| run.under(&head.run_under));
        let mut stored = match (stored, run) {
            (Some(stored), Some(run)) => StoredRun { run, ..stored },
            (Some(stored), None) => stored,
            (None, Some(run)) => StoredRun::empty(&head, run),
            (None, None) => return Err(lacks("__run")),
        };
        stored.add(&head, delta)?;
        self.0 = Some((head, stored));
        Ok(())
    }

    /// The stored run, sealed.
    ///
    /// # Errors
    /// [`StateError::Nothing`] when nothing was added.
    pub(in crate::agent) fn into_stored(self) -> Result<StoredRun, StateError> {
        let (_, mut stored) = self.0.ok_or(StateError::Nothing)?;
        stored.reseal();
        Ok(stored)
    }
}

impl StoredDelta {
    /// Reads what a [`Delta`](super::super::Delta) wrote.
    ///
    /// # Errors
    /// [`StateError::Syntax`], with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<StoredDelta, StateError> {
        serde_json::from_slice(bytes).map_err(|e| syntax(&e))
    }

    /// The number of the commit, from 1.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// What is there is a value, `null` too.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn syntax(error: &serde_json::Error) -> StateError {
    StateError::Syntax {
        line: error.line(),
        column: error.column(),
        message: crate::snapshot::without_place(error),
    }
}

impl StoredRun {
    /// Writes a run down, which goes on.
    ///
    /// # Errors
    /// [`StateError::Unwritable`] when something has no form in JSON.
    pub fn of(state: &RunState) -> Result<StoredRun, StateError> {
        let mut calls = BTreeMap::new();
        for call in state.calls.iter() {
            let snapshot = Snapshot::of(call.machine.get()).map_err(StateError::Unwritable)?;
            calls.insert(call.name.to_string(), StoredCall { executions: call.executions, snapshot });
        }
        let mut stored = StoredRun {
            run: Snapshot::of(state.run.get()).map_err(StateError::Unwritable)?,
            calls,
            suspended: suspended(state),
            decisions: state.decided.all().clone(),
            thread: state.thread.id.to_string(),
            base: state.base,
            messages: state.thread.history.stored().cloned().collect(),
            values: KeyState { run: state.values.clone(), thread: state.thread.values.clone() },
            steps: state.steps,
            offer: state.offer.clone(),
            flows: state.flows,
            events: state.events + state.following,
            version: state.commits,
            counters: state.counters.clone(),
            digest: String::new(),
        };
        stored.digest = stored.content_digest();
        Ok(stored)
    }

    fn empty(head: &Head, run: Snapshot) -> Self {
        StoredRun {
            run,
            calls: BTreeMap::new(),
            suspended: BTreeMap::new(),
            decisions: BTreeMap::new(),
            thread: head.thread.clone(),
            base: head.base,
            messages: Vec::new(),
            values: KeyState { run: Values::default(), thread: head.thread_values.clone() },
            steps: 0,
            offer: Offer::default(),
            flows: 0,
            events: 0,
            version: 0,
            counters: StopCounters::new(0),
            digest: String::new(),
        }
    }

    fn add(&mut self, head: &Head, delta: StoredDelta) -> Result<(), StateError> {
        self.version = delta.version;
        self.steps = delta.steps.unwrap_or(self.steps);
        if let Some(offer) = delta.offer {
            self.offer = offer;
        }
        self.flows = delta.flows.unwrap_or(self.flows);
        self.events = delta.events.unwrap_or(self.events);
        if let Some(counters) = delta.counters {
            self.counters = counters;
        }
        self.messages.extend(delta.messages);
        self.decisions.extend(delta.decisions);
        self.values.store(delta.values).map_err(StateError::Value)?;
        for (name, UnsealedCall { executions, snapshot }) in delta.calls {
            let snapshot = snapshot.under(&head.calls_under);
            match suspension_of(&name, &snapshot)? {
                Some(suspension) => {
                    self.suspended.insert(name.clone(), suspension);
                }
                None => {
                    self.suspended.remove(&name);
                }
            }
            self.calls.insert(name, StoredCall { executions, snapshot });
        }
        Ok(())
    }

    /// Reads the form of a stored run; whether its content is sound, [`restore`](StoredRun::restore) tells.
    ///
    /// # Errors
    /// [`StateError::Syntax`], with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<StoredRun, StateError> {
        serde_json::from_slice(bytes).map_err(|e| syntax(&e))
    }

    /// The stored run as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"))
    }

    /// The run's status, as stored.
    pub fn status(&self) -> &str {
        self.run.status()
    }

    /// How many commits made it.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What waits for a decision, by the name of its call. Calls of an older version are in it where they can be read without
    /// their migration; [`restore_with`](StoredRun::restore_with) brings all of them back.
    pub fn suspended(&self) -> &BTreeMap<String, Suspension> {
        &self.suspended
    }

    /// The decisions that were accepted, by their suspensions.
    pub fn decisions(&self) -> &BTreeMap<String, Decision> {
        &self.decisions
    }

    /// Is the call of that name in traces called so: by its name, or by the id that the model gave it? A model may give an id again, so
    /// that several are. The id of a call of an older version may need its migration to be read, and none is called by it then.
    pub fn is_named(&self, name: &str, call: &str) -> bool {
        name == call
            || self
                .calls
                .get(name)
                .is_some_and(|stored| stored.snapshot.record().get("id") == Some(&call.into()))
    }

    /// Seals the content as it stands: for a person who changed a stored file and answers for it.
    pub fn reseal(&mut self) {
        self.run.reseal();
        for call in self.calls.values_mut() {
            call.snapshot.reseal();
        }
        self.digest = self.content_digest();
    }

    /// Seals the whole, and leaves the seals of its machines as they are.
    #[cfg(feature = "store")]
    pub(super) fn seal_whole(&mut self) {
        self.digest = self.content_digest();
    }

    fn content_digest(&self) -> String {
        let mut value = serde_json::to_value(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"));
        if let Value::Object(fields) = &mut value {
            fields.remove("digest");
        }
        digest(&[&value])
    }

    /// Brings the run back as types.
    ///
    /// # Errors
    /// [`StateError`], naming the part, for a broken seal, a machine that does not come back, or parts that contradict
    /// each other.
    pub fn restore(&self) -> Result<RunState, StateError> {
        self.restore_with(&[], &[])
    }

    /// Brings the run back, through migrations of its run and of its calls.
    ///
    /// # Errors
    /// As [`restore`](StoredRun::restore).
    pub fn restore_with(&self, of_run: &[Migration], of_calls: &[Migration]) -> Result<RunState, StateError> {
        let expected = self.content_digest();
        if self.digest != expected {
            let error = RestoreError::Digest { got: self.digest.clone(), expected };
            return Err(StateError::Machine { path: "digest".to_owned(), error });
        }
        let machine = |path: String| move |error| StateError::Machine { path, error };
        let run: AnyRun = self.run.restore_with(of_run).map_err(machine("__run".to_owned()))?;
        let mut calls = Vec::with_capacity(self.calls.len());
        for (name, stored) in &self.calls {
            let call: AnyToolCall = stored
                .snapshot
                .restore_with(of_calls)
                .map_err(machine(format!("__tool_call_states.{name}")))?;
            calls.push(Call::new(Arc::from(name.as_str()), call, stored.executions, 0));
        }
        calls.sort_by_key(|call| call.record().key());
        let state = RunState::restored(self, run, calls)?;
        check(&state, self).map_err(StateError::from)?;
        Ok(state)
    }

    /// Was this call written under another version, so that a migration alone knows what is in it?
    pub(super) fn is_migrated(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|call| is_of_another_version(&call.snapshot))
    }
}

/// What a stored call waits for, if it does. Of one of another version that is what can be read without its migration.
pub(super) fn suspension_of(name: &str, call: &Snapshot) -> Result<Option<Suspension>, StateError> {
    if call.status() != "Suspended" {
        return Ok(None);
    }
    match Suspension::deserialize(&call.state()["suspension"]) {
        Ok(suspension) => Ok(Some(suspension)),
        Err(_) if is_of_another_version(call) => Ok(None),
        Err(error) => Err(StateError::Contradiction {
            path: format!("__tool_call_states.{name}"),
            what: format!("it is Suspended, and its suspension cannot be read: {error}"),
        }),
    }
}

fn is_of_another_version(call: &Snapshot) -> bool {
    call.version() != AnyToolCall::GRAPH.version
}
