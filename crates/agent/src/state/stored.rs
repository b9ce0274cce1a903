//! The stored form of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use runstate::decision::{Decision, Suspension, digest};
use runstate::json::hex;
use runstate::kernel::Stateful;
use runstate::run::AnyRun;
use runstate::snapshot::{Migration, RestoreError, Snapshot};
use runstate::tool_call::AnyToolCall;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::decide::{Board, CallNow, Question};
use super::super::history::Message;
use super::super::keys::KeyState;
use super::super::stop::StopCounters;
use super::error::StateError;
use super::validate::{check, suspended};
use super::{Call, Offer, RunState};

/// A stored run. Its field names are the durable state paths of the two-layer loop.
///
/// ```
/// use runstate_agent::{RunState, StoredRun};
///
/// let json = StoredRun::of(&RunState::new("r1"))?.to_json();
/// let state = StoredRun::from_json(json.as_bytes())?.restore()?;
/// assert_eq!(state.id(), "r1");
///
/// let error = StoredRun::from_json(json.replace("r1", "r2").as_bytes())?.restore().unwrap_err();
/// assert!(error.to_string().contains("changed after its checksum was computed"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
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
    /// The number of messages from before the run.
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
    #[serde(rename = "digest", deserialize_with = "Warrant::read")]
    pub(super) warrant: Warrant,
}

/// The origin of a stored run's content.
#[derive(Debug, Clone)]
pub(super) enum Warrant {
    /// The content was read together with this checksum, which must be compared.
    Read(String),
    /// This process derived the content from a run or from checked bundles, or an operator accepted it.
    Own,
    /// A store provided the content in parts, and each machine has a checksum of its own. The whole gets no checksum,
    /// because a foreign store may provide any parts.
    Parts,
}

impl Warrant {
    fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Warrant::Read)
    }
}

/// The written form of a stored run, without its checksum.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "__run")]
    run: &'a Snapshot,
    #[serde(rename = "__tool_call_states")]
    calls: &'a BTreeMap<String, StoredCall>,
    #[serde(rename = "__suspended_tool_calls")]
    suspended: &'a BTreeMap<String, Suspension>,
    #[serde(rename = "__resume_decisions")]
    decisions: &'a BTreeMap<String, Decision>,
    thread: &'a str,
    base: usize,
    messages: &'a [Message],
    values: &'a KeyState,
    steps: u32,
    #[serde(skip_serializing_if = "is_all")]
    offer: &'a Offer,
    flows: u32,
    events: u64,
    version: u64,
    counters: &'a StopCounters,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_all(offer: &&Offer) -> bool {
    offer.is_all()
}

impl Serialize for StoredRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Sealed<'a> {
            #[serde(flatten)]
            content: Written<'a>,
            digest: Option<Cow<'a, str>>,
        }
        Sealed { content: self.written(), digest: self.digest() }.serialize(serializer)
    }
}

/// Stored runs are equal if their content is equal and both checksums fit, or both have the same wrong checksum.
impl PartialEq for StoredRun {
    fn eq(&self, other: &StoredRun) -> bool {
        self.content() == other.content() && self.unfit() == other.unfit()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredCall {
    pub(super) executions: u32,
    pub(super) snapshot: Snapshot,
}

fn syntax(error: &serde_json::Error) -> StateError {
    StateError::Syntax {
        line: error.line(),
        column: error.column(),
        message: runstate::json::without_place(error),
    }
}

impl StoredRun {
    /// Creates the stored form of a run. The run can continue.
    ///
    /// # Errors
    /// [`StateError::Unwritable`] when a part has no JSON form; [`StateError::Lost`] when a state machine of the run
    /// is lost.
    pub fn of(state: &RunState) -> Result<StoredRun, StateError> {
        state.lost().map_or(Ok(()), |lost| Err(StateError::Lost(lost)))?;
        let mut calls = BTreeMap::new();
        for call in state.calls.iter() {
            let snapshot = Snapshot::of(call.machine.get()).map_err(StateError::Unwritable)?;
            calls.insert(call.name.to_string(), StoredCall { executions: call.executions, snapshot });
        }
        Ok(StoredRun {
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
            warrant: Warrant::Own,
        })
    }

    /// Parses the JSON form of a stored run. [`restore`](StoredRun::restore) validates its content.
    ///
    /// # Errors
    /// [`StateError::Syntax`], with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<StoredRun, StateError> {
        runstate::json::from_slice(bytes).map_err(|e| syntax(&e))
    }

    /// Returns the stored run as indented JSON, with its checksum in the field `digest`.
    ///
    /// The field is null for a run that a store provided in parts; [`from_json`](StoredRun::from_json) refuses such a
    /// text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"))
    }

    /// The stored id of the run; `None` if its record has none.
    pub fn id(&self) -> Option<&str> {
        self.run.record().get("id")?.as_str()
    }

    /// The stored status of the run.
    pub fn status(&self) -> &str {
        self.run.status()
    }

    /// The number of messages, including those from before the run.
    #[doc(hidden)]
    pub fn count_of_messages(&self) -> usize {
        self.messages.len()
    }

    /// The number of messages from before the run.
    #[doc(hidden)]
    pub fn earlier_messages(&self) -> usize {
        self.base
    }

