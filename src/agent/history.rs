//! What was said: the messages of a thread, as a model reads them.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool_call::CallKey;
use crate::turn::Turn;

/// A message of a thread. Messages are shared, never copied: cloning one copies a pointer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// What the user wrote.
    User(Arc<str>),
    /// What the model answered.
    Assistant(Arc<Turn>),
    /// The one result of a call of an answer.
    Result(Arc<CallResult>),
    /// In the place of a result that is not there yet. Never stored: the request to the model has it.
    #[serde(skip)]
    Open(OpenCall),
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallResult {
    /// The call's place in its run.
    pub key: CallKey,
    /// The id that the model gave the call.
    pub id: String,
    /// What came of it.
    pub content: ResultContent,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ResultContent {
    /// What the tool gave.
    Output {
        /// The output.
        value: Value,
        /// What there is to know about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    },
    /// Why there is no output: it failed, was cancelled, or was never executed.
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

    /// Why there is none yet.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

impl Message {
    /// The answer, if it is one.
    pub fn answer(&self) -> Option<&Arc<Turn>> {
        match self {
            Message::Assistant(turn) => Some(turn),
            Message::User(_) | Message::Result(_) | Message::Open(_) => None,
        }
    }
}

/// The messages of a thread in the order in which a model reads them: behind each answer exactly one result for each of
/// its calls, in their order.
///
/// Cloning shares it. A clone that is kept while the run goes on costs one copy of the list, not of the messages.
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
    /// Changes what one request shows: a plugin may. The thread is not changed.
    pub fn edit(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    /// Adds a message; says at which place.
    pub(super) fn push(&mut self, message: Message) -> usize {
        let messages = self.edit();
        messages.push(message);
        messages.len() - 1
    }

    pub(super) fn set(&mut self, place: usize, message: Message) {
        self.edit()[place] = message;
    }

    /// Is there no result at the place yet?
    pub(super) fn is_open(&self, place: usize) -> bool {
        matches!(self.messages.get(place), Some(Message::Open(_)))
    }

    /// What is stored of it.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| !matches!(message, Message::Open(_)))
    }
}
