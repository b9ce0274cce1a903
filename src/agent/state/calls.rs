//! The calls of a run, found by name, by step and by how they stand.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::super::Watch;
use super::super::decide::{Asked, CallNow};
use crate::derive::StatusTally;
use crate::kernel::Slot;
use crate::run::RunStatus;
use crate::tool_call::{AnyToolCall, CallKey, CallRecord, ToolCallStatus};
use crate::turn::CallRequest;

/// A call and what it is called.
#[derive(Debug)]
pub(in crate::agent) struct Call {
    /// As it is named in traces: `call_1`, and `call_1#2` when the model uses the id again.
    pub(in crate::agent) name: Arc<str>,
    pub(in crate::agent) machine: Slot<AnyToolCall>,
    /// Which call of its tool it is, from 1.
    pub(in crate::agent) number: u32,
    /// Executions begun, so that each has a name of its own in traces.
    pub(in crate::agent) executions: u32,
    /// Where its result stands in the history.
    pub(in crate::agent) place: usize,
    /// Did it change since the last commit?
    changed: bool,
}

impl Call {
    pub(in crate::agent) fn new(name: Arc<str>, call: AnyToolCall, executions: u32, place: usize) -> Self {
        Call { name, machine: Slot::new(call), number: 0, executions, place, changed: false }
    }

    pub(in crate::agent) fn status(&self) -> ToolCallStatus {
        self.machine.get().status()
    }

    pub(in crate::agent) fn record(&self) -> &CallRecord {
        self.machine.get().record()
    }

    /// When what it waits for lapses.
    fn expires_at_ms(&self) -> Option<u64> {
        match self.machine.get() {
            AnyToolCall::Suspended(machine) => machine.suspension().expires_at_ms,
            _ => None,
        }
    }

    /// What it waits for, if it does.
    pub(in crate::agent) fn asked(&self, run: &str) -> Option<Asked> {
        let AnyToolCall::Suspended(machine) = self.machine.get() else { return None };
        let suspension = machine.suspension().clone();
        let digest = suspension.digest(run, &self.name, machine.record().tool(), machine.asked_arguments());
        Some(Asked { call: Arc::clone(&self.name), suspension, digest, shown: None })
    }

    /// Checks whether this is the digest of its question.
    pub(in crate::agent) fn asks(&self, run: &str, digest: &str) -> bool {
        self.asked(run).is_some_and(|asked| asked.digest == *digest)
    }

    /// Is it the digest of the arguments alone? Version 0.1.0 posted decisions on a suspension with it. It names no question.
    pub(in crate::agent) fn has_arguments(&self, digest: &str) -> bool {
        let AnyToolCall::Suspended(machine) = self.machine.get() else { return false };
        crate::decision::digest(machine.asked_arguments()) == *digest
    }

    /// How it is now, for decisions on it.
    pub(in crate::agent) fn now(&self, run: &str, place: usize) -> CallNow<'_> {
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

/// All calls of a run, in the order of their making. What is asked for often is kept beside them, so that a step costs
/// the same however many there are.
#[derive(Debug, Default)]
pub(in crate::agent) struct Calls {
    all: Vec<Call>,
    names: HashMap<Arc<str>, usize>,
    /// How many calls of each tool there are.
    of_tool: BTreeMap<String, u32>,
    /// How many lives an id had, if more than one.
    lives: HashMap<Arc<str>, u32>,
    /// The calls that are `Running`, `Suspended` or `Resuming`, in order.
    open: Vec<usize>,
    /// The calls that are `New`, in order: of the current round, or left of an earlier one.
    fresh: Vec<usize>,
    /// The calls whose suspensions lapse, by when.
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
    pub(in crate::agent) fn iter(&self) -> std::slice::Iter<'_, Call> {
        self.all.iter()
    }