    /// The number of commits.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The open suspensions, by the names of their calls. A call from an older version is included if its suspension
    /// can be read without a migration. [`restore_with`](StoredRun::restore_with) restores all calls.
    pub fn suspended(&self) -> &BTreeMap<String, Suspension> {
        &self.suspended
    }

    /// The accepted decisions, by suspension id.
    pub fn decisions(&self) -> &BTreeMap<String, Decision> {
        &self.decisions
    }

    /// Returns whether `call` refers to the call `name`: by its name in traces, or by the id that the model gave it.
    /// A model may use an id again, so an id may refer to several calls. If the id of a call from an older version
    /// cannot be read without a migration, that call has no id here.
    pub fn is_named(&self, name: &str, call: &str) -> bool {
        name == call
            || self
                .calls
                .get(name)
                .is_some_and(|stored| stored.snapshot.record().get("id") == Some(&call.into()))
    }

    /// The questions of the run and the decisions on them. `posted` are decisions that the store has accepted since.
    #[doc(hidden)]
    pub fn board(&self, run: &str, posted: &[Decision]) -> Board {
        let mut board = Board::of(run.into());
        for (place, (name, stored)) in self.calls.iter().enumerate() {
            let (name, record): (Arc<str>, _) = (name.as_str().into(), stored.snapshot.record());
            let text = |field: &str| record.get(field).and_then(Value::as_str);
            let asked = record.get("suspensions").and_then(Value::as_u64).unwrap_or_default();
            let waits = self.suspended.get(&*name).map(|suspension| {
                let of_model = || record.get("arguments").unwrap_or(&Value::Null);
                let arguments = suspension.doubted_arguments().unwrap_or_else(of_model);
                let digest = suspension.digest(run, &name, text("tool").unwrap_or_default(), arguments);
                Question { call: Arc::clone(&name), suspension: suspension.clone(), digest, shown: None }
            });
            board.call(CallNow {
                place,
                name: &name,
                id: text("id").unwrap_or(&name),
                asked: u32::try_from(asked).unwrap_or(u32::MAX),
                waits,
            });
        }
        self.decisions.values().chain(posted).for_each(|decision| board.decision(decision));
        board
    }

    /// Accepts the current content, for an operator who changed a stored file deliberately.
    #[cfg(feature = "repair")]
    pub fn recompute_checksum(&mut self) {
        self.run.recompute_checksum();
        for call in self.calls.values_mut() {
            call.snapshot.recompute_checksum();
        }
        self.warrant = Warrant::Own;
    }

    fn written(&self) -> Written<'_> {
        Written {
            run: &self.run,
            calls: &self.calls,
            suspended: &self.suspended,
            decisions: &self.decisions,
            thread: &self.thread,
            base: self.base,
            messages: &self.messages,
            values: &self.values,
            steps: self.steps,
            offer: &self.offer,
            flows: self.flows,
            events: self.events,
            version: self.version,
            counters: &self.counters,
        }
    }

    fn content(&self) -> Value {
        serde_json::to_value(self.written())
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"))
    }

    fn digest(&self) -> Option<Cow<'_, str>> {
        match &self.warrant {
            Warrant::Read(digest) => Some(digest.into()),
            Warrant::Own => Some(digest_of(&self.content()).into()),
            Warrant::Parts => None,
        }
    }

    /// The checksum that was read with the run, if it does not fit.
    fn unfit(&self) -> Option<&String> {
        let Warrant::Read(got) = &self.warrant else { return None };
        (*got != digest_of(&self.content())).then_some(got)
    }

    /// Restores the run as typed state.
    ///
    /// # Errors
    /// [`StateError`] with the name of the part, for a wrong checksum, a machine that cannot be restored, or
    /// inconsistent parts.
    pub fn restore(&self) -> Result<RunState, StateError> {
        self.restore_with(&[], &[])
    }

    /// Restores the run, with migrations of the run and of its calls.
    ///
    /// # Errors
    /// See [`restore`](StoredRun::restore).
    pub fn restore_with(&self, of_run: &[Migration], of_calls: &[Migration]) -> Result<RunState, StateError> {
        if let Some(got) = self.unfit() {
            let error = RestoreError::Digest { got: got.clone() };
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

    /// Returns whether the call is from another version, so that its content needs a migration.
    pub(super) fn is_migrated(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|call| is_of_another_version(&call.snapshot))
    }
}

/// The suspension of a stored call. For a call from another version, this is the part that can be read without a
/// migration.
pub(super) fn suspension_of(name: &str, call: &Snapshot) -> Result<Option<Suspension>, StateError> {
    if call.status() != "Suspended" {
        return Ok(None);
    }
    match Suspension::deserialize(&call.state()["suspension"]) {
        Ok(suspension) => Ok(Some(suspension)),
        Err(_) if is_of_another_version(call) => Ok(None),
        Err(error) => Err(StateError::Inconsistency {
            path: format!("__tool_call_states.{name}"),
            what: format!("it is Suspended, and its suspension cannot be read: {error}"),
        }),
    }
}

fn is_of_another_version(call: &Snapshot) -> bool {
    call.version() != AnyToolCall::GRAPH.version
}

/// The checksum of a stored run. No public function computes it for other content.
fn digest_of(content: &Value) -> String {
    let mut sum = Sha256::new();
    sum.update("runstate stored run\n");
    sum.update(digest(content));
    format!("sha256:{}", hex(&sum.finalize()))
}
