//! The model of an agent.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::answer::ModelEvent;
use super::history::{History, Message};
use super::tool::ToolSpec;

/// The events of a model's answer.
pub type ModelStream<'a> = Pin<Box<dyn Stream<Item = ModelEvent> + Send + 'a>>;

/// A model, or a replacement for one.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{InferenceRequest, Model, ModelStream};
///
/// struct Polite;
///
/// impl Model for Polite {
///     fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
///         let text = format!("hello in step {}", request.step);
///         // The finish event is required: an answer without it is incomplete, and an error.
///         let events = [ModelEvent::Text(text), ModelEvent::Finish(FinishReason::Stop)];
///         Box::pin(futures_util::stream::iter(events))
///     }
/// }
/// ```
pub trait Model: Send + Sync {
    /// Answers the request with a stream of events.
    ///
    /// If the run is cancelled, the stream is dropped. A stream that ends without [`ModelEvent::Finish`], or panics,
    /// is a failure that ends the run.
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_>;
}

/// A request to a model. Plugins may change it before it is sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InferenceRequest {
    /// The id of the run.
    pub run: Arc<str>,
    /// The id of the thread.
    pub thread: Arc<str>,
    /// The step of the run, from 1.
    pub step: u32,
    /// The system prompt.
    pub system: Option<Arc<str>>,
    /// The messages so far.
    pub history: History,
    /// The offered tools.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Further parameters of the model, such as a temperature.
    pub parameters: Arc<Map<String, Value>>,
    /// A token that is cancelled with the run.
    pub cancelled: CancellationToken,
}

impl InferenceRequest {
    /// Creates a request with one message of the user and without tools, for a program that asks a model outside of the
    /// agent loop. `run` is the name of the request and of its thread.
    ///
    /// ```
    /// use runstate_agent::{InferenceRequest, Message};
    ///
    /// let request = InferenceRequest::of_message("judge", "is this plan safe?").with_system("Answer in JSON.");
    /// assert_eq!(request.history[..], [Message::User("is this plan safe?".into())]);
    /// assert!(request.tools.is_empty());
    /// ```
    pub fn of_message(run: impl Into<Arc<str>>, message: impl Into<Arc<str>>) -> Self {
        let run = run.into();
        let mut history = History::default();
        history.edit().push(Message::User(message.into()));
        InferenceRequest {
            thread: Arc::clone(&run),
            run,
            step: 1,
            system: None,
            history,
            tools: Arc::default(),
            parameters: Arc::default(),
            cancelled: CancellationToken::new(),
        }
    }

    /// Sets the system prompt. Default: none.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Restricts the offered tools to those for which `keep` is true. A call of another tool fails, in the answer of
    /// this step only. The restriction is committed with the answer, so it applies in any process that executes the
    /// calls.
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

/// The reason why a model did not answer.
#[derive(Debug, thiserror::Error)]
#[error("the model did not answer: {0}")]
pub struct ModelError(#[source] pub(super) Box<dyn Error + Send + Sync>);

impl ModelError {
    /// Creates an error with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        ModelError(cause.into())
    }
}
