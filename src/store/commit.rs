//! What one commit stores, as rows.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::thread::UserMessage;
use crate::agent::event::AgentEvent;
use crate::agent::keys::Scope;
use crate::agent::{Core, Delta, Message};
use crate::checkpoint::Trigger;
use crate::decision::{Decision, Suspension};
use crate::kernel::Persist;
use crate::run::{AnyRun, RunStatus};
use crate::snapshot::Snapshot;
use crate::termination::TerminationReason;
use crate::tool_call::{AnyToolCall, CallKey, ToolCallStatus};

/// What one commit stores: what changed since the one before, in one transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Commit {
    /// Its number, from 1: the stored version is one less.
    pub version: u64,
    /// Is it given again? Then the commit of the same number and under the same fence may be there already, and this one
    /// holds all that it held: its rows take the place of those.
    pub again: bool,
    /// What made it due.
    pub trigger: Trigger,
    /// When.
    pub at_ms: u64,
    /// The run.
    pub run: RunRow,
    /// The id of the [message](super::RunData::supersede) that the run goes on with from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
    /// Messages that are new, with the numbers that follow those there are.
    pub messages: Vec<MessageRow>,
    /// Calls that are new or moved: each takes the place of the row of its name.
    pub calls: Vec<CallRow>,
    /// Decisions that were taken; most of them were posted before, and are there.
    pub decisions: Vec<Decision>,
    /// Values that changed.
    pub values: Vec<ValueRow>,
    /// Events of the trace that are new, with growing numbers.
    pub trace: Vec<TraceRow>,
    /// Events of the run that are new, with growing numbers. Of a commit that is given again they take the place of all stored ones
    /// from the first number on.
    pub events: Vec<EventRow>,
}

/// The run itself, in the place of its row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunRow {
    /// Its status.
    pub status: RunStatus,
    /// Why it ended, or that it waits, as text.
    pub reason: Option<String>,
    /// The thread it is on.
    pub thread: String,
    /// Steps taken.
    pub steps: u32,
    /// How many calls wait.
    pub waiting: u32,
    /// The sealed snapshot of its machine, as JSON.
    pub snapshot: String,
    /// What else there is, as JSON: a store keeps it and reads nothing in it.
    pub core: String,
}

/// The alias keeps serde from borrowing the name from the text that is read.
type Role = &'static str;

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MessageRow {
    /// Its place, from 1.
    pub seq: u64,
    /// Who speaks: `user`, `assistant` or `result`.
    #[serde(deserialize_with = "super::commit_json::role")]
    pub role: Role,
    /// The message as JSON.
    pub json: String,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CallRow {
    /// Its name in traces.
    pub name: String,
    /// The id that the model gave it.
    pub id: String,
    /// Its place in the run.
    pub key: CallKey,
    /// The tool it names.
    pub tool: String,
    /// Its status.
    pub status: ToolCallStatus,
    /// How often it came to its gate, as traces number its `tool_execution` machines. A call that was denied came there, and was not
    /// executed.
    pub passes: u32,
    /// What it waits for, if it does.
    pub waits: Option<Waits>,
    /// The sealed snapshot of its machine, as JSON.
    pub snapshot: String,
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Waits {
    /// The suspension.
    pub suspension: Suspension,
    /// What the tool would be called with, as JSON.
    pub arguments: String,
    /// The digest of the question.
    pub digest: String,
}

impl Waits {
    /// How long a decision is in time, from a commit at `at_ms` by the clock of the run on; none where it is always in time, or until a
    /// [date](Suspension::is_date).
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
    /// What it belongs to.
    pub scope: Scope,
    /// Its key.
    pub key: String,
    /// The value as JSON; none when it was removed.
    pub json: Option<String>,
}

/// An event of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceRow {
    /// Its number.
    pub seq: u64,
    /// The event as a line of JSON, without its end.
    pub json: String,
}

/// An event of a run: an [`AgentEvent`](crate::agent::event::AgentEvent) as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRow {
    /// Its number.
    pub seq: u64,
    /// The number of the last event that it stands for: its own, but for pieces of an answer, which are one row.
    pub last: u64,
    /// The event as a line of JSON, without its end.
    pub json: String,
}

impl EventRow {
    /// The row of an event.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when it has no form in JSON.
    pub fn of(event: &AgentEvent) -> Result<EventRow, StoreError> {
        Ok(EventRow { seq: event.seq, last: event.last(), json: json(event)? })
    }
}

/// Where a commit stands among the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) again: bool,
    pub(crate) at_ms: u64,
    /// How many messages are stored.
    pub(crate) messages: u64,
    /// Are the messages that the thread had before the run stored with the runs before it?
    pub(crate) on_thread: bool,
}

impl Commit {
    /// What a delta holds, as rows.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when something has no form in JSON.
    pub(crate) fn of(
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
    /// Checks that it may be made behind that message, for a store: it takes the message, or ends the run as cancelled.
    ///
    /// # Errors
    /// [`StoreError::Superseded`].
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
            AnyToolCall::Suspended(call) => Some(Waits {
                suspension: call.suspension().clone(),
                arguments: json(call.asked_arguments())?,
                digest: call.suspension().digest(run, name, call.record().tool(), call.asked_arguments()),
            }),
            _ => None,
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
