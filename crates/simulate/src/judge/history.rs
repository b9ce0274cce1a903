//! The input of the model: one result for each call, in order, durable data alone, and no forbidden placeholder.

use std::collections::BTreeMap;

use runstate::run::RunStatus;
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate_agent::event::{CallOutcome, EventKind};
use runstate_agent::{History, Message, ResultContent, SuspensionPolicy};

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::Case;
use crate::play::{Seen, What};

pub(super) struct Histories<'s> {
    case: &'s Case,
    told: BTreeMap<String, CallOutcome>,
}

impl<'s> Histories<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Histories { case: &seen.case, told: BTreeMap::new() }
    }
}

impl Judge for Histories<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Event(event) => {
                if let EventKind::ToolCallDone { call, outcome } = &event.kind {
                    self.told.insert(call.clone(), outcome.clone());
                }
            }
            // A death may come between a commit and its events, and before the commit of an emitted outcome.
            What::LoopBegan { calls, .. } => {
                let is_so = |name: &str, told: &CallOutcome| {
                    calls.iter().any(|call| call.name == name && call.status == status_of(told))
                };
                self.told.retain(|name, told| is_so(name, told));
            }
            What::Asked { step, history, durable } => self.asked(*step, history, *durable, now, book),
            _ => {}
        }
    }

    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        if let Some(end) = &seen.end {
            self.shape(&end.history, end.status == RunStatus::Done, now, book);
        }
    }
}

fn status_of(told: &CallOutcome) -> ToolCallStatus {
    match told {
        CallOutcome::Succeeded { .. } => ToolCallStatus::Succeeded,
        CallOutcome::Cancelled { .. } => ToolCallStatus::Cancelled,
        _ => ToolCallStatus::Failed,
    }
}

impl Histories<'_> {
    fn asked(&self, step: u32, history: &History, durable: bool, now: &ObservedRun, book: &mut Findings) {
        if !durable {
            book.wrong("history", format!("in step {step} the model reads content that is not durable"));
        }
        self.shape(history, false, now, book);
        let answers = history.iter().filter(|message| message.answer().is_some()).count();
        if answers + 1 != step as usize {
            book.wrong("history", format!("in step {step} the model reads {answers} answers"));
        }
        let waits = |call: &CallKey| {
            let status = now.calls.values().find(|it| it.key == *call).map(|call| call.status);
            matches!(status, None | Some(ToolCallStatus::Suspended | ToolCallStatus::New))
        };
        let mut key = CallKey { step: 0, ordinal: 0 };
        for message in history.iter() {
            match message {
                Message::Assistant(_) => key = CallKey { step: key.step + 1, ordinal: 0 },
                Message::Result(_) => key.ordinal += 1,
                Message::Open(open) => {
                    if self.case.policy == SuspensionPolicy::WaitForAll {
                        book.wrong("history", format!("the model reads that {} waits", open.id()));
                    } else if !waits(&key) {
                        book.wrong("history", format!("the model reads that {key} waits, and it does not"));
                    }
                    key.ordinal += 1;
                }
                Message::User(_) => {}
            }
        }
    }

    /// After each answer one result for each call, in their order, and each equals the event of the call.
    fn shape(&self, history: &[Message], over: bool, now: &ObservedRun, book: &mut Findings) {
        let mut messages = history.iter().peekable();
        let mut step = 0;
        while let Some(message) = messages.next() {
            let Message::Assistant(turn) = message else {
                if !matches!(message, Message::User(_)) {
                    book.wrong("history", format!("a result follows no answer: {message:?}"));
                }
                continue;
            };
            step += 1;
            for (ordinal, call) in (0..).zip(&turn.calls) {
                let key = CallKey { step, ordinal };
                match messages.next_if(|next| matches!(next, Message::Result(_) | Message::Open(_))) {
                    Some(Message::Result(result)) => {
                        if (result.key, &result.id) != (key, &call.id) {
                            book.wrong("history", format!("in the place of {key} stands {:?}", result.key));
                        }
                        self.content(key, &result.content, now, book);
                    }
                    Some(Message::Open(open)) => {
                        if open.id() != call.id {
                            book.wrong(
                                "history",
                                format!("in the place of {} stands {}", call.id, open.id()),
                            );
                        }
                        if over {
                            book.wrong("history", format!("the run is over and {key} has no result"));
                        }
                    }
                    _ => book.wrong("history", format!("{key} has no result")),
                }
            }
        }
    }

    fn content(&self, key: CallKey, content: &ResultContent, now: &ObservedRun, book: &mut Findings) {
        let call = now.calls.iter().find(|(_, call)| call.key == key && key.step > 0);
        let Some((name, call)) = call.filter(|(_, call)| call.is_over()) else { return };
        // Events before a death may be repeated by the next process.
        let Some(told) = self.told.get(name) else { return };
        let same = match (told, content) {
            (
                CallOutcome::Succeeded { output, warning },
                ResultContent::Output { value, warning: warned },
            ) => output == value && warning == warned,
            (
                CallOutcome::Failed { error: told } | CallOutcome::Cancelled { reason: told, .. },
                ResultContent::Error(error),
            ) => told == error,
            _ => false,
        };
        if !same && call.is_over() {
            book.wrong(
                "history",
                format!("the result of {name} was reported as {told:?}, and the model reads {content:?}"),
            );
        }
    }
}
