//! Reported figures: waiting calls, usage, commit numbers, progress of tools.

use std::collections::{BTreeMap, BTreeSet};

use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::{AgentEvent, EventKind, Interrupt};
use serde_json::json;

use super::{Findings, Judge, ObservedRun, Step, given_up};
use crate::case::{Answer, Case};
use crate::play::{Ended, Seen, What};

/// The reported progress of a call's tool.
struct Progress {
    /// The number of its progress messages.
    tells: u8,
    told: u8,
    answered: bool,
}

pub(super) struct Told<'s> {
    case: &'s Case,
    /// The tokens of the received answers.
    used: u64,
    /// The tokens at the end of the last activation.
    before: u64,
    /// The answer that is under way.
    asked: Option<&'s Answer>,
    commits: u64,
    /// Did a commit fail? An answer under way is dropped then.
    refused: bool,
    progress: BTreeMap<String, Progress>,
}

impl<'s> Told<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Told {
            case: &seen.case,
            used: 0,
            before: 0,
            asked: None,
            commits: 0,
            refused: false,
            progress: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: &AgentEvent, now: &ObservedRun, book: &mut Findings) {
        match &event.kind {
            EventKind::Checkpoint { commit, .. } if now.cuts == 0 && *commit != self.commits => {
                book.wrong("told", format!("commit {commit} is reported, and {} were made", self.commits));
            }
            EventKind::InferenceStarted { step } => {
                self.asked = self.case.answers.get(*step as usize - 1);
            }
            EventKind::InferenceFinished { step, usage, .. } => {
                let tokens = self.asked.take().map_or(0, |answer| answer.tokens);
                if usage.total() != tokens {
                    book.wrong(
                        "told",
                        format!("step {step} took {tokens} tokens, and {usage:?} is reported"),
                    );
                }
                self.used += tokens;
            }
            EventKind::RunFinished { status, waiting, usage, used, reason } => {
                let here = usage.total().checked_sub(self.before);
                if now.cuts == 0 && here != Some(used.total()) {
                    book.wrong(
                        "told",
                        format!("the activation used {here:?} tokens, and {used:?} are reported"),
                    );
                }
                self.before = usage.total();
                if *status == RunStatus::Waiting {
                    waits(waiting, now, book);
                }
                self.used(usage.total(), reason, now, book);
                // An answer of a later activation is not the dropped one.
                self.refused = false;
                self.progress.clear();
            }
            EventKind::ToolCallProgress { call, progress } => match self.progress.get_mut(call) {
                Some(of_call) if *progress == json!(of_call.told) && of_call.told < of_call.tells => {
                    of_call.told += 1;
                }
                _ => book.wrong("told", format!("{call} is reported at {progress}, out of its turn")),
            },
            EventKind::ToolCallDone { outcome, call } if given_up(outcome).is_some() => {
                self.progress.remove(call);
            }
            EventKind::ToolCallDone { call, .. } => self.settled(call, book),
            EventKind::ToolCallSuspended { interrupt } => self.settled(&interrupt.call, book),
            _ => {}
        }
    }

    /// The progress of a tool comes before its result.
    fn settled(&mut self, call: &str, book: &mut Findings) {
        let Some(progress) = self.progress.remove(call) else { return };
        if progress.answered && progress.told < progress.tells {
            let (told, tells) = (progress.told, progress.tells);
            book.wrong("told", format!("the result of {call} is reported after {told} of {tells} pieces"));
        }
    }

    /// All answers count, also failed ones, which were paid for. A cancelled answer may not have reported its usage.
    fn used(&self, total: u64, reason: &TerminationReason, now: &ObservedRun, book: &mut Findings) {
        let of_last = self.asked.map_or(0, |answer| answer.tokens);
        let is_right = match (self.asked.and_then(|answer| answer.fault), reason) {
            (Some(_), TerminationReason::Error(_)) if !self.refused => total == self.used + of_last,
            _ => total == self.used || total == self.used + of_last,
        };
        if now.cuts == 0 && !is_right {
            book.wrong(
                "told",
                format!("the run used {} and {of_last} tokens, and {total} are reported", self.used),
            );
        }
    }
}

/// The reported waiting calls are the waiting calls.
fn waits(waiting: &[Interrupt], now: &ObservedRun, book: &mut Findings) {
    let told: BTreeSet<(&str, &str)> =
        waiting.iter().map(|it| (it.call.as_str(), it.suspension.id.as_str())).collect();
    let suspended = now.calls.iter().filter(|(_, call)| call.status == ToolCallStatus::Suspended);
    let waits: BTreeSet<(&str, &str)> = suspended
        .map(|(name, call)| (name.as_str(), call.last_asked.as_deref().unwrap_or_default()))
        .collect();
    if told != waits {
        book.wrong("told", format!("{told:?} is reported as waiting, and {waits:?} waits"));
    }
}

impl Judge for Told<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Event(event) => self.event(event, now, book),
            What::CommitEnded { made: true, .. } => self.commits += 1,
            What::CommitEnded { made: false, .. } => self.refused = true,
            What::Began { call, key, nth, .. } => {
                let planned = self.case.call(key.step, key.ordinal);
                let execution = planned.and_then(|call| call.executions.get(*nth).or(call.executions.last()));
                let tells = execution.map_or(0, |execution| execution.progress);
                self.progress.insert(call.clone(), Progress { tells, told: 0, answered: false });
            }
            What::Answered { call, .. } => {
                if let Some(progress) = self.progress.get_mut(call) {
                    progress.answered = true;
                }
            }
            What::LoopEnded(Ended::Dropped { .. }) => self.progress.clear(),
            _ => {}
        }
    }
}
