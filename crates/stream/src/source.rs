//! Sources of tokens.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::TryStreamExt;
use runstate::stream_session::Attempt;
use runstate::turn::{Extra, FinishReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SourceError;

/// One event of a model's stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// A piece of the text. An empty piece is ignored.
    Token(String),
    /// A message beside the text.
    Message(Box<Message>),
    /// A piece of the model's reasoning. It is not output: an attempt with only reasoning has zero
    /// output. It resets the time limits.
    Reasoning(String),
    /// Part of a larger event, such as a piece of a tool call. It resets the time limits, and the session emits
    /// no event for it.
    Alive,
    /// A request for a tool.
    ToolCall(Box<ToolCall>),
    /// A piece of the provider's own data of the answer. It is not output. It resets the time limits.
    Extra(Extra),
    /// A part that is not text: an image, a file, structured data.
    Data(Value),
    /// The progress of the model. It is not output, and does not reset the time limits.
    Progress(Value),
    /// A failure, reported as an event. It has the effect of an `Err`.
    Error(SourceError),
    /// The reason for which the model stopped. The session has a policy for each: [`OnFinish`](super::OnFinish).
    Finish(FinishReason),
    /// The end of the output. A stream may also end without it, unless
    /// [`require_complete`](super::SessionBuilder::require_complete) is set.
    Complete,
}

impl StreamEvent {
    /// Creates a piece of the text.
    pub fn token(text: impl Into<String>) -> Self {
        StreamEvent::Token(text.into())
    }

    /// Creates a message beside the text.
    pub fn message(role: impl Into<String>, content: impl Into<String>) -> Self {
        StreamEvent::Message(Box::new(Message { role: role.into(), content: content.into() }))
    }

    /// Creates a request for a tool.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        let (id, name) = (id.into(), name.into());
        StreamEvent::ToolCall(Box::new(ToolCall {
            id,
            name,
            arguments,
            unreadable: None,
            extra: Extra::default(),
        }))
    }

    /// Creates a request for a tool with arguments that are not JSON. An agent does not execute it; the model
    /// receives `why`.
    pub fn unreadable_call(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        let (id, name, arguments) = (id.into(), name.into(), Value::String(arguments.into()));
        let (unreadable, extra) = (Some(why.into()), Extra::default());
        StreamEvent::ToolCall(Box::new(ToolCall { id, name, arguments, unreadable, extra }))
    }
}

/// A message beside the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The author of the message, such as `assistant` or `system`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// A request of the model for a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    #[serde(rename = "toolName")]
    pub name: String,
    /// The arguments of the call.
    #[serde(rename = "args")]
    pub arguments: Value,
    /// The reason if the arguments are not JSON. `arguments` is then the unchanged text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The provider's own data of the call.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl ToolCall {
    /// Returns the arguments as the model's text, or as an equivalent JSON text.
    pub fn arguments_text(&self) -> String {
        match (&self.unreadable, &self.arguments) {
            (Some(_), Value::String(text)) => text.clone(),
            (_, arguments) => arguments.to_string(),
        }
    }
}

/// Argument of a factory: the attempt that needs a stream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Opening {
    /// The attempt, with the number of its stream.
    pub attempt: Attempt,
    /// The checkpoint that the attempt continues from; none if it starts from the beginning.
    pub checkpoint: Option<Arc<str>>,
    /// The prompt that [`Continuation::prompt`](super::Continuation::prompt) made from the checkpoint.
    pub prompt: Option<String>,
}

/// A source in the form in which a session reads it.
pub type BoxSource = Pin<Box<dyn Stream<Item = Result<StreamEvent, SourceError>> + Send>>;

/// A source that is being opened.
pub(super) type OpenFuture = Pin<Box<dyn Future<Output = Result<BoxSource, SourceError>> + Send>>;

/// Factory that opens a source for each attempt.
pub(super) type Factory = Box<dyn FnMut(Opening) -> OpenFuture + Send>;

/// Converts any factory into the type that a session keeps.
pub(super) fn factory<F, Fut, S, E, O>(mut open: F) -> Factory
where
    F: FnMut(Opening) -> Fut + Send + 'static,
    Fut: Future<Output = Result<S, O>> + Send + 'static,
    S: Stream<Item = Result<StreamEvent, E>> + Send + 'static,
    E: Into<SourceError> + 'static,
    O: Into<SourceError>,
{
    Box::new(move |opening| {
        let opened = open(opening);
        Box::pin(async move {
            let source = opened.await.map_err(Into::into)?;
            Ok(Box::pin(source.map_err(Into::into)) as BoxSource)
        })
    })
}
