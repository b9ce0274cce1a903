//! What executes beside what, and how long a decision waits.

use std::collections::BTreeMap;

use runstate::agent::ExecutionMode;
use runstate::agent::event::EventKind;

use super::{Book, Judge, Moment, Step};
use crate::case::{Case, Does};
use crate::play::{Seen, What};

pub(super) struct Order<'s> {
    case: &'s Case,
    /// Decisions on their way that must be taken in at once: when they were sent, and the commits made by then.
    sent: BTreeMap<usize, (u64, u64)>,
    committed_ms: u64,
    commit_began: u64,
    /// The calls that asked while they executed in this activation.
    asked: Vec<runstate::tool_call::CallKey>,
}

impl<'s> Order<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        let case = &seen.case;
        Order { case, sent: BTreeMap::new(), committed_ms: 0, commit_began: 0, asked: Vec::new() }
    }

    /// Are decisions taken in at once now (document 000, the stream; document 003, the concurrent model)?
    fn is_live(&self, now: &Moment) -> bool {
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
}

impl Judge for Order<'_> {
    fn step(&mut self, step: Step<'_>, now: &Moment, book: &mut Book) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Began { call, key, decision, .. } => {
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
                if alone && decision.is_none() && self.asked.iter().any(|asked| held_up(&asked)) {
                    book.wrong("order", format!("{call} starts behind a call that asked (A10)"));
                }
            }
            What::Answered { call, nth } => {
                let key = now.calls.get(call).map(|call| call.key).unwrap_or_default();
                let planned = self.case.call(key.step, key.ordinal);
                let execution = planned.and_then(|call| call.executions.get(*nth).or(call.executions.last()));
                if execution.is_some_and(|it| matches!(it.comes_to, crate::case::ComesTo::Pending(_))) {
                    self.asked.push(key);
                }
            }
            // What comes in at the very end is for the next activation and its gates.
            What::Event(event) if matches!(event.kind, EventKind::RunFinished { .. }) => self.sent.clear(),
            What::CommitBegan => self.commit_began = entry.at_ms,
            What::CommitEnded { .. } => self.committed_ms += entry.at_ms - self.commit_began,
            What::LoopEnded(_) | What::Cancelled | What::Died { .. } => self.sent.clear(),
            What::Sent { number, .. } if self.is_live(now) => {
                let under_way = if now.committing { entry.at_ms - self.commit_began } else { 0 };
                self.sent.insert(*number, (entry.at_ms, self.committed_ms + under_way));
            }
            What::Replied { number, reply: Some(_), .. } => {
                if let Some((at_ms, before)) = self.sent.remove(number) {
                    let under_way = if now.committing { entry.at_ms - self.commit_began } else { 0 };
                    let waited = entry.at_ms - at_ms;
                    let for_commits = self.committed_ms + under_way - before;
                    if waited > for_commits {
                        book.wrong(
                            "order",
                            format!("decision {number} waited {waited} ms, {for_commits} for commits"),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}
