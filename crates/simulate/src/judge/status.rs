//! The status of the run agrees with its calls, and its calls are over when it is.

use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::EventKind;

use super::{Findings, Judge, ObservedRun, Step, given_up};
use crate::play::{Durable, Seen, What};

#[derive(Default)]
pub(super) struct Status;

impl Judge for Status {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Event(event) => {
                // The end of a wait gives its calls up one by one, and then the run continues or is over.
                let gives_up = matches!(&event.kind, EventKind::ToolCallDone { outcome, .. } if given_up(outcome).is_some());
                if !gives_up {
                    rule(now, book);
                }
            }
            What::Began { call, .. } => {
                is_running(now, book, "a tool executes");
                let status = now.calls.get(call).map(|call| call.status);
                if status != Some(ToolCallStatus::Running) {
                    book.wrong("status", format!("the tool of {call} executes while it is {status:?}"));
                }
            }
            What::Asked { .. } => is_running(now, book, "the model is asked"),
            What::CommitEnded { made: true, durable, .. } => stored(durable, book),
            _ => {}
        }
    }

    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        if let Some(end) = &seen.end
            && end.status == RunStatus::Done
        {
            rule(now, book);
            for call in &end.calls {
                if !call.status.is_terminal() && call.status != ToolCallStatus::New {
                    book.wrong("status", format!("the run is over and {} is {}", call.name, call.status));
                }
            }
        }
    }
}

fn is_running(now: &ObservedRun, book: &mut Findings, while_: &str) {
    if now.run != Some(RunStatus::Running) {
        book.wrong("status", format!("{while_} while the run is {:?}", now.run));
    }
}

fn rule(now: &ObservedRun, book: &mut Findings) {
    let projection = now.projection();
    match now.run {
        Some(RunStatus::Waiting) if projection != RunStatus::Waiting => {
            book.wrong("status", format!("the run is Waiting and its calls say {projection}"));
        }
        Some(RunStatus::Done) if projection != RunStatus::Done => {
            book.wrong("status", format!("the run is Done and its calls say {projection}"));
        }
        _ => {}
    }
    let winds_up = matches!(now.flow.as_deref(), Some("RunEnd" | "CommitFinished"));
    if now.is_active() && !winds_up && now.run != Some(RunStatus::Running) {
        book.wrong(
            "status",
            format!("an activation stands in {:?} of a run that is {:?}", now.flow, now.run),
        );
    }
}

/// The check for the stored run.
fn stored(durable: &Durable, book: &mut Findings) {
    let any = |wanted: &[&str]| durable.calls.values().any(|status| wanted.contains(&status.as_str()));
    let (executes, waits) = (any(&["Running", "Resuming"]), any(&["Suspended"]));
    let sound = match durable.run.as_str() {
        "Waiting" => !executes && waits,
        "Done" => !executes && !waits,
        _ => true,
    };
    if !sound {
        book.wrong(
            "status",
            format!("the stored run is {} and its calls are {:?}", durable.run, durable.calls),
        );
    }
}
