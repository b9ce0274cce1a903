//! The messages of a thread, as a model reads them.

use std::ops::Deref;
use std::sync::Arc;

use runstate::tool_call::CallKey;
use runstate::turn::Turn;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message of a thread. Messages are shared: a clone copies a pointer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// A message of the user.
    User(Arc<str>),
    /// An answer of the model.
    Assistant(Arc<Turn>),
    /// The result of one call of an answer. Each call has one.
    Result(Arc<CallResult>),
    /// A placeholder for a missing result. It is part of requests to the model, and never stored.
    #[serde(skip)]
    Open(OpenCall),
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallResult {
    /// The position of the call in its run.
    pub key: CallKey,
    /// The id that the model gave the call.
    pub id: String,
    /// The content of the result.
    pub content: ResultContent,
}

/// The content of a call's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ResultContent {
    /// The tool returned an output.
    Output {
        /// The output.
        value: Value,
        /// A warning about the output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    },
    /// The call failed, was cancelled, or was never executed. The text is the reason.
    Error(String),
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    pub(super) turn: Arc<Turn>,
    pub(super) ordinal: u32,
    pub(super) why: &'static str,
}

impl OpenCall {
    pub(super) fn new(turn: Arc<Turn>, ordinal: u32, why: &'static str) -> Self {
        OpenCall { turn, ordinal, why }
    }

    /// The id that the model gave the call.
    pub fn id(&self) -> &str {
        &self.turn.calls[self.ordinal as usize].id
    }

    /// The reason why the result is missing.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

impl Message {
    /// The answer, if this is an answer.
    pub fn answer(&self) -> Option<&Arc<Turn>> {
        match self {
            Message::Assistant(turn) => Some(turn),
            Message::User(_) | Message::Result(_) | Message::Open(_) => None,
        }
    }
}

/// The messages of a thread, in the order in which a model reads them. After each answer there is exactly one result
/// for each of its calls, in call order.
///
/// A clone shares the list. If a clone is kept while the run continues, the list is copied once; the messages are not
/// copied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Message>>,
}

impl Deref for History {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

impl History {
    /// Returns the list for changes. A plugin may change the messages of one request; the thread does not change.
    pub fn edit(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    /// Adds a message. Returns its position.
    pub(super) fn push(&mut self, message: Message) -> usize {
        let messages = self.edit();
        messages.push(message);
        messages.len() - 1
    }

    pub(super) fn set(&mut self, place: usize, message: Message) {
        self.edit()[place] = message;
    }

    /// Returns whether the result at the position is missing.
    pub(super) fn is_open(&self, place: usize) -> bool {
        matches!(self.messages.get(place), Some(Message::Open(_)))
    }

    /// The stored messages.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| !matches!(message, Message::Open(_)))
    }
}
