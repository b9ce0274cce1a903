//! The messages of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::state::RunState;
use crate::tool_call::AnyToolCall;
use crate::turn::Turn;

/// A message as it is stored. The results of calls are not among them: they are data of the calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// What the user wrote.
    User(String),
    /// What the model answered.
    Assistant(Turn),
}

impl Message {
    pub(super) fn answer(&self) -> Option<&Turn> {
        match self {
            Message::Assistant(turn) => Some(turn),
            Message::User(_) => None,
        }
    }
}

/// A line of the history that the model reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'a> {
    /// What the user wrote.
    User(&'a str),
    /// What the model answered.
    Assistant(&'a Turn),
    /// The one result of a call of that answer, in the order of its calls.
    Output {
        /// The id that the model gave the call.
        id: &'a str,
        /// What the tool gave.
        output: &'a Value,
        /// What there is to know about it.
        warning: Option<&'a str>,
    },
    /// The same, for a call that has no output: it failed, was cancelled, waits, or was never executed.
    Error {
        /// The id that the model gave the call.
        id: &'a str,
        /// Why there is none.
        error: &'a str,
    },
}

impl RunState {
    /// What the model reads: messages in order, and behind each answer exactly one result for each of its calls.
    pub fn history(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut step = 0;
        self.messages.iter().flat_map(move |message| {
            let (entry, calls) = match message {
                Message::User(text) => (Entry::User(text), 0),
                Message::Assistant(turn) => {
                    step += 1;
                    (Entry::Assistant(turn), turn.calls.len())
                }
            };
            let of_step = step;
            let results = self.calls_of_step(of_step).take(calls).map(|(_, call)| result(call));
            std::iter::once(entry).chain(results)
        })
    }
}

fn result(call: &AnyToolCall) -> Entry<'_> {
    let id = call.record().id();
    match call {
        AnyToolCall::Succeeded(call) => Entry::Output { id, output: call.output(), warning: call.warning() },
        AnyToolCall::Failed(call) => Entry::Error { id, error: call.error() },
        AnyToolCall::Cancelled(call) => Entry::Error { id, error: call.reason() },
        AnyToolCall::Suspended(_) | AnyToolCall::Resuming(_) => {
            Entry::Error { id, error: "waiting for a decision" }
        }
        AnyToolCall::New(_) | AnyToolCall::Running(_) => Entry::Error { id, error: "not executed" },
    }
}
