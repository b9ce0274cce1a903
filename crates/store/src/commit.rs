//! The rows of one commit.

use std::time::Duration;

use runstate::checkpoint::Trigger;
use runstate::decision::{Decision, Suspension};
use runstate::kernel::Persist;
use runstate::run::{AnyRun, RunStatus};
use runstate::snapshot::Snapshot;
use runstate::termination::TerminationReason;
use runstate::tool_call::{AnyToolCall, CallKey, ToolCallStatus};
use runstate_agent::event::AgentEvent;
use runstate_agent::for_stores::Core;
use runstate_agent::keys::Scope;
use runstate_agent::{Delta, Message};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::thread::UserMessage;

/// The rows of one commit: the changes of a run since its previous commit. A store writes them in one transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Commit {
    /// The number of the commit, from 1. The stored version before it is one less.
    pub version: u64,
    /// Whether the commit is a repetition. The store may already have a commit with this number and this fencing
    /// token. A repetition contains all rows of that commit, and its rows replace them.
    pub again: bool,
    /// The cause of the commit.
    pub trigger: Trigger,
    /// The time of the commit, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The row of the run.
    pub run: RunRow,
    /// The id of the [message](super::RunData::supersede) that this commit contains and with which the run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
    /// New messages. Their numbers follow the stored ones.
    pub messages: Vec<MessageRow>,
    /// Calls that are new or changed. Each replaces the stored row with its name.
    pub calls: Vec<CallRow>,
    /// Decisions that the run took. Most of them are already in the store, since they were posted.
    pub decisions: Vec<Decision>,
    /// Values that changed.
    pub values: Vec<ValueRow>,
    /// New trace events, with increasing numbers.
    pub trace: Vec<TraceRow>,
    /// New events of the run, with increasing numbers. In a repeated commit they replace all stored events from the
    /// first number on.
    pub events: Vec<EventRow>,
}

/// The row of a run. It replaces the stored one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunRow {
    /// The status of the run.
    pub status: RunStatus,
    /// The reason for the end, or `suspended`. None while the run is running.
    pub reason: Option<String>,
    /// The thread of the run.
    pub thread: String,
    /// The number of steps.
    pub steps: u32,
    /// The number of waiting calls.
    pub waiting: u32,
    /// The snapshot of the run's machine with its checksum, as JSON.
    pub snapshot: String,
    /// The rest of the run's state, as JSON. A store does not read it.
    pub core: String,
}

/// The alias keeps serde from borrowing the name from the input.
type Role = &'static str;

/// The row of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MessageRow {
    /// The position of the message, from 1.
    pub seq: u64,
    /// The speaker: `user`, `assistant` or `result`.
    #[serde(deserialize_with = "super::commit_json::role")]
    pub role: Role,
    /// The message as JSON.
    pub json: String,
}

/// The row of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CallRow {
    /// The name of the call in traces.
    pub name: String,
    /// The id of the call, from the model.
    pub id: String,
    /// The position of the call in the run.
    pub key: CallKey,
    /// The name of the tool.
    pub tool: String,
    /// The status of the call.
    pub status: ToolCallStatus,
    /// How often the call reached its gate. Traces number the `tool_execution` machines in this way. A denied call
    /// reached its gate and was not executed.
    pub passes: u32,
    /// The question, while the call is suspended.
    pub waits: Option<PendingQuestion>,
    /// The snapshot of the call's machine with its checksum, as JSON.
    pub snapshot: String,
}

/// The question of a suspended call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PendingQuestion {
    /// The suspension.
    pub suspension: Suspension,
    /// The arguments for the tool, as JSON.
    pub arguments: String,
    /// The digest of the question.
    pub digest: String,
}

impl PendingQuestion {
    /// Returns the time that is left for a decision, from a commit at `at_ms` by the clock of the run. None without
    /// an expiry, and for an expiry at a [date](Suspension::is_date).
    pub fn left_at(&self, at_ms: u64) -> Option<Duration> {
        let expires_at_ms = self.suspension.expires_at_ms.filter(|_| !self.suspension.is_date)?;
        Some(Duration::from_millis(expires_at_ms.saturating_sub(at_ms)))
    }
}

/// A persistent value of a run or of its thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ValueRow {
    /// The owner of the value: the run or its thread.
    pub scope: Scope,
    /// The key of the value.
    pub key: String,
    /// The value as JSON; none if it was removed.
    pub json: Option<String>,
}

impl ValueRow {
    /// Creates the row of a value, as JSON, or of a removed value.
    pub fn new(scope: Scope, key: impl Into<String>, json: Option<String>) -> Self {
        ValueRow { scope, key: key.into(), json }
    }
}

/// An event of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceRow {
    /// The number of the event.
    pub seq: u64,
    /// The event as a line of JSON, without a line end.
    pub json: String,
}

