//! An expired question is given up at its time, if the loop waits for it or takes decisions immediately.

use std::collections::BTreeSet;

use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::{ExecutionMode, Verdict, WhenSuspended};

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Case, Does};
use crate::play::{Seen, What};

pub(super) struct Lapses<'s> {
    case: &'s Case,
    /// Calls that execute again: in a sequential mode an expiry waits for them like any decision.
    replayed: BTreeSet<String>,
    /// Is there a loop?
    driven: bool,
    /// Was the end requested? The end gives up waiting calls.
    is_to_end: bool,
    /// The time since the loop notices expiries; `None` while it does not.
    alert_since: Option<u64>,
}

impl<'s> Lapses<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Lapses {
            case: &seen.case,
            replayed: BTreeSet::new(),
            driven: false,
            is_to_end: false,
            alert_since: None,
        }
    }

    /// Does the loop notice an expiry now: in a wait in place, or in a loop that takes decisions immediately?
    fn is_alert(&self, now: &ObservedRun) -> bool {
        if !self.driven || self.is_to_end || now.committing || now.cancelled {
            return false;
        }
        let waits_in_place = self.case.when_suspended == WhenSuspended::WaitInPlace
            && now.run == Some(RunStatus::Waiting)
            && now.flow.is_none();
        let executes = now.flow.as_deref() == Some("ToolRound") && !now.executing.is_empty();
        let speaks = now.flow.as_deref() == Some("LlmCall");
        let at_once = self.case.streamed || self.case.mode == ExecutionMode::Concurrent;
        let plugins_take_time = self.case.acts.iter().any(|act| matches!(act.does, Does::Wait(_)));
        let held_up = self.case.mode != ExecutionMode::Concurrent && !self.replayed.is_empty();
        waits_in_place
            || !plugins_take_time && !held_up && (executes && at_once || speaks && self.case.streamed)
    }
}

impl Judge for Lapses<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        if let Some(since) = self.alert_since {
            let suspended = now.calls.iter().filter(|(_, call)| call.status == ToolCallStatus::Suspended);
            for (name, call) in suspended {
                // An answered call that asks again is suspended before its question is emitted.
                let unanswered = call.last_asked.as_ref().filter(|id| !now.accepted.contains_key(*id));
                let asked = unanswered.and_then(|id| now.asked.get(id));
                let Some(lapses) = asked.and_then(|asked| asked.expires_at_ms) else { continue };
                if now.at_ms > lapses.max(since) {
                    book.wrong("lapses", format!("{name} waits, and its suspension expired at {lapses} ms"));
                }
            }
        }
        if let Step::Entry(entry) = step {
            match &entry.what {
                What::LoopBegan { .. } => self.driven = true,
                What::Acted { fails: false } | What::Gate { verdict: Verdict::BlockRun(_), .. } => {
                    self.is_to_end = true;
                }
                What::LoopEnded(_) | What::Died { .. } => {
                    self.driven = false;
                    self.is_to_end = false;
                    self.replayed.clear();
                }
                What::Began { call, decision: Some(_), .. } => {
                    self.replayed.insert(call.clone());
                }
                What::Answered { call, .. } | What::Dropped { call } => {
                    self.replayed.remove(call);
                }
                _ => {}
            }
        }
        self.alert_since =
            if self.is_alert(now) { Some(self.alert_since.unwrap_or(now.at_ms)) } else { None };
    }
}