    /// How a call is found again for a name that a person gives: `call_1`, or `call_1#2`.
    pub(in crate::agent) fn position(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The calls that execute or wait, in order.
    pub(in crate::agent) fn open(&self) -> &[usize] {
        &self.open
    }

    /// The calls that never started, in order.
    pub(in crate::agent) fn fresh(&self) -> &[usize] {
        &self.fresh
    }

    /// The calls that wait, in order.
    pub(in crate::agent) fn suspended(&self) -> impl Iterator<Item = usize> {
        self.open.iter().copied().filter(|call| self.all[*call].status() == ToolCallStatus::Suspended)
    }

    pub(in crate::agent) fn suspended_count(&self) -> usize {
        self.tally.count(ToolCallStatus::Suspended)
    }

    /// When the next suspension lapses.
    pub(in crate::agent) fn next_expiry_ms(&self) -> Option<u64> {
        self.lapsing.first().map(|(at_ms, _)| *at_ms)
    }

    /// What the calls say of the run (document 003, "RunStatus Derived from ToolCall States").
    pub(in crate::agent) fn projection(&self) -> RunStatus {
        self.tally.run_status()
    }

    /// The places of the calls of a step; they stand together, since calls are made step by step.
    pub(in crate::agent) fn of_step(&self, step: u32) -> Range<usize> {
        let key = |call: &Call| call.record().key().step;
        // Most often it is the last step, whose calls its reader goes through anyway.
        if self.all.last().is_some_and(|last| key(last) == step) {
            let others = self.all.iter().rposition(|call| key(call) != step);
            return others.map_or(0, |last| last + 1)..self.all.len();
        }
        self.all.partition_point(|call| key(call) < step)..self.all.partition_point(|call| key(call) <= step)
    }

    /// Makes a call of an answer.
    pub(in crate::agent) fn add(
        &mut self,
        key: CallKey,
        request: &CallRequest,
        place: usize,
        watch: &dyn Watch,
    ) {
        let name = self.take_name(&request.id);
        let record = CallRecord::new(&request.id, &request.tool, request.arguments.clone())
            .at(key)
            .observed(watch.observer("tool_call", &name));
        let call = Call::new(name, AnyToolCall::new(record), 0, place);
        let at = self.push(call);
        self.mark(at);
    }

    /// Takes a call in that was made earlier; they come in order.
    pub(in crate::agent) fn insert(&mut self, call: Call) -> usize {
        self.names.insert(Arc::clone(&call.name), self.all.len());
        self.push(call)
    }

    /// Adds a call under a name that is listed.
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

    /// Lists the next call under its id, or under its next life: `call_1#2`. A model may also give a call an id that looks like
    /// another's next life.
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

    /// The name that the next call of that id will have, where the `taken` ones are promised.
    pub(in crate::agent) fn next_name<'n>(
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

    /// Moves a call on with typed code; says how it stood before.
    pub(in crate::agent) fn step(
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

    /// Begins an execution; says which of the call's it is, from 1.
    pub(in crate::agent) fn begin_execution(&mut self, call: usize) -> u32 {
        self.all[call].executions += 1;
        self.mark(call);
        self.all[call].executions
    }

    /// Tells `watch` of all transitions from now on.
    pub(in crate::agent) fn watch(&mut self, watch: &dyn Watch) {
        for call in &mut self.all {
            call.machine.get_mut().observe(watch.observer("tool_call", &call.name));
        }
    }

    fn mark(&mut self, call: usize) {
        if !std::mem::replace(&mut self.all[call].changed, true) {
            self.changed.push(call);
        }
    }

    /// How many there are.
    pub(in crate::agent) fn len(&self) -> usize {
        self.all.len()
    }

    /// The calls that changed since the last commit, in the order of their first change.
    pub(in crate::agent) fn changed(&self) -> impl Iterator<Item = &Call> {
        self.changed.iter().map(|call| &self.all[*call])
    }

    pub(in crate::agent) fn committed(&mut self) {
        for call in self.changed.drain(..) {
            self.all[call].changed = false;
        }
    }
}

/// Calls come and go near the end, so this looks from there.
fn enlist(calls: &mut Vec<usize>, call: usize) {
    let at = calls.iter().rposition(|other| *other < call).map_or(0, |at| at + 1);
    calls.insert(at, call);
}

fn delist(calls: &mut Vec<usize>, call: usize) {
    if let Ok(at) = calls.binary_search(&call) {
        calls.remove(at);
    }
}
