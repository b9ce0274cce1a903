//! A cancellation takes effect at once; a commit under way is finished.

use runstate::termination::TerminationReason;
use runstate_agent::event::EventKind;

use super::{Findings, Judge, ObservedRun, Step};
use crate::play::{Ended, What};

#[derive(Default)]
pub(super) struct Cancels {
    /// The time, while a loop was running.
    at_ms: Option<u64>,
    /// Was a commit under way at that time?
    committing: bool,
    loops: bool,
    commits_ms: u64,
    commit_began: u64,
    winding_up: bool,
}

impl Judge for Cancels {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::LoopBegan { .. } => {
                self.loops = true;
                if now.cancelled {
                    self.at_ms = Some(entry.at_ms);
                    self.committing = false;
                    self.commits_ms = 0;
                }
            }
            What::Cancelled if self.loops => {
                self.at_ms = Some(entry.at_ms);
                self.committing = now.committing;
                self.commits_ms = 0;
                self.commit_began = entry.at_ms;
                self.winding_up = matches!(
                    now.flow.as_deref(),
                    // These states have no transition to Cancelled.
                    Some("AfterInference" | "CommitAssistant" | "RunEnd" | "CommitFinished")
                );
            }
            What::CommitBegan => self.commit_began = entry.at_ms,
            What::CommitEnded { .. } => self.commits_ms += entry.at_ms - self.commit_began,
            What::Began { call, .. } if now.cancelled && self.at_ms.is_some() => {
                book.wrong("cancel", format!("the tool of {call} begins in a cancelled run"));
            }
            What::Asked { .. } if now.cancelled && self.at_ms.is_some() => {
                book.wrong("cancel", "the model of a cancelled run is asked");
            }
            What::Event(event) => {
                if let (EventKind::RunFinished { reason, .. }, Some(at_ms)) = (&event.kind, self.at_ms) {
                    let same_instant = entry.at_ms == at_ms;
                    let fine = *reason == TerminationReason::Cancelled
                        || matches!(reason, TerminationReason::Error(_))
                        || self.committing
                        || self.winding_up
                        || same_instant;
                    if !fine {
                        book.wrong("cancel", format!("a cancelled run ends as {reason}"));
                    }
                }
            }
            What::LoopEnded(ended) => {
                self.loops = false;
                if let (Some(at_ms), Ended::Outcome(_)) = (self.at_ms.take(), ended) {
                    let took = entry.at_ms - at_ms;
                    if took > self.commits_ms {
                        let commits = self.commits_ms;
                        book.wrong("cancel", format!("it took {took} ms, {commits} of them for commits"));
                    }
                }
            }
            _ => {}
        }
    }
}
