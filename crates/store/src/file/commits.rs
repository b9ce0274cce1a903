//! Commits, decisions and whole runs in the files of a run.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::keys::Scope;
use runstate_runtime::files::Disk;
use serde_json::Value;

use super::super::commit::{Commit, EventRow, TraceRow};
use super::super::decide::Posted;
use super::super::error::StoreError;
use super::super::lease::{Lease, Release};
use super::super::load::Parts;
use super::super::time::Now;
use super::layout::{MOST_BYTES, MOST_READ, Place};
use super::problem::{damaged, failed, too_large, unsynced};
use super::rows::{CallLine, MessageLine, event_lines, lines, number, numbers, raw, trace_lines};
use super::state::State;

/// The limit of fresh lines in a state, in bytes. The lines of one more commit may come on top. The state is written
/// with each commit; this limit fits six blocks of a disk.
const MOST_FRESH: u64 = 24 * 1024;

/// A run and its state. A writer holds the lock of the run.
#[derive(Debug)]
pub(super) struct OpenRun<'d> {
    pub(super) disk: &'d dyn Disk,
    pub(super) place: Place,
    pub(super) state: State,
    pub(super) now: Now,
    /// Repairs: the bytes that were cut off the logs because they belong to no commit.
    pub(super) cut: Vec<String>,
}

