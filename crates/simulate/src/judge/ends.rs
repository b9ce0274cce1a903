//! A run ends for an existing reason, and each existing reason ends it.

use std::collections::BTreeSet;

use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::EventKind;
use runstate_agent::stop::StopConditionSpec;
use runstate_agent::{History, Message, Verdict};

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::Case;
use crate::play::{Ended, Seen, What};

pub(super) struct Ends<'s> {
    case: &'s Case,
    blocked: bool,
    /// At the first gate of a call; no call of its round starts afterwards.
    blocked_at_first: bool,
    asked_to_end: bool,
    /// Calls that were executing when the end was requested. The next poll, which may come later, starts the tool of one.
    ran: BTreeSet<String>,
    failed: bool,
    conflict: bool,
    last: Option<History>,
    reason: Option<TerminationReason>,
}

impl<'s> Ends<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Ends {
            case: &seen.case,
            blocked: false,
            blocked_at_first: false,
            asked_to_end: false,
            ran: BTreeSet::new(),
            failed: false,
            conflict: false,
            last: None,
            reason: None,
        }
    }

    fn told_to_end(&mut self, now: &ObservedRun) {
        if !self.blocked && !self.asked_to_end {
            let running = now.calls.iter().filter(|(_, call)| call.status == ToolCallStatus::Running);
            self.ran = running.map(|(name, _)| name.clone()).collect();
        }
    }

    /// The stop condition that held at the end of an earlier step.
    fn stopped_before(&self, step: u32) -> Option<&'static str> {
        let done = (step - 1) as usize;
        if done == 0 {
            return None;
        }
        let steps = &self.case.answers[..done.min(self.case.answers.len())];
        let last = self.case.answers.get(done - 1);
        let holds = self.case.stop.iter().find(|condition| match condition {
            StopConditionSpec::MaxRounds { rounds } => done >= *rounds as usize,
            StopConditionSpec::TokenBudget { max_total } => {
                steps.iter().map(|answer| answer.tokens).sum::<u64>() >= *max_total
            }
            StopConditionSpec::StopOnTool { tool_name } => {
                last.is_some_and(|answer| answer.calls.iter().any(|call| call.tool.name() == tool_name))
            }
            _ => false,
        });
        holds.map(StopConditionSpec::code)
    }
}

impl Judge for Ends<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Gate { verdict: Verdict::BlockRun(_), decision, .. } => {
                self.told_to_end(now);
                self.blocked = true;
                self.blocked_at_first |= decision.is_none();
            }
            What::Began { call, decision: None, .. } if self.blocked_at_first && now.cuts == 0 => {
                book.wrong("ends", format!("{call} starts after a gate that blocked the run"));
            }
            What::Began { call, decision: Some(_), .. }
                if (self.blocked || self.asked_to_end) && !self.ran.remove(call) && now.cuts == 0 =>
            {
                book.wrong("ends", format!("{call} is replayed in a run that is to end"));
            }
            What::Acted { fails: true } => self.failed = true,
            What::Acted { fails: false } => {
                self.told_to_end(now);
                self.asked_to_end = true;
            }
            What::CommitEnded { made: false, .. } => self.failed = true,
            What::Asked { step, history, .. } => {
                if let Some(code) = self.stopped_before(*step) {
                    book.wrong("ends", format!("step {step} begins, and {code} held before it"));
                }
                if (self.blocked || self.asked_to_end) && now.cuts == 0 {
                    book.wrong("ends", format!("step {step} begins in a run that is to end"));
                }
                let answer = self.case.answers.get(*step as usize - 1);
                self.failed |= answer.is_some_and(|answer| answer.fault.is_some());
                self.last = Some(history.clone());
            }
            What::Event(event) => match &event.kind {
                EventKind::StateConflict { .. } => self.conflict = true,
                EventKind::RunFinished { reason, .. } => {
                    self.reason = Some(reason.clone());
                    self.finished(reason, now, book);
                }
                _ => {}
            },
            What::LoopEnded(Ended::Outcome(reason))
                // An end that a second try committed is not emitted again.
                if self.reason.as_ref().is_some_and(|told| told != reason) && !self.failed => {
                    book.wrong(
                        "ends",
                        format!("the loop ended as {reason}, and its events say {:?}", self.reason),
                    );
                }
            _ => {}
        }
    }

    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        match &seen.end {
            Some(end) if end.status == RunStatus::Done => {
                let reason = end.reason.as_ref();
                if self.blocked && now.cuts == 0 && reason.is_none_or(|it| !is_blocked_or_worse(it)) {
                    book.wrong("ends", format!("a blocked run ended as {reason:?}"));
                }
            }
            Some(end) => book.wrong("ends", format!("the run is never over: it is {}", end.status)),
            None => book.wrong("ends", "the run is never over"),
        }
    }
}

fn is_blocked_or_worse(reason: &TerminationReason) -> bool {
    matches!(
        reason,
        TerminationReason::Blocked(_)
            | TerminationReason::Error(_)
            | TerminationReason::Cancelled
            | TerminationReason::BehaviorRequested
    )
}

impl Ends<'_> {
    fn finished(&self, reason: &TerminationReason, now: &ObservedRun, book: &mut Findings) {
        let last_asks = self.last.as_ref().and_then(|history| history.iter().rev().find_map(Message::answer));
        let there_was = match reason {
            TerminationReason::NaturalEnd => {
                now.calls.values().all(|call| call.is_over() || call.suspensions == 0)
            }
            TerminationReason::BehaviorRequested => self.asked_to_end,
            TerminationReason::Stopped(stopped) => {
                self.case.stop.iter().any(|condition| condition.code() == stopped.code())
            }
            TerminationReason::Cancelled => now.cancelled,
            TerminationReason::Blocked(_) => self.blocked,
            TerminationReason::Suspended => now.projection() == RunStatus::Waiting,
            TerminationReason::Error(_) => self.failed || self.conflict,
        };
        if !there_was {
            book.wrong(
                "ends",
                format!("the run ended as {reason} without a reason to; it last read {last_asks:?}"),
            );
        }
    }
}