/// An event of a run: an [`AgentEvent`](runstate_agent::event::AgentEvent) as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRow {
    /// The number of the event.
    pub seq: u64,
    /// The number of the last event in this row. It differs from `seq` only for pieces of an answer, which share one
    /// row.
    pub last: u64,
    /// The event as a line of JSON, without a line end.
    pub json: String,
}

impl EventRow {
    /// Creates the row of an event.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the event has no JSON form.
    pub fn of(event: &AgentEvent) -> Result<EventRow, StoreError> {
        Ok(EventRow { seq: event.seq, last: event.last(), json: json(event)? })
    }
}

/// The position of a commit among the others.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub again: bool,
    pub at_ms: u64,
    /// The number of stored messages.
    pub messages: u64,
    /// Whether the messages that the thread had before the run are stored with the previous runs.
    pub on_thread: bool,
}

impl Commit {
    /// Creates the rows of a delta.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if a part has no JSON form.
    #[doc(hidden)]
    pub fn of(
        delta: &Delta<'_>,
        trigger: Trigger,
        place: Place,
        trace: Vec<TraceRow>,
    ) -> Result<Commit, StoreError> {
        let earlier = if place.on_thread { &[] } else { delta.earlier_messages() };
        let messages = earlier.iter().chain(delta.messages());
        let messages = messages
            .zip(place.messages + 1..)
            .map(|(message, seq)| Ok(MessageRow { seq, role: role(message), json: json(message)? }));
        let of_thread = delta.thread_values().into_iter();
        let of_thread = of_thread.map(|(key, value)| (Scope::Thread, key, Some(value)));
        let changed = delta.values().map(|(scope, key, value)| (scope, key.to_owned(), value.cloned()));
        let values = of_thread.chain(changed).map(|(scope, key, value)| {
            Ok(ValueRow { scope, key, json: value.as_ref().map(json).transpose()? })
        });
        Ok(Commit {
            version: delta.version(),
            again: place.again,
            trigger,
            at_ms: place.at_ms,
            run: RunRow::of(delta)?,
            takes: None,
            messages: messages.collect::<Result<_, StoreError>>()?,
            calls: delta
                .executed_calls()
                .map(|call| CallRow::of(delta.state().id(), call))
                .collect::<Result<_, _>>()?,
            decisions: delta.decisions().cloned().collect(),
            values: values.collect::<Result<_, StoreError>>()?,
            trace,
            events: delta.events().map(EventRow::of).collect::<Result<_, _>>()?,
        })
    }
}

impl Commit {
    /// Checks, for a store, that the commit is allowed after that message: it contains the message, or ends the run
    /// as cancelled.
    ///
    /// # Errors
    /// [`StoreError::Superseded`] otherwise.
    pub fn holds(&self, run: &str, message: &UserMessage) -> Result<(), StoreError> {
        let is_cancelled = self
            .run
            .reason
            .as_deref()
            .is_some_and(|reason| reason.parse() == Ok(TerminationReason::Cancelled));
        if self.takes.as_ref() == Some(&message.id) || is_cancelled {
            return Ok(());
        }
        Err(StoreError::Superseded { run: run.to_owned(), message: message.id.clone() })
    }
}

impl RunRow {
    fn of(delta: &Delta<'_>) -> Result<RunRow, StoreError> {
        let state = delta.state();
        let reason = match delta.run() {
            AnyRun::Running(_) => None,
            AnyRun::Waiting(_) => Some("suspended".to_owned()),
            AnyRun::Done(run) => Some(run.reason().to_string()),
        };
        Ok(RunRow {
            status: delta.run().status(),
            reason,
            thread: delta.thread_id().to_owned(),
            steps: state.steps(),
            waiting: u32::try_from(state.pending().len()).unwrap_or(u32::MAX),
            snapshot: sealed(delta.run())?,
            core: json(&Core::of(state))?,
        })
    }
}

impl CallRow {
    fn of(run: &str, (name, passes, call): (&str, u32, &AnyToolCall)) -> Result<CallRow, StoreError> {
        let record = call.record();
        let waits = match call {
            AnyToolCall::Suspended(call) => Some(PendingQuestion {
                suspension: call.suspension().clone(),
                arguments: json(call.asked_arguments())?,
                digest: call.suspension().digest(run, name, call.record().tool(), call.asked_arguments()),
            }),
            AnyToolCall::New(_)
            | AnyToolCall::Running(_)
            | AnyToolCall::Resuming(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => None,
        };
        Ok(CallRow {
            name: name.to_owned(),
            id: record.id().to_owned(),
            key: record.key(),
            tool: record.tool().to_owned(),
            status: call.status(),
            passes,
            waits,
            snapshot: sealed(call)?,
        })
    }
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User(_) => "user",
        Message::Assistant(_) => "assistant",
        Message::Result(_) | Message::Open(_) => "result",
    }
}

fn sealed<P: Persist>(machine: &P) -> Result<String, StoreError>
where
    P::Record: Serialize,
{
    json(&Snapshot::of(machine).map_err(StoreError::failed)?)
}

fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::failed)
}
