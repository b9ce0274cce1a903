//! The record of model requests.

use std::sync::{Arc, Mutex, PoisonError};

use runstate_agent::{History, InferenceRequest, Message};
use serde_json::{Map, Value};

/// One request to the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The step.
    pub step: u32,
    /// The time, in milliseconds since the scenario began.
    pub at_ms: u64,
    /// The system prompt.
    pub system: Option<String>,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The parameters.
    pub parameters: Map<String, Value>,
    /// The number of initial messages that the previous request had as well.
    pub same: usize,
    /// The further messages, as the model reads them.
    pub messages: Vec<Message>,
}

impl ModelRequest {
    /// The number of messages of the request.
    pub fn len(&self) -> usize {
        self.same + self.messages.len()
    }

    /// Is the request without messages?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The requests to the model, in order. Clones share it. Its size grows with the conversation, not with each request: each
/// entry has the messages that the previous one lacked.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    all: Vec<ModelRequest>,
    /// The messages of the last request.
    last: History,
}

impl Requests {
    /// All requests so far.
    pub fn all(&self) -> Vec<ModelRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).all.clone()
    }

    pub(super) fn note(&self, request: &InferenceRequest, at_ms: u64) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = inner.last.iter().zip(request.history.iter());
        let same = pairs.take_while(|(one, other)| is_same(one, other)).count();
        let asked = ModelRequest {
            step: request.step,
            at_ms,
            system: request.system.as_deref().map(str::to_owned),
            tools: request.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            parameters: (*request.parameters).clone(),
            same,
            messages: request.history[same..].to_vec(),
        };
        inner.all.push(asked);
        inner.last = request.history.clone();
    }
}

/// Are they equal? Most share their memory, and need no comparison.
fn is_same(one: &Message, other: &Message) -> bool {
    match (one, other) {
        (Message::User(one), Message::User(other)) => Arc::ptr_eq(one, other) || one == other,
        (Message::Assistant(one), Message::Assistant(other)) => Arc::ptr_eq(one, other) || one == other,
        (Message::Result(one), Message::Result(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one == other,
    }
}
