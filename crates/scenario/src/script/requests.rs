//! What the model was asked.

use std::sync::{Arc, Mutex, PoisonError};

use runstate::agent::{InferenceRequest, Message};
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
    /// The messages, as the model reads them.
    pub messages: Vec<Message>,
}

/// What the model was asked, in order. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Mutex<Vec<Asked>>>);

impl Requests {
    /// All of it so far.
    pub fn all(&self) -> Vec<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn note(&self, request: &InferenceRequest, at_ms: u64) {
        let asked = Asked {
            step: request.step,
            at_ms,
            system: request.system.as_deref().map(str::to_owned),
            tools: request.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            parameters: (*request.parameters).clone(),
            messages: request.history.to_vec(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }
}
