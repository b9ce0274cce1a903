//! Assembly of a stored run from the bundles of its commits.

use std::collections::BTreeMap;

use runstate::decision::Decision;
use runstate::snapshot::{Bundle, RestoreError, Snapshot};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::super::history::Message;
use super::super::keys::{KeyState, Scope, Values};
use super::super::stop::StopCounters;
use super::error::StateError;
use super::stored::{StoredCall, StoredRun, Warrant, suspension_of};
use super::{Offer, RunState};

/// The content of the bundle of one commit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredDelta {
    version: u64,
    head: Option<Head>,
    steps: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    offer: Option<Offer>,
    flows: Option<u32>,
    events: Option<u64>,
    counters: Option<StopCounters>,
    #[serde(default)]
    executions: BTreeMap<String, u32>,
    #[serde(rename = "__resume_decisions", default)]
    decisions: BTreeMap<String, Decision>,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    values: Vec<(Scope, String, Option<Value>)>,
}

/// The name of the run in the bundle of a commit.
pub(crate) const RUN: &str = "run";
/// The prefix of the names of calls in the bundle. With it, no call has the name of the run.
pub(crate) const CALL: &str = "call/";

/// The part of a run that never changes, or changes only with the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    thread: String,
    base: usize,
    /// The values of the thread at the start of the run or of this process.
    thread_values: Values,
}

impl Head {
    pub(crate) fn of(state: &RunState) -> Self {
        Head {
            thread: state.thread.id.to_string(),
            base: state.base,
            thread_values: state.thread.values.clone(),
        }
    }
}

/// A stored run during its assembly from commits.
#[derive(Debug, Default)]
pub(crate) struct Fold(Option<(Head, StoredRun)>);

impl Fold {
    /// Adds the next commit.
    pub(crate) fn add(&mut self, bundle: Bundle) -> Result<(), StateError> {
        let unreadable = |error| StateError::Machine { path: "content".to_owned(), error };
        let mut delta: StoredDelta = bundle.content().map_err(unreadable)?;
        let mut machines = bundle.into_machines();
        let expected = self.0.as_ref().map_or(1, |(_, stored)| stored.version + 1);
        let lacks = |what: &str| StateError::Inconsistency {
            path: what.to_owned(),
            what: format!("commit {} has none, and neither has one before it", delta.version),
        };
        if delta.version != expected {
            let what = format!("commit {} where commit {expected} is the next", delta.version);
            return Err(StateError::Inconsistency { path: "version".to_owned(), what });
        }
        let before = self.0.take();
        let (head_before, stored) = before.map_or((None, None), |(head, stored)| (Some(head), Some(stored)));
        let head = delta.head.take().or(head_before).ok_or_else(|| lacks("head"))?;
        let run = machines.remove(RUN);
        let mut stored = match (stored, run) {
            (Some(stored), Some(run)) => StoredRun { run, ..stored },
            (Some(stored), None) => stored,
            (None, Some(run)) => StoredRun::empty(&head, run),
            (None, None) => return Err(lacks("__run")),
        };
        stored.add(delta, machines)?;
        self.0 = Some((head, stored));
        Ok(())
    }

    /// Returns the stored run.
    ///
    /// # Errors
    /// [`StateError::Nothing`] without any commit.
    pub(crate) fn into_stored(self) -> Result<StoredRun, StateError> {
        self.0.map(|(_, stored)| stored).ok_or(StateError::Nothing)
    }
}

/// Reads a present field as a value, `null` included.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl StoredRun {
    /// Assembles a run from the bundles of its commits ([`Delta::bundle`](super::super::Delta::bundle)), in commit
    /// order.
    ///
    /// # Errors
    /// [`StateError`] without any bundle, or when a bundle cannot be read or is not the next one.
    pub fn from_bundles(
        bundles: impl IntoIterator<Item = Result<Bundle, RestoreError>>,
    ) -> Result<StoredRun, StateError> {
        let mut commits = Fold::default();
        for bundle in bundles {
            commits.add(bundle.map_err(|error| StateError::Machine { path: "commit".to_owned(), error })?)?;
        }
        commits.into_stored()
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
            warrant: Warrant::Own,
        }
    }

    fn add(&mut self, delta: StoredDelta, machines: BTreeMap<String, Snapshot>) -> Result<(), StateError> {
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
        for (name, snapshot) in machines {
            let Some(name) = name.strip_prefix(CALL).map(str::to_owned) else {
                let what =
                    format!("commit {} has a machine that is neither the run nor a call", delta.version);
                return Err(StateError::Inconsistency { path: name, what });
            };
            let Some(executions) = delta.executions.get(&name).copied() else {
                let what = format!("commit {} does not say how often it was executed", delta.version);
                return Err(StateError::Inconsistency { path: format!("__tool_call_states.{name}"), what });
            };
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
}
