//! Changes since the last commit.

use std::fmt;

use runstate::decision::Decision;
use runstate::kernel::{Graph, Stateful};
use runstate::run::AnyRun;
use runstate::snapshot::{Bundle, BundleLog, Machines, SnapshotError};
use runstate::tool_call::AnyToolCall;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::super::event::AgentEvent;
use super::super::history::Message;
use super::super::keys::Scope;
use super::super::state::{CALL, Counts, Head, RUN, RunState};

/// The lifecycles of the machines of a run.
const GRAPHS: [&Graph; 2] = [AnyRun::GRAPH, AnyToolCall::GRAPH];

/// The changes since the last commit. The cost of a delta depends on the changes, not on the length of the run.
///
/// [`write_to`](Delta::write_to) and [`bundle`](Delta::bundle) write the form that
/// [`StoredRun`](super::super::StoredRun) reads.
pub struct Delta<'a> {
    state: &'a RunState,
}

impl<'a> Delta<'a> {
    pub(crate) fn of(state: &'a RunState) -> Self {
        Delta { state }
    }

    /// The whole state, for a store that writes all of it at each commit.
    pub fn state(&self) -> &'a RunState {
        self.state
    }

    /// The run's id.
    pub fn run_id(&self) -> &'a str {
        self.state.id()
    }

    /// The thread's id.
    pub fn thread_id(&self) -> &'a str {
        self.state.thread().id()
    }

    /// The number of this commit, from 1. The stored version before this commit is one less.
    pub fn version(&self) -> u64 {
        self.state.commits + 1
    }

    /// The run.
    pub fn run(&self) -> &'a AnyRun {
        self.state.run()
    }

    /// The messages added to the thread, in order of arrival.
    pub fn messages(&self) -> &'a [Message] {
        &self.state.unsaved
    }

    /// The messages that the thread had before the run. They are part of the first commit only. A store that keeps
    /// threads separately already has them.
    pub fn earlier_messages(&self) -> &'a [Message] {
        let earlier = if self.state.commits == 0 { self.state.base } else { 0 };
        &self.state.thread().history[..earlier]
    }

    /// The calls that were created or changed state, each with its name in traces.
    pub fn calls(&self) -> impl Iterator<Item = (&'a str, &'a AnyToolCall)> {
        self.state.calls.changed().map(|call| (&*call.name, call.machine.get()))
    }

    /// The events of the run since the last commit, in number order and without a gap. The events of the commit
    /// itself are included, such as [`Checkpoint`](super::super::event::EventKind::Checkpoint). Empty if the
    /// committer [keeps none](super::StateCommitter::keeps_events).
    pub fn events(&self) -> impl Iterator<Item = &'a AgentEvent> {
        self.state.pending_events.all()
    }

    /// Appends the delta to a log in memory.
    ///
    /// # Errors
    /// [`SnapshotError`] when a part has no JSON form. The log is unchanged then.
    pub fn write_to(&self, log: &mut BundleLog) -> Result<(), SnapshotError> {
        log.append(&GRAPHS, self.is_first(), &Content(self), |machines| self.add_to(machines))
    }

    /// Returns the delta as one line of text with a checksum.
    /// [`StoredRun::from_bundles`](super::super::StoredRun::from_bundles) reads the lines of one run in commit order.
    ///
    /// # Errors
    /// [`SnapshotError`] when a part has no JSON form.
    pub fn bundle(&self) -> Result<Vec<u8>, SnapshotError> {
        Bundle::write(&GRAPHS, self.is_first(), &Content(self), |machines| self.add_to(machines))
    }

    /// Returns whether this is the first delta of this process. The first delta contains the parts that never change.
    fn is_first(&self) -> bool {
        self.state.saved.is_none()
    }

    fn add_to(&self, machines: &mut Machines<'_>) -> Result<(), SnapshotError> {
        if self.state.run_changed {
            machines.add(RUN, self.state.run.get())?;
        }
        for call in self.state.calls.changed() {
            machines.add(format_args!("{CALL}{}", call.name), call.machine.get())?;
        }
        Ok(())
    }

    /// The calls that were created or changed state: name in traces, number of executions, machine.
    #[doc(hidden)]
    pub fn executed_calls(&self) -> impl Iterator<Item = (&'a str, u32, &'a AnyToolCall)> {
        self.state.calls.changed().map(|call| (&*call.name, call.executions, call.machine.get()))
    }

    /// The persistent values of the thread. They are part of the first commit of a run only.
    #[doc(hidden)]
    pub fn thread_values(&self) -> Vec<(String, serde_json::Value)> {
        if self.state.commits > 0 {
            return Vec::new();
        }
        let values = &self.state.thread.values;
        let kept = values.iter().filter(|(name, _)| values.is_persistent(name) == Some(true));
        kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    /// The decisions accepted since the last commit.
    pub fn decisions(&self) -> impl Iterator<Item = &'a Decision> {
        self.state.decided.unsaved()
    }

    /// The changed persistent keys, each with its scope and its value; `None` for a removed value.
    pub fn values(&self) -> impl Iterator<Item = (Scope, &'a str, Option<&'a serde_json::Value>)> {
        self.state.changed_values.to_store()
    }
}

impl fmt::Debug for Delta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<_> = self.calls().map(|(name, _)| name).collect();
        f.debug_struct("Delta")
            .field("run", &self.run_id())
            .field("version", &self.version())
            .field("messages", &self.messages().len())
            .field("calls", &calls)
            .finish_non_exhaustive()
    }
}

/// The content of a delta without its machines. Empty fields are omitted. Constant fields are written once per
/// process that drives the run, because most deltas are one answer or one result.
struct Content<'a>(&'a Delta<'a>);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Content(delta) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &delta.version())?;
        if delta.is_first() {
            map.serialize_entry("head", &Head::of(delta.state))?;
        }
        Counts::write(delta.state, &mut map)?;
        if delta.calls().next().is_some() {
            map.serialize_entry("executions", &Executions(delta))?;
        }
        if delta.decisions().next().is_some() {
            map.serialize_entry("__resume_decisions", &Decisions(delta))?;
        }
        if delta.messages().len() + delta.earlier_messages().len() > 0 {
            map.serialize_entry("messages", &Messages(delta))?;
        }
        if delta.values().next().is_some() {
            map.serialize_entry("values", &Values(delta))?;
        }
        map.end()
    }
}

struct Executions<'a>(&'a Delta<'a>);

impl Serialize for Executions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.state.calls.changed().map(|call| (&*call.name, call.executions)))
    }
}

struct Decisions<'a>(&'a Delta<'a>);

impl Serialize for Decisions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.decisions().map(|decision| (&decision.suspension_id, decision)))
    }
}

struct Messages<'a>(&'a Delta<'a>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.earlier_messages().iter().chain(self.0.messages()))
    }
}

struct Values<'a>(&'a Delta<'a>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.values())
    }
}
