//! Executions beside each other, and the delay of a decision.

use std::collections::{BTreeMap, BTreeSet};

use runstate::tool_call::ToolCallStatus;
use runstate_agent::ExecutionMode;
use runstate_agent::event::EventKind;

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Case, Does};
use crate::play::{Seen, What};

pub(super) struct Order<'s> {
    case: &'s Case,
    /// Pending decisions that must be taken immediately: the time of sending, and the accumulated delay at that time.
    sent: BTreeMap<usize, (u64, u64)>,
    /// The accumulated time of commits, and of replays in a sequential mode.
    held_up_ms: u64,
    held_up_since: Option<u64>,
    replayed: BTreeSet<String>,
    /// The calls that asked while they executed in this activation.
    asked: Vec<runstate::tool_call::CallKey>,
    /// The calls that were executing at a death. They had started, and start again after any later question.
    left_running: BTreeSet<String>,
}

impl<'s> Order<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        let case = &seen.case;
        Order {
            case,
            sent: BTreeMap::new(),
            held_up_ms: 0,
            held_up_since: None,
            replayed: BTreeSet::new(),
            asked: Vec::new(),
            left_running: BTreeSet::new(),
        }
    }

    /// Are decisions taken immediately now, as in a stream or in the concurrent mode?
    fn is_live(&self, now: &ObservedRun) -> bool {
        let waits = self.case.acts.iter().any(|act| matches!(act.does, Does::Wait(_)));
        let executes = now.flow.as_deref() == Some("ToolRound") && !now.executing.is_empty();
        let speaks = now.flow.as_deref() == Some("LlmCall");
        let live = match (executes, speaks) {
            (true, _) => self.case.streamed || self.case.mode == ExecutionMode::Concurrent,
            (false, true) => self.case.streamed,
            (false, false) => false,
        };
        live && !waits && !now.cancelled
    }

    fn hold_up(&mut self, at_ms: u64, now: &ObservedRun) {
        let one_by_one = self.case.mode != ExecutionMode::Concurrent;
        let holds_up = now.committing || one_by_one && !self.replayed.is_empty();
        match self.held_up_since {
            None if holds_up => self.held_up_since = Some(at_ms),
            Some(since) if !holds_up => {
                self.held_up_ms += at_ms - since;
                self.held_up_since = None;
            }
            None | Some(_) => {}
        }
    }

    fn held_up_ms(&self, at_ms: u64) -> u64 {
        self.held_up_ms + self.held_up_since.map_or(0, |since| at_ms - since)
    }
}

impl Judge for Order<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Began { call, key, decision, .. } => {
                let one_by_one = self.case.mode != ExecutionMode::Concurrent && now.cuts == 0;
                if decision.is_some() && one_by_one && !self.replayed.is_empty() {
                    book.wrong("order", format!("{call} is replayed beside {:?}", self.replayed));
                }
                if decision.is_some() {
                    self.replayed.insert(call.clone());
                }
                let alone = self.case.mode == ExecutionMode::Sequential && !self.case.streamed;
                if alone && now.executing.len() > 1 {
                    book.wrong("order", format!("{call} executes beside others: {:?}", now.executing));
                }
                let held_up = |asked: &&runstate::tool_call::CallKey| {
                    asked.step == key.step
                        && asked.ordinal < key.ordinal
                        && now
                            .calls
                            .values()
                            .any(|call| call.key == **asked && call.status.to_string() == "Suspended")
                };
                let starts = decision.is_none() && !self.left_running.contains(call);
                if alone && starts && self.asked.iter().any(|asked| held_up(&asked)) {
                    book.wrong("order", format!("{call} starts after a call that asked"));
                }
            }
            What::LoopBegan { calls, .. } => {
                let running = calls.iter().filter(|call| call.status == ToolCallStatus::Running);
                self.left_running = running.map(|call| call.name.clone()).collect();
            }
            What::Dropped { call } => drop(self.replayed.remove(call)),
            What::Answered { call, nth } => {
                self.replayed.remove(call);
                let key = now.calls.get(call).map(|call| call.key).unwrap_or_default();
                let planned = self.case.call(key.step, key.ordinal);
                let execution = planned.and_then(|call| call.executions.get(*nth).or(call.executions.last()));
                if execution.is_some_and(|it| matches!(it.comes_to, crate::case::ComesTo::Pending(_))) {
                    self.asked.push(key);
                }
            }
            // A decision at the very end is for the next activation and its gates.
            What::Event(event) if matches!(event.kind, EventKind::RunFinished { .. }) => self.sent.clear(),
            What::LoopEnded(_) | What::Died { .. } => {
                self.sent.clear();
                self.replayed.clear();
            }
            What::Cancelled => self.sent.clear(),
            What::Sent { number, .. } if self.is_live(now) => {
                self.sent.insert(*number, (entry.at_ms, self.held_up_ms(entry.at_ms)));
            }
            What::Replied { number, reply: Some(_), .. } => {
                if let Some((at_ms, before)) = self.sent.remove(number) {
                    let waited = entry.at_ms - at_ms;
                    let for_others = self.held_up_ms(entry.at_ms) - before;
                    if waited > for_others {
                        book.wrong(
                            "order",
                            format!(
                                "decision {number} waited {waited} ms, {for_others} for commits and replays"
                            ),
                        );
                    }
                }
            }
            _ => {}
        }
        self.hold_up(entry.at_ms, now);
    }
}