impl OpenRun<'_> {
    pub(super) fn save(&self) -> Result<(), StoreError> {
        self.state.write(self.disk, &self.place, MOST_READ)
    }

    /// Returns the decisions that the run took. The last line of an id counts.
    fn taken(&self) -> Result<Vec<Decision>, StoreError> {
        let rows = self.state.logs.decisions.rows(self.disk, &self.place.log("decisions"))?;
        let mut taken: Vec<Decision> = Vec::with_capacity(rows.len());
        let mut places = BTreeMap::new();
        for row in rows {
            let row: Decision = row;
            let place = *places.entry(row.decision_id.clone()).or_insert(taken.len());
            if place < taken.len() { taken[place] = row } else { taken.push(row) }
        }
        Ok(taken)
    }

    /// Applies a commit. The last commit of a lease gives the run back.
    pub(super) fn commit(&mut self, lease: &Lease, commit: &Commit, is_last: bool) -> Result<(), StoreError> {
        let is_again = self.check(lease, commit)?;
        let decisions = self.decisions(commit)?;
        if !is_again {
            // A repeated commit was made before the message arrived.
            self.state.message = None;
        }
        self.put_rows(commit)?;
        let settled = self.put_calls(commit)?;
        for decision in &decisions {
            self.state.posted.retain(|posted| posted.decision_id != decision.decision_id);
            self.state.note_decided(&decision.suspension_id);
        }
        let messages = commit.messages.iter().map(MessageLine::of).collect::<Result<Vec<_>, _>>()?;
        let most = if self.state.status == RunStatus::Done { MOST_READ } else { MOST_BYTES };
        let lines = [
            lines(messages)?,
            lines(settled)?,
            lines(decisions)?,
            trace_lines(commit)?,
            event_lines(commit)?,
        ];
        for ((name, log), lines) in self.state.logs.all().into_iter().zip(lines) {
            log.add(self.disk, &self.place.log(name), &lines, is_again, most)?;
        }
        self.state.committed_under = lease.fence;
        // Each written log costs a sync, so lines are moved there in groups. When the run comes to rest, all are
        // moved.
        let is_at_rest = self.state.status != RunStatus::Running;
        if is_at_rest || self.state.logs.fresh() > MOST_FRESH {
            self.settle()?;
        }
        if is_last {
            self.state.give_back(Release::clean().with_lost_claims_reset(), self.now);
        }
        self.state.write(self.disk, &self.place, most)
    }

    /// Moves fresh lines from the state into the logs.
    pub(super) fn settle(&mut self) -> Result<(), StoreError> {
        for (name, log) in self.state.logs.all() {
            log.settle(self.disk, &self.place.log(name), &mut self.cut)?;
        }
        Ok(())
    }

    /// Checks that the commit is allowed. Returns whether it replaces the last one.
    fn check(&self, lease: &Lease, commit: &Commit) -> Result<bool, StoreError> {
        let state = &self.state;
        state.is_fenced(lease)?;
        let is_again =
            commit.again && commit.version == state.version && state.committed_under == lease.fence;
        if commit.version != state.version + 1 && !is_again {
            let (run, got, expected) = (lease.run.clone(), commit.version, state.version + 1);
            return Err(StoreError::Version { run, got, expected });
        }
        if let Some(message) = state.message.as_ref().filter(|_| !is_again) {
            commit.holds(&lease.run, message)?;
        }
        Ok(is_again)
    }

    /// Returns the decisions of a commit, each as it was first accepted. The stored decisions are read only if the
    /// commit has any.
    fn decisions(&self, commit: &Commit) -> Result<Vec<Decision>, StoreError> {
        if commit.decisions.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = self.taken()?;
        known.extend(self.state.posted.iter().cloned());
        let mut decisions = Vec::with_capacity(commit.decisions.len());
        for decision in &commit.decisions {
            let other = known.iter().find(|known| known.suspension_id == decision.suspension_id);
            if let Some(first) = other.filter(|first| first.decision_id != decision.decision_id) {
                return Err(StoreError::Decided {
                    run: self.state.id.clone(),
                    suspension: decision.suspension_id.clone(),
                    decision: first.decision_id.clone(),
                });
            }
            let first = known.iter().find(|known| known.decision_id == decision.decision_id);
            decisions.push(first.unwrap_or(decision).clone());
        }
        Ok(decisions)
    }

    fn put_rows(&mut self, commit: &Commit) -> Result<(), StoreError> {
        let state = &mut self.state;
        (state.status, state.version) = (commit.run.status, commit.version);
        (state.steps, state.waiting) = (commit.run.steps, commit.run.waiting);
        state.reason.clone_from(&commit.run.reason);
        state.changed_at_ms = commit.at_ms;
        if state.status == RunStatus::Done {
            state.cancel = None;
        }
        (state.run, state.core) = (Some(raw(&commit.run.snapshot)?), Some(raw(&commit.run.core)?));
        for value in &commit.values {
            let values = match value.scope {
                Scope::Run => &mut state.run_values,
                Scope::Thread => &mut state.thread_values,
            };
            match &value.json {
                Some(json) => drop(values.insert(value.key.clone(), raw(json)?)),
                None => drop(values.remove(&value.key)),
            }
        }
        let last = commit.trace.last().map_or(0, |row| row.seq);
        state.traced = state.traced.max(last);
        Ok(())
    }

    /// Stores the open calls and returns the settled ones. A settled call never changes again.
    fn put_calls(&mut self, commit: &Commit) -> Result<Vec<CallLine>, StoreError> {
        let mut settled = Vec::new();
        for row in &commit.calls {
            let mut line = CallLine::of(row, commit.at_ms, self.now)?;
            let before = self.state.open_calls.remove(&row.name);
            if is_settled(row.status) {
                settled.push(line);
                continue;
            }
            let known = before.and_then(|before| before.waits);
            if let (Some(waits), Some(known)) = (&mut line.waits, known) {
                waits.decided = known.decided && known.suspension.id == waits.suspension.id;
            }
            self.state.open_calls.insert(row.name.clone(), line);
        }
        Ok(settled)
    }

    /// Makes the visible files durable. Their writer may have been killed before the sync, or got an error for it. A
    /// caller that is told "already there" relies on their durability.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.disk.sync_folder(&self.place.folder).map_err(unsynced(&self.place.folder))
    }

    /// Accepts the first decision on a suspension.
    pub(super) fn post(&mut self, decision: &Decision) -> Result<Posted, StoreError> {
        let taken = self.taken()?;
        let mut known = taken.iter().chain(&self.state.posted);
        if known.clone().any(|known| known.decision_id == decision.decision_id) {
            self.sync()?;
            return Ok(Posted::Duplicate);
        }
        if known.any(|known| known.suspension_id == decision.suspension_id) {
            return Ok(Posted::Conflict);
        }
        let waits = self
            .state
            .waiting_calls()
            .any(|(call, waits)| call.name == decision.call && waits.suspension.id == decision.suspension_id);
        if !waits {
            return Ok(Posted::NotWaiting);
        }
        self.state.posted.push(decision.clone());
        self.state.note_decided(&decision.suspension_id);
        self.save()?;
        Ok(Posted::Accepted)
    }

    /// Returns the rows of the run.
    pub(super) fn parts(&self) -> Result<Parts, StoreError> {
        let (disk, place, state) = (self.disk, &self.place, &self.state);
        let path = place.spec();
        let spec = disk.read(&path, MOST_READ).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => too_large(&path, error),
            _ => failed(&path)(error),
        })?;
        let spec: Value = runstate::json::from_slice(&spec).map_err(|error| damaged(&path, error))?;

        let settled: Vec<CallLine> = state.logs.calls.rows(disk, &place.log("calls"))?;
        let calls = settled.iter().chain(state.open_calls.values());
        let calls: BTreeMap<_, _> = calls.map(|call| (&*call.name, call)).collect();
        let calls = calls.into_values();
        let messages: Vec<MessageLine> = state.logs.messages.rows(disk, &place.log("messages"))?;
        let messages: BTreeMap<_, _> =
            messages.iter().map(|line| (line.seq, line.message.get().to_owned())).collect();
        let value = |scope| {
            move |(key, value): (&String, &super::rows::Raw)| (scope, key.clone(), value.get().to_owned())
        };
        let values = state.run_values.iter().map(value(Scope::Run));
        let values = values.chain(state.thread_values.iter().map(value(Scope::Thread)));
        let run = state.run.as_ref().zip(state.core.as_ref());
        Ok(Parts {
            info: state.info(self.now),
            spec,
            thread: state.thread.clone(),
            traced: state.traced,
            run: run.map(|(run, core)| (run.get().to_owned(), core.get().to_owned())),
            calls: calls
                .map(|call| (call.name.clone(), call.executions, call.snapshot.get().to_owned()))
                .collect(),
            decisions: self.taken()?,
            messages: messages.into_values().collect(),
            values: values.collect(),
        })
    }

    /// Returns a page of the run's trace.
    pub(super) fn trace(&self, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        let path = self.place.log("trace");
        let mut rows = BTreeMap::new();
        for (line, place) in self.state.logs.trace.lines(self.disk, &path)?.lines().zip(1..) {
            let seq = number(line).map_err(|error| damaged(&path, format_args!("line {place}: {error}")))?;
            if seq > after {
                rows.insert(seq, line.to_owned());
            }
        }
        Ok(rows.into_iter().take(limit).map(|(seq, json)| TraceRow { seq, json }).collect())
    }

    /// Returns a page of the run's events.
    pub(super) fn events(&self, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let path = self.place.log("events");
        let log = &self.state.logs.events;
        let mut rows = events_of(&log.text(self.disk, &path)?, log.lines_before_last(self.disk, &path)?);
        rows.retain(|row| row.last > after);
        rows.truncate(limit);
        Ok(rows)
    }
}

