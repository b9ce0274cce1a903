//! A run is stopped when a condition holds at the end of a step, and only then.
//!
//! An independent count for each condition, from events and from the script of the model.

use std::collections::BTreeMap;

use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::{CallOutcome, EventKind};
use runstate_agent::stop::StopConditionSpec;

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Case, pattern_matches};
use crate::play::{Seen, What, model_says};

pub(super) struct Stops<'s> {
    case: &'s Case,
    /// Failed calls since the last successful one.
    failed: u32,
    /// The count at the beginning of the last commit, and in the store.
    committing: u32,
    durable: u32,
    /// The conditions that held at the end of the last step, with the number of dropped loops until then.
    held: Option<(u32, Vec<bool>, u32)>,
}

impl<'s> Stops<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Stops { case: &seen.case, failed: 0, committing: 0, durable: 0, held: None }
    }

    /// Does a condition hold at the end of a step, at that time? `None` for an unknown condition.
    fn holds(&self, condition: &StopConditionSpec, step: u32, at_ms: u64) -> Option<bool> {
        let answers = || self.case.answers.iter().take(step as usize);
        match condition {
            StopConditionSpec::MaxRounds { rounds } => Some(step >= *rounds),
            // The run began with the first event, at 0 ms.
            StopConditionSpec::Timeout { seconds } => Some(at_ms >= *seconds * 1_000),
            StopConditionSpec::TokenBudget { max_total } => {
                Some(answers().map(|answer| answer.tokens).sum::<u64>() >= *max_total)
            }
            StopConditionSpec::StopOnTool { tool_name } => {
                let answer = self.case.answers.get(step as usize - 1);
                let mut calls = answer.into_iter().flat_map(|answer| &answer.calls);
                Some(calls.any(|call| call.tool.name() == tool_name))
            }
            StopConditionSpec::ConsecutiveErrors { max } => Some(self.failed >= *max),
            StopConditionSpec::LoopDetection { window } => Some(self.repeats(step, *window)),
            StopConditionSpec::ContentMatch { pattern } => pattern_matches(pattern, step),
        }
    }

    /// Is a call of the step equal to an earlier one, both within a window of that many calls?
    fn repeats(&self, step: u32, window: u32) -> bool {
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        let mut place = 0;
        for (of_step, answer) in (1..=step).zip(&self.case.answers) {
            for (ordinal, call) in (0..).zip(&answer.calls) {
                place += 1;
                let same = format!("{} {:?}", call.tool.name(), model_says(of_step, ordinal, call));
                let before = last.insert(same, place);
                let within = before.map(|before| place - before + 1);
                if of_step == step && within.is_some_and(|within| within <= window as usize) {
                    return true;
                }
            }
        }
        false
    }

    /// Records the conditions at the end of the step: if the run ends anyway, a match of the text alone counts.
    fn step_ended(&mut self, step: u32, now: &ObservedRun) {
        let has_calls =
            self.case.answers.get(step as usize - 1).is_some_and(|answer| !answer.calls.is_empty());
        let waits = now.calls.values().any(|call| call.status == ToolCallStatus::Suspended);
        let ends_anyway = !has_calls && !waits;
        let counts = |condition: &&StopConditionSpec| {
            !ends_anyway || matches!(condition, StopConditionSpec::ContentMatch { .. })
        };
        let holds = |condition| counts(&condition) && self.holds(condition, step, now.at_ms) == Some(true);
        let held = self.case.stop.iter().map(holds).collect();
        self.held = Some((step, held, now.cuts));
    }

    fn finished(&self, reason: &TerminationReason, now: &ObservedRun, book: &mut Findings) {
        let Some((step, held, cuts)) = &self.held else { return };
        // After a crash between the end of a step and of the run, the conditions are evaluated again, elsewhere.
        if *cuts != now.cuts || now.cuts > 0 {
            return;
        }
        let first = held.iter().position(|held| *held).map(|at| &self.case.stop[at]);
        match (reason, first) {
            (TerminationReason::Stopped(stopped), first) => {
                let code = stopped.code();
                if first.is_none_or(|first| first.code() != code) {
                    book.wrong(
                        "stops",
                        format!("the run is stopped by {stopped}, and step {step} ended with {first:?}"),
                    );
                }
            }
            (TerminationReason::NaturalEnd | TerminationReason::Suspended, Some(first)) => {
                book.wrong(
                    "stops",
                    format!("the run ends as {reason}, and step {step} ended with {first:?}"),
                );
            }
            _ => {}
        }
    }
}

impl Judge for Stops<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Event(event) => match &event.kind {
                EventKind::ToolCallDone { outcome: CallOutcome::Failed { .. }, .. } => self.failed += 1,
                EventKind::ToolCallDone { outcome: CallOutcome::Succeeded { .. }, .. } => self.failed = 0,
                EventKind::StepFinished { step } => self.step_ended(*step, now),
                EventKind::RunFinished { reason, .. } => {
                    self.finished(reason, now, book);
                    self.held = None;
                }
                _ => {}
            },
            What::Asked { step, .. } => {
                if let Some((before, held, cuts)) = &self.held
                    && let Some(at) = held.iter().position(|held| *held)
                    && *cuts == now.cuts
                {
                    let condition = &self.case.stop[at];
                    book.wrong(
                        "stops",
                        format!("step {step} begins, and step {before} ended with {condition:?}"),
                    );
                }
            }
            What::CommitBegan => self.committing = self.failed,
            What::CommitEnded { made: true, .. } => self.durable = self.committing,
            What::Died { .. } => self.failed = self.durable,
            _ => {}
        }
    }
}
