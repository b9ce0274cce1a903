//! The calls of a run, indexed by name, by step and by status.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use runstate::derive::StatusTally;
use runstate::kernel::Slot;
use runstate::run::RunStatus;
use runstate::tool_call::{AnyToolCall, CallKey, CallRecord, Suspended, ToolCall, ToolCallStatus};
use runstate::turn::CallRequest;

use super::super::ObserverFactory;
use super::super::decide::{CallNow, Question};

/// A call and its name.
#[derive(Debug)]
pub(crate) struct Call {
    /// The name in traces: `call_1`, and `call_1#2` when the model uses the id again.
    pub(crate) name: Arc<str>,
    pub(crate) machine: Slot<AnyToolCall>,
    /// The number of the call among the calls of its tool, from 1.
    pub(crate) number: u32,
    /// The number of executions begun. Each execution has a separate name in traces.
    pub(crate) executions: u32,
    /// The position of the call's result in the history.
    pub(crate) place: usize,
    /// Whether the call changed since the last commit.
    changed: bool,
}

impl Call {
    pub(crate) fn new(name: Arc<str>, call: AnyToolCall, executions: u32, place: usize) -> Self {
        Call { name, machine: Slot::new(call), number: 0, executions, place, changed: false }
    }

    pub(crate) fn status(&self) -> ToolCallStatus {
        self.machine.get().status()
    }

    pub(crate) fn record(&self) -> &CallRecord {
        self.machine.get().record()
    }

    /// The machine of a call that waits for a decision.
    pub(crate) fn suspended(&self) -> Option<&ToolCall<Suspended>> {
        match self.machine.get() {
            AnyToolCall::Suspended(machine) => Some(machine),
            AnyToolCall::New(_)
            | AnyToolCall::Running(_)
            | AnyToolCall::Resuming(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => None,
        }
    }

    /// The expiry time of the suspension.
    fn expires_at_ms(&self) -> Option<u64> {
        self.suspended()?.suspension().expires_at_ms
    }

    /// The open question of the call.
    pub(crate) fn asked(&self, run: &str) -> Option<Question> {
        let machine = self.suspended()?;
        let suspension = machine.suspension().clone();
        let digest = suspension.digest(run, &self.name, machine.record().tool(), machine.asked_arguments());
        Some(Question { call: Arc::clone(&self.name), suspension, digest, shown: None })
    }

    /// Returns whether this is the digest of the open question.
    pub(crate) fn asks(&self, run: &str, digest: &str) -> bool {
        self.asked(run).is_some_and(|asked| asked.digest == *digest)
    }

    /// Returns whether this is the digest of the arguments alone. Version 0.1.0 posted decisions on a suspension with
    /// that digest. It does not identify a question.
    pub(crate) fn has_arguments(&self, digest: &str) -> bool {
        self.suspended().is_some_and(|call| runstate::decision::digest(call.asked_arguments()) == *digest)
    }

    /// The current state of the call, for decisions.
    pub(crate) fn now(&self, run: &str, place: usize) -> CallNow<'_> {
        let record = self.record();
        CallNow {
            place,
            name: &self.name,
            id: record.id(),
            asked: record.suspensions(),
            waits: self.asked(run),
        }
    }
}

/// All calls of a run, in the order of their creation. Indexes make the cost of a step independent of the number of
/// calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    all: Vec<Call>,
    names: HashMap<Arc<str>, usize>,
    /// The number of calls of each tool.
    of_tool: BTreeMap<String, u32>,
    /// The number of calls with one id, if there are several.
    lives: HashMap<Arc<str>, u32>,
    /// The calls that are `Running`, `Suspended` or `Resuming`, in order.
    open: Vec<usize>,
    /// The calls that are `New`, in order. They belong to the current round, or are left from an earlier one.
    fresh: Vec<usize>,
    /// The calls whose suspensions expire, by expiry time.
    lapsing: BTreeSet<(u64, usize)>,
    /// The calls that changed since the last commit.
    changed: Vec<usize>,
    tally: StatusTally,
}

impl std::ops::Index<usize> for Calls {
    type Output = Call;

    fn index(&self, call: usize) -> &Call {
        &self.all[call]
    }
}

impl Calls {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Call> {
        self.all.iter()
    }

    /// Finds a call by its name in traces: `call_1`, or `call_1#2`.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The calls that execute or wait, in order.
    pub(crate) fn open(&self) -> &[usize] {
        &self.open
    }

    /// The calls that never started, in order.
    pub(crate) fn fresh(&self) -> &[usize] {
        &self.fresh
    }

    /// The calls that wait, in order.
    pub(crate) fn suspended(&self) -> impl Iterator<Item = usize> {
        self.open.iter().copied().filter(|call| self.all[*call].status() == ToolCallStatus::Suspended)
    }

    pub(crate) fn suspended_count(&self) -> usize {
        self.tally.count(ToolCallStatus::Suspended)
    }

    /// The expiry time of the next suspension to expire.
    pub(crate) fn next_expiry_ms(&self) -> Option<u64> {
        self.lapsing.first().map(|(at_ms, _)| *at_ms)
    }

    /// The run status that follows from the states of the calls.
    pub(crate) fn projection(&self) -> RunStatus {
        self.tally.run_status()
    }

    /// The positions of the calls of a step. They are consecutive, because calls are created step by step.
    pub(crate) fn of_step(&self, step: u32) -> Range<usize> {
        let key = |call: &Call| call.record().key().step;
        // In most cases it is the last step, whose calls the caller iterates anyway.
        if self.all.last().is_some_and(|last| key(last) == step) {
            let others = self.all.iter().rposition(|call| key(call) != step);
            return others.map_or(0, |last| last + 1)..self.all.len();
        }
        self.all.partition_point(|call| key(call) < step)..self.all.partition_point(|call| key(call) <= step)
    }