/// Returns the events of the lines of a log. The first `older` lines precede the last commit.
///
/// A repeated commit begins with a number that was there before. Its events replace all events from that number on.
/// The next commit continues without a gap, and the last commit begins after all older lines. A line with any other
/// lower number was written by another program and removes no event.
fn events_of(text: &str, older: usize) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::new();
    // The next number, and the first number of the last commit.
    let (mut next, mut begun) = (1, 1);
    // The rows that the last line with a lower number replaced, and the number of rows before them.
    let mut replaced: Option<(usize, Vec<EventRow>)> = None;
    for (place, line) in text.lines().enumerate() {
        if place == older {
            begun = next;
        }
        // An unreadable line stands for the event at its position, and hides no other.
        let (seq, last) = numbers(line).unwrap_or((next, next));
        let mut row = EventRow { seq, last, json: line.to_owned() };
        if seq > next
            && let Some((at, before)) = replaced.take()
        {
            put_back(&mut rows, at, before);
        }
        let at = rows.partition_point(|row| row.last < seq);
        if at < rows.len() {
            if place >= older && seq < begun {
                (row.seq, row.last) = (next, next);
            } else {
                let before = rows.split_off(at);
                // Of two replaced tries the last one counts.
                replaced = Some((at, before));
            }
        }
        next = row.last.saturating_add(1);
        // The repeated commit covers all replaced rows: no gap is possible.
        replaced = replaced.filter(|(_, before)| before.last().is_some_and(|before| before.last >= row.last));
        rows.push(row);
    }
    rows
}

/// Restores events that were replaced by a line of no commit. That line stands for the event after them, and the
/// lines after it for the next ones.
fn put_back(rows: &mut Vec<EventRow>, at: usize, before: Vec<EventRow>) {
    let forged = rows.split_off(at);
    rows.extend(before);
    for mut row in forged {
        let next = rows.last().map_or(1, |row| row.last.saturating_add(1));
        (row.seq, row.last) = (next, next);
        rows.push(row);
    }
}

fn is_settled(status: ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled)
}
