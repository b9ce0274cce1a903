//! The phases come in their order, RunStart and RunEnd once an activation, and no event after the end.

use runstate_agent::Phase;
use runstate_agent::event::EventKind;

use super::{Findings, Judge, ObservedRun, Step, given_up};
use crate::play::{Ended, What};

#[derive(Default)]
pub(super) struct Phases {
    /// The position in the activation; `None` outside of one.
    at: Option<At>,
    step_open: bool,
    ended_step: u32,
    /// The call with a new outcome: plugins run next.
    executed: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Created,
    Started,
    Ended,
}

impl Judge for Phases {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        match step {
            Step::Moved(event) => {
                if event.lifecycle == "run_flow" && event.is_creation() {
                    if self.at.is_some() {
                        book.wrong("phases", "an activation begins while another has not ended");
                    }
                    self.at = Some(At::Created);
                    self.step_open = false;
                }
            }
            Step::Entry(entry) => {
                self.behind_execution(&entry.what, now, book);
                self.seen(&entry.what, book);
            }
        }
    }
}

/// The call with a new outcome, by execution or by a substitute.
fn executed(what: &What) -> Option<&str> {
    let What::Event(event) = what else { return None };
    match &event.kind {
        EventKind::ToolCallSuspended { interrupt } if interrupt.suspension.action != "in_doubt" => {
            Some(&interrupt.call)
        }
        EventKind::ToolCallDone { call, outcome } if given_up(outcome).is_none() => Some(call),
        _ => None,
    }
}

impl Phases {
    /// Plugins run after each execution, before any other event, also after a suspension.
    fn behind_execution(&mut self, what: &What, now: &ObservedRun, book: &mut Findings) {
        let is_asked = matches!(what, What::Phase { phase: Phase::AfterToolExecute, .. });
        if let Some(call) = self.executed.take()
            && !is_asked
            && !now.cancelled
        {
            book.wrong("phases", format!("plugins are not asked after {call}, but {what:?}"));
        }
        self.executed = executed(what).map(str::to_owned);
    }

    fn seen(&mut self, what: &What, book: &mut Findings) {
        match what {
            What::Phase { phase: Phase::RunStart, .. } => {
                if self.at != Some(At::Created) {
                    book.wrong("phases", format!("RunStart comes where the activation is {:?}", self.at));
                }
                self.at = Some(At::Started);
            }
            What::Phase { phase: Phase::RunEnd, .. } => {
                if !matches!(self.at, Some(At::Created | At::Started)) {
                    book.wrong("phases", format!("RunEnd comes where the activation is {:?}", self.at));
                }
                self.at = Some(At::Ended);
            }
            What::Phase { phase, step } => {
                if self.at != Some(At::Started) {
                    book.wrong("phases", format!("{phase} comes where the activation is {:?}", self.at));
                }
                match phase {
                    Phase::StepStart if std::mem::replace(&mut self.step_open, true) => {
                        book.wrong("phases", format!("step {step} starts before the one before it ended"));
                    }
                    Phase::StepEnd => {
                        // A step that a death interrupted does not end; any other ends once.
                        if !std::mem::replace(&mut self.step_open, false) {
                            book.wrong("phases", format!("step {step} ends, and was not begun"));
                        }
                        self.ended_step = *step;
                    }
                    _ => {}
                }
            }
            What::Began { call, .. } if self.at != Some(At::Started) => {
                book.wrong(
                    "phases",
                    format!("the tool of {call} executes where the activation is {:?}", self.at),
                );
            }
            What::Asked { .. } if (self.at != Some(At::Started) || !self.step_open) => {
                book.wrong("phases", "the model is asked outside of a step");
            }
            What::Event(event) => {
                if let EventKind::RunFinished { .. } = event.kind {
                    if matches!(self.at, Some(At::Created | At::Started)) {
                        book.wrong("phases", "RunFinished is emitted, and RunEnd never came");
                    }
                    self.at = None;
                }
            }
            What::LoopEnded(Ended::Unfinished) if self.at != Some(At::Ended) && self.at.is_some() => {
                book.wrong("phases", "the end is to be committed, and RunEnd never came");
            }
            What::LoopEnded(_) | What::LoopBegan { .. } => self.at = None,
            _ => {}
        }
    }
}