    /// Creates a call of an answer.
    pub(crate) fn add(
        &mut self,
        key: CallKey,
        request: &CallRequest,
        place: usize,
        watch: &dyn ObserverFactory,
    ) {
        let name = self.take_name(&request.id);
        let record = CallRecord::new(&request.id, &request.tool, request.arguments.clone())
            .at(key)
            .observed(watch.observer("tool_call", &name));
        let call = Call::new(name, AnyToolCall::new(record), 0, place);
        let at = self.push(call);
        self.mark(at);
    }

    /// Adds a restored call. Calls must be added in order.
    pub(crate) fn insert(&mut self, call: Call) -> usize {
        self.names.insert(Arc::clone(&call.name), self.all.len());
        self.push(call)
    }

    /// Adds a call under a name that is reserved already.
    fn push(&mut self, mut call: Call) -> usize {
        let at = self.all.len();
        let tool = call.record().tool();
        call.number = match self.of_tool.get_mut(tool) {
            Some(calls) => {
                *calls += 1;
                *calls
            }
            None => {
                self.of_tool.insert(tool.to_owned(), 1);
                1
            }
        };
        let status = call.status();
        self.tally.add(status);
        self.list(at, status);
        self.lapsing.extend(call.expires_at_ms().map(|at_ms| (at_ms, at)));
        self.all.push(call);
        at
    }

    fn list(&mut self, call: usize, status: ToolCallStatus) {
        match status {
            ToolCallStatus::New => enlist(&mut self.fresh, call),
            ToolCallStatus::Running | ToolCallStatus::Suspended | ToolCallStatus::Resuming => {
                enlist(&mut self.open, call);
            }
            ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled => {}
        }
    }

    fn unlist(&mut self, call: usize, status: ToolCallStatus) {
        match status {
            ToolCallStatus::New => delist(&mut self.fresh, call),
            ToolCallStatus::Running | ToolCallStatus::Suspended | ToolCallStatus::Resuming => {
                delist(&mut self.open, call);
            }
            ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled => {}
        }
    }

    /// Reserves a name for the next call: its id, or `call_1#2` if the id is in use. A model may also give a call the
    /// id `call_1#2`.
    fn take_name(&mut self, id: &str) -> Arc<str> {
        let id: Arc<str> = id.into();
        let mut name = Arc::clone(&id);
        loop {
            if let Entry::Vacant(free) = self.names.entry(Arc::clone(&name)) {
                free.insert(self.all.len());
                return name;
            }
            let lives = self.lives.entry(Arc::clone(&id)).or_insert(1);
            *lives += 1;
            name = format!("{id}#{lives}").into();
        }
    }

    /// The name that the next call of that id will have. `taken` are the names promised to other calls.
    pub(crate) fn next_name<'n>(
        &self,
        id: &str,
        taken: impl Iterator<Item = &'n Arc<str>> + Clone,
    ) -> Arc<str> {
        let is_free =
            |name: &str| !self.names.contains_key(name) && taken.clone().all(|other| **other != *name);
        if is_free(id) {
            return id.into();
        }
        let mut lives = self.lives.get(id).copied().unwrap_or(1);
        loop {
            lives += 1;
            let name = format!("{id}#{lives}");
            if is_free(&name) {
                return name.into();
            }
        }
    }

    /// Applies a transition to a call. Returns the previous status.
    pub(crate) fn step(
        &mut self,
        call: usize,
        step: impl FnOnce(AnyToolCall) -> AnyToolCall,
    ) -> ToolCallStatus {
        if let Some(at_ms) = self.all[call].expires_at_ms() {
            self.lapsing.remove(&(at_ms, call));
        }
        let machine = &mut self.all[call].machine;
        let before = machine.get().status();
        machine.step(|machine| (step(machine), ()));
        let after = machine.get().status();
        self.lapsing.extend(self.all[call].expires_at_ms().map(|at_ms| (at_ms, call)));
        if before != after {
            if let Err(miscount) = self.tally.moved(before, after) {
                unreachable!("each call is counted where it stands: {miscount}");
            }
            self.unlist(call, before);
            self.list(call, after);
        }
        self.mark(call);
        before
    }

    /// Begins an execution. Returns its number within the call, from 1.
    pub(crate) fn begin_execution(&mut self, call: usize) -> u32 {
        self.all[call].executions += 1;
        self.mark(call);
        self.all[call].executions
    }

    /// Sets the observers of all later transitions.
    pub(crate) fn watch(&mut self, watch: &dyn ObserverFactory) {
        for call in &mut self.all {
            call.machine.get_mut().observe(watch.observer("tool_call", &call.name));
        }
    }

    fn mark(&mut self, call: usize) {
        if !std::mem::replace(&mut self.all[call].changed, true) {
            self.changed.push(call);
        }
    }

    /// The number of calls.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The calls that changed since the last commit, in the order of their first change.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Call> {
        self.changed.iter().map(|call| &self.all[*call])
    }

    pub(crate) fn committed(&mut self) {
        for call in self.changed.drain(..) {
            self.all[call].changed = false;
        }
    }
}

/// Inserts a call in order. The search begins at the end, because most changes are near the end.
fn enlist(calls: &mut Vec<usize>, call: usize) {
    let at = calls.iter().rposition(|other| *other < call).map_or(0, |at| at + 1);
    calls.insert(at, call);
}

fn delist(calls: &mut Vec<usize>, call: usize) {
    if let Ok(at) = calls.binary_search(&call) {
        calls.remove(at);
    }
}
