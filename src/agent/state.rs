//! What a run is, between and during activations.

use std::collections::BTreeMap;
use std::ops::Range;

use super::decisions::Pending;
use super::history::Message;
use super::{Unwatched, Watch};
use crate::decision::Decision;
use crate::derive::derive_run_status;
use crate::kernel::Slot;
use crate::run::{AnyRun, RunRecord, RunStatus};
use crate::tool_call::{AnyToolCall, CallKey, CallRecord, ToolCallStatus};
use crate::turn::CallRequest;

/// A run with its calls, its messages and the decisions that were made: all that an activation reads and changes.
#[derive(Debug)]
pub struct RunState {
    pub(super) run: Slot<AnyRun>,
    pub(super) calls: Vec<Call>,
    pub(super) messages: Vec<Message>,
    /// Decisions that were accepted, by suspension.
    pub(super) decisions: BTreeMap<String, Decision>,
    /// Steps taken, over all activations.
    pub(super) steps: u32,
    /// Flows begun, those that a crash cut off included: their names in traces are never used twice.
    pub(super) flows: u32,
    /// Was it read from storage in the middle of an activation?
    pub(super) interrupted: bool,
}

/// A call and what it is called.
#[derive(Debug)]
pub(super) struct Call {
    /// As it is named in traces: `call_1`, and `call_1#2` when the model uses the id again.
    pub(super) name: String,
    pub(super) machine: Slot<AnyToolCall>,
    /// Executions begun, so that each has a name of its own in traces.
    pub(super) executions: u32,
}

impl RunState {
    /// A new run, which nobody watches.
    pub fn new(id: impl Into<String>) -> Self {
        Self::watched(id, &Unwatched)
    }

    /// A new run, whose transitions are told from the first on.
    pub fn watched(id: impl Into<String>, watch: &dyn Watch) -> Self {
        let record = RunRecord::new(id);
        let observer = watch.observer("run", record.id());
        RunState {
            run: Slot::new(AnyRun::new(record.observed(observer))),
            calls: Vec::new(),
            messages: Vec::new(),
            decisions: BTreeMap::new(),
            steps: 0,
            flows: 0,
            interrupted: false,
        }
    }

    /// Tells `watch` of all transitions from now on: for a run that was read from storage.
    pub fn watch(&mut self, watch: &dyn Watch) {
        let observer = watch.observer("run", self.run.get().record().id());
        self.run.get_mut().observe(observer);
        for call in &mut self.calls {
            call.machine.get_mut().observe(watch.observer("tool_call", &call.name));
        }
    }

    /// The run.
    pub fn run(&self) -> &AnyRun {
        self.run.get()
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        self.run.get().record().id()
    }

    /// The calls in the order of their making, each with its name in traces.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &AnyToolCall)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.machine.get()))
    }

    /// The messages, without the results of calls; [`history`](RunState::history) has both.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Steps taken, over all activations.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// What waits for a decision.
    pub fn pending(&self) -> Vec<Pending<'_>> {
        let pending = self.calls.iter().filter_map(|call| match call.machine.get() {
            AnyToolCall::Suspended(machine) => {
                Some(Pending { call: &call.name, record: machine.record(), suspension: machine.suspension() })
            }
            _ => None,
        });
        pending.collect()
    }

    /// What the calls say of the run (document 003, "RunStatus Derived from ToolCall States").
    pub fn projection(&self) -> RunStatus {
        derive_run_status(self.calls.iter().map(|call| call.machine.get().status()))
    }

    pub(super) fn status_of(&self, call: usize) -> ToolCallStatus {
        self.calls[call].machine.get().status()
    }

    pub(super) fn calls_of_step(&self, step: u32) -> impl Iterator<Item = (&str, &AnyToolCall)> {
        let range = self.range_of_step(step);
        self.calls[range].iter().map(|call| (call.name.as_str(), call.machine.get()))
    }

    /// The places of the calls of a step; they stand together, since calls are made step by step.
    pub(super) fn range_of_step(&self, step: u32) -> Range<usize> {
        let key = |call: &Call| call.machine.get().record().key().step;
        let start = self.calls.partition_point(|call| key(call) < step);
        let end = self.calls.partition_point(|call| key(call) <= step);
        start..end
    }

    /// The names of the calls that wait.
    pub(super) fn waiting(&self) -> Vec<String> {
        self.pending().iter().map(|pending| pending.call.to_owned()).collect()
    }

    /// Makes the calls of an answer.
    pub(super) fn add_calls(&mut self, step: u32, requests: &[CallRequest], watch: &dyn Watch) {
        for (ordinal, request) in (0..).zip(requests) {
            let name = self.free_name(&request.id);
            let record = CallRecord::new(&request.id, &request.tool, request.arguments.clone())
                .at(CallKey { step, ordinal })
                .observed(watch.observer("tool_call", &name));
            self.calls.push(Call { name, machine: Slot::new(AnyToolCall::new(record)), executions: 0 });
        }
    }

    /// The id, or its next life: `call_1#2`. A model may also give a call an id that looks like another's next life.
    fn free_name(&self, id: &str) -> String {
        let mut lives = self.calls.iter().filter(|call| call.machine.get().record().id() == id).count() + 1;
        let mut name = if lives == 1 { id.to_owned() } else { format!("{id}#{lives}") };
        while self.position(&name).is_some() {
            lives += 1;
            name = format!("{id}#{lives}");
        }
        name
    }

    /// The id of the next suspension of a call: the one that its tool wants, unless that was given before, since a
    /// decision on the one suspension must never count for the other.
    pub(super) fn suspension_id(&self, call: usize, wanted: Option<String>) -> String {
        let call = &self.calls[call];
        let next = call.machine.get().record().suspensions() + 1;
        let own = || format!("{}/{}/{next}", self.id(), call.name);
        let mut id = wanted.filter(|id| !id.is_empty() && !self.knows_suspension(id)).unwrap_or_else(own);
        while self.knows_suspension(&id) {
            id.push('\'');
        }
        id
    }

    fn knows_suspension(&self, id: &str) -> bool {
        self.decisions.contains_key(id) || self.pending().iter().any(|pending| pending.suspension.id == id)
    }

    /// Gives up what still waits or executes: a run that is over has neither (document 000, "run cancelled"). Calls that
    /// never started stay `New`, since no edge leads them to `Cancelled`.
    pub(super) fn cancel_open_calls(&mut self, reason: &str) {
        for call in &mut self.calls {
            call.machine.step(|machine| {
                let cancel = crate::tool_call::Cancel::new(reason);
                let machine = match machine {
                    AnyToolCall::Running(call) => call.cancel(cancel).into(),
                    AnyToolCall::Suspended(call) => call.cancel(cancel).into(),
                    AnyToolCall::Resuming(call) => call.cancel(cancel).into(),
                    other => other,
                };
                (machine, ())
            });
        }
    }

    /// How a call is found again for a name that a person gives: `call_1`, or `call_1#2`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.name == name)
    }

    /// Moves a call on with typed code.
    pub(super) fn step_call(&mut self, call: usize, step: impl FnOnce(AnyToolCall) -> AnyToolCall) {
        self.calls[call].machine.step(|machine| (step(machine), ()));
    }
}
