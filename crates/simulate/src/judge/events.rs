//! Events are numbered without a gap, and the events of activations and calls are balanced.

use std::collections::{BTreeMap, BTreeSet};

use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::{AgentEvent, EventKind};

use super::{Findings, Judge, ObservedRun, Step, given_up};
use crate::play::What;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Ready,
    Suspended,
    Resumed,
    Done,
}

#[derive(Default)]
pub(super) struct Events {
    seq: u64,
    at_ms: u64,
    started: bool,
    calls: BTreeMap<String, Told>,
    resumed: BTreeSet<String>,
    died: bool,
}

impl Judge for Events {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Event(event) => self.event(event, now, book),
            What::Died { events, .. } => {
                // A new process continues from the stored number.
                self.seq = *events;
                self.died = true;
            }
            What::LoopBegan { calls, .. } => {
                self.started = false;
                if std::mem::take(&mut self.died) {
                    self.calls = calls.iter().map(|call| (call.name.clone(), told(call.status))).collect();
                }
            }
            _ => {}
        }
    }
}

fn told(status: ToolCallStatus) -> Told {
    match status {
        ToolCallStatus::New | ToolCallStatus::Running => Told::Ready,
        ToolCallStatus::Suspended => Told::Suspended,
        ToolCallStatus::Resuming => Told::Resumed,
        ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled => Told::Done,
    }
}

impl Events {
    fn event(&mut self, event: &AgentEvent, now: &ObservedRun, book: &mut Findings) {
        if event.seq != self.seq + 1 {
            book.wrong("events", format!("event {} follows event {}: {event:?}", event.seq, self.seq));
        }
        self.seq = event.seq;
        // A commit takes time: its events belong to its beginning.
        let is_of_commit = match &event.kind {
            EventKind::Checkpoint { .. }
            | EventKind::RunFinished { .. }
            | EventKind::ToolCallResumed { .. } => true,
            EventKind::ToolCallDone { outcome, .. } => given_up(outcome).is_some(),
            _ => false,
        };
        let is_in_time = (self.at_ms..=now.at_ms).contains(&event.at_ms);
        self.at_ms = event.at_ms;
        if !is_in_time || event.at_ms != now.at_ms && !is_of_commit {
            book.wrong("events", format!("event {} says it is of {} ms", event.seq, event.at_ms));
        }
        match &event.kind {
            EventKind::RunStarted { .. } => {
                if std::mem::replace(&mut self.started, true) {
                    book.wrong("events", "an activation has two start events");
                }
            }
            EventKind::RunFinished { status, .. } => {
                if now.run != Some(*status) {
                    book.wrong("events", format!("RunFinished says {status}, the run is {:?}", now.run));
                }
                self.started = false;
            }
            EventKind::ToolCallReady { call, .. } => self.call(call, Told::Ready, now, book),
            EventKind::ToolCallSuspended { interrupt } => {
                self.call(&interrupt.call, Told::Suspended, now, book);
            }
            EventKind::ToolCallResumed { call, suspension_id, .. } => {
                self.call(call, Told::Resumed, now, book);
                if !self.resumed.insert(suspension_id.clone()) {
                    book.wrong("decisions", format!("{suspension_id} was resumed twice"));
                }
            }
            EventKind::ToolCallDone { call, .. } => {
                self.call(call, Told::Done, now, book);
                let over = now.calls.get(call).is_some_and(|call| call.is_over());
                if !over {
                    book.wrong("events", format!("{call} is reported as done, and is not"));
                }
            }
            EventKind::ToolCallStart { .. }
            | EventKind::ToolCallArguments { .. }
            | EventKind::ToolCallProgress { .. }
            | EventKind::Checkpoint { .. }
            | EventKind::Error { .. }
            | EventKind::StateSnapshot { .. }
            | EventKind::StateConflict { .. } => {}
            other => {
                if !self.started {
                    book.wrong("events", format!("{other:?} outside of an activation"));
                }
            }
        }
    }

    fn call(&mut self, call: &str, next: Told, now: &ObservedRun, book: &mut Findings) {
        let before = self.calls.insert(call.to_owned(), next);
        let fits = match next {
            Told::Ready => before.is_none(),
            // A loop that is dropped between a decision and its commit emits no event of it.
            Told::Suspended if now.cuts > 0 => before.is_some_and(|before| before != Told::Done),
            Told::Suspended => matches!(before, Some(Told::Ready | Told::Resumed)),
            Told::Resumed => before == Some(Told::Suspended),
            Told::Done => matches!(before, Some(Told::Ready | Told::Resumed | Told::Suspended)),
        };
        if !fits {
            book.wrong("events", format!("{call} is reported as {next:?} after {before:?}"));
        }
    }
}
