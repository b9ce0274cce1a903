//! What the model was asked.

use std::sync::{Arc, Mutex, PoisonError};

use runstate::agent::{History, InferenceRequest, Message};
use serde_json::{Map, Value};

/// What the model was asked, once.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Asked {
    /// The step.
    pub step: u32,
    /// When, in milliseconds since the scenario began.
    pub at_ms: u64,
    /// The system prompt.
    pub system: Option<String>,
    /// The names of the tools that were offered.
    pub tools: Vec<String>,
    /// The parameters.
    pub parameters: Map<String, Value>,
    /// How many messages it has from the start that the request before had as well.
    pub same: usize,
    /// The messages behind those, as the model reads them.
    pub messages: Vec<Message>,
}

impl Asked {
    /// How many messages the request had.
    pub fn len(&self) -> usize {
        self.same + self.messages.len()
    }

    /// Did it have none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What the model was asked, in order. Clones share it. What it holds grows with what was said, and not with each request: of each
/// there is what the one before had not.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    all: Vec<Asked>,
    /// The messages of the last request.
    last: History,
}

impl Requests {
    /// All of it so far.
    pub fn all(&self) -> Vec<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).all.clone()
    }

    pub(super) fn note(&self, request: &InferenceRequest, at_ms: u64) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = inner.last.iter().zip(request.history.iter());
        let same = pairs.take_while(|(one, other)| is_same(one, other)).count();
        let asked = Asked {
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

/// Are they equal? Most are one message, which need not be read.
fn is_same(one: &Message, other: &Message) -> bool {
    match (one, other) {
        (Message::User(one), Message::User(other)) => Arc::ptr_eq(one, other) || one == other,
        (Message::Assistant(one), Message::Assistant(other)) => Arc::ptr_eq(one, other) || one == other,
        (Message::Result(one), Message::Result(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one == other,
    }
}
