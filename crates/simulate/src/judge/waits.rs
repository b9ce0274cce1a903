//! When a run waits for suspended calls, and when the model continues without them.

use std::collections::{BTreeMap, BTreeSet};

use runstate::checkpoint::Trigger;
use runstate::tool_call::ToolCallStatus;
use runstate::trace::Event;
use runstate_agent::event::EventKind;
use runstate_agent::{Message, SuspensionPolicy};

use super::{Findings, Judge, ObservedRun, Step};
use crate::play::{Seen, What};

pub(super) struct Waits {
    policy: SuspensionPolicy,
    /// Is there a committer?
    is_kept: bool,
    /// The step, and the step of each call.
    at_step: u32,
    steps: BTreeMap<String, u32>,
    /// Calls that asked since the activation began, and before it entered its loop.
    anew: BTreeSet<String>,
    /// Why the run should have waited, if it continues. An ending run does not wait.
    should_wait: Option<String>,
    /// Has a call moved since the last step ended? Otherwise the model has nothing new to read.
    moved: bool,
    /// Messages that the run took while it waited in place.
    taken: usize,
    /// Did a commit fail? Then the run continues like an interrupted one.
    failed: bool,
}

impl Waits {
    pub(super) fn new(seen: &Seen) -> Self {
        Waits {
            policy: seen.case.policy,
            is_kept: seen.case.committer,
            at_step: 0,
            steps: BTreeMap::new(),
            anew: BTreeSet::new(),
            should_wait: None,
            moved: false,
            taken: 0,
            failed: false,
        }
    }

    /// The calls to wait for at the start of an activation, or after its round.
    fn to_wait_for(&self, at_start: bool, now: &ObservedRun) -> Option<String> {
        let status = |name: &str| now.calls.get(name).map(|call| call.status);
        let waits = |name: &str| status(name) == Some(ToolCallStatus::Suspended);
        match (self.policy, at_start) {
            (SuspensionPolicy::WaitForAll, _) => {
                now.calls.keys().find(|name| waits(name)).map(|name| format!("{name} waits"))
            }
            (SuspensionPolicy::ContinueWhenAny, true) => {
                self.anew.iter().find(|name| waits(name)).map(|name| format!("{name} asked at the start"))
            }
            (SuspensionPolicy::ContinueWhenAny, false) => {
                let mut of_round = self.steps.iter().filter(|(_, step)| **step == self.at_step);
                let none_has_a_result = of_round.all(|(name, _)| {
                    matches!(status(name), None | Some(ToolCallStatus::New | ToolCallStatus::Suspended))
                });
                none_has_a_result.then(|| format!("no call of step {} has a result", self.at_step))
            }
        }
    }

    fn moved(&mut self, event: &Event<'static>, now: &ObservedRun, book: &mut Findings) {
        let at_start = match event.from.as_deref() {
            Some("ResumeReplay0" | "CommitReplay0") => true,
            Some("ResumeAfterTool") => false,
            _ => return,
        };
        match &*event.to {
            "LoopTop" => self.should_wait = self.to_wait_for(at_start, now),
            "Suspended" if self.to_wait_for(at_start, now).is_none() => {
                book.wrong("waits", format!("the run waits, with {:?}", self.policy));
            }
            _ => {}
        }
    }
}

impl Waits {
    /// An answer without calls is the end, or a wait until a call has moved, also after a crash in between.
    fn asked_again(&mut self, what: &What, book: &mut Findings) {
        match what {
            What::Event(event) => match &event.kind {
                EventKind::StepFinished { .. } if !self.is_kept => self.moved = false,
                EventKind::ToolCallSuspended { .. }
                | EventKind::ToolCallResumed { .. }
                | EventKind::ToolCallDone { .. } => self.moved = true,
                _ => {}
            },
            // A lost answer is requested again.
            What::CommitEnded { trigger: Trigger::AssistantTurnCommitted, made: true, .. } => {
                self.moved = false;
            }
            What::Asked { step, history, .. } if !self.moved => {
                let last = history.iter().last().and_then(Message::answer);
                if last.is_some_and(|turn| turn.calls.is_empty()) {
                    book.wrong(
                        "waits",
                        format!("step {step} asks the model, which has said all and learnt nothing"),
                    );
                }
            }
            _ => {}
        }
    }
}

impl Judge for Waits {
    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        let Some(end) = seen.end.as_ref().filter(|_| now.cuts == 0 && !self.failed) else { return };
        let written =
            end.history.iter().filter(|message| matches!(message, Message::User(_))).skip(1).count();
        if written < self.taken {
            book.wrong("waits", format!("the run took {} messages, and {written} are there", self.taken));
        }
    }

    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        match step {
            Step::Entry(entry) => self.asked_again(&entry.what, book),
            // Durable without an event, if the process died in between.
            Step::Moved(event) if event.lifecycle == "tool_call" => self.moved = true,
            Step::Moved(_) => {}
        }
        if now.cuts > 0 || self.failed {
            return;
        }
        let entry = match step {
            Step::Moved(event) if event.lifecycle == "run_flow" => return self.moved(event, now, book),
            Step::Moved(_) => return,
            Step::Entry(entry) => entry,
        };
        match &entry.what {
            What::Event(event) => match &event.kind {
                EventKind::RunStarted { .. } => {
                    self.anew.clear();
                    self.should_wait = None;
                }
                EventKind::StepStarted { step } => self.at_step = *step,
                EventKind::ToolCallReady { call, .. } => {
                    self.steps.insert(call.clone(), self.at_step);
                }
                EventKind::ToolCallSuspended { interrupt } => {
                    let begins = ["RunStart", "CommitUser", "ResumeReplay0", "CommitReplay0"];
                    if now.flow.as_deref().is_some_and(|flow| begins.contains(&flow)) {
                        self.anew.insert(interrupt.call.clone());
                    }
                }
                _ => {}
            },
            What::Asked { step, .. } => {
                if let Some(why) = self.should_wait.take() {
                    book.wrong("waits", format!("step {step} asks the model, and {why}"));
                }
            }
            What::Taken => self.taken += 1,
            What::CommitEnded { made: false, .. } => self.failed = true,
            _ => {}
        }
    }
}
