//! What answers.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::answer::ModelEvent;
use super::history::History;
use super::tool::ToolSpec;

/// What a model says, as it says it.
pub type ModelStream<'a> = Pin<Box<dyn Stream<Item = ModelEvent> + Send + 'a>>;

/// A model, or what stands in for one.
///
/// ```
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{InferenceRequest, Model, ModelStream};
///
/// struct Polite;
///
/// impl Model for Polite {
///     fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
///         let text = format!("hello in step {}", request.step);
///         // Without the last event the answer would be an error: a line that was cut is no answer.
///         let events = [ModelEvent::Text(text), ModelEvent::Finish(FinishReason::Stop)];
///         Box::pin(futures_util::stream::iter(events))
///     }
/// }
/// ```
pub trait Model: Send + Sync {
    /// Answers to the request, event by event.
    ///
    /// The stream is dropped when the run is cancelled. One that ends without [`ModelEvent::Finish`], or that panics, is a
    /// failure, and the run ends with it.
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_>;
}

/// What a model is asked (document 000, "LLM_CALL"). Plugins change it before it is sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InferenceRequest {
    /// The run.
    pub run: Arc<str>,
    /// The thread.
    pub thread: Arc<str>,
    /// The step of the run, from 1.
    pub step: u32,
    /// The system prompt.
    pub system: Option<Arc<str>>,
    /// What was said so far.
    pub history: History,
    /// The tools that are offered.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Further parameters of the model, such as a temperature.
    pub parameters: Arc<Map<String, Value>>,
    /// Cancelled with the run.
    pub cancelled: CancellationToken,
}

impl InferenceRequest {
    /// Offers only these of the tools that were offered. A call of another one fails, in this step's answer and in no other's;
    /// whichever process gates it, since what a step offered is committed with its answer.
    pub fn offer_only(&mut self, mut keep: impl FnMut(&ToolSpec) -> bool) {
        if self.tools.iter().any(|tool| !keep(tool)) {
            self.tools = self.tools.iter().filter(|tool| keep(tool)).cloned().collect();
        }
    }

    /// Sets one parameter.
    pub fn set_parameter(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        Arc::make_mut(&mut self.parameters).insert(name.into(), value.into());
    }
}

/// Why a model did not answer.
#[derive(Debug)]
pub struct ModelError(Box<dyn Error + Send + Sync>);

impl ModelError {
    /// It failed because of this.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        ModelError(cause.into())
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model did not answer: {}", self.0)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
