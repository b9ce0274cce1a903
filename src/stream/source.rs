//! Where tokens come from.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SourceError;
use crate::stream_session::Attempt;
use crate::turn::{Extra, FinishReason};

/// One thing that a model's stream gives.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// A piece of the text. An empty one is nothing, and is passed over.
    Token(String),
    /// A message beside the text.
    Message(Box<Message>),
    /// A piece of the model's reasoning. It is no output: an attempt without more has given nothing.
    Reasoning(String),
    /// A piece came that is no event by itself, such as one of a tool call. It holds off the limits of time, and is not told.
    Alive,
    /// The model asks for a tool.
    ToolCall(Box<ToolCall>),
    /// A piece of the provider's own data of the answer. It is no output.
    Extra(Extra),
    /// A part that is no text: an image, a file, structured data.
    Data(Value),
    /// How far the model is. No output: it does not hold off a timeout.
    Progress(Value),
    /// The stream reports a failure as one of its events; it is the same as an `Err`.
    Error(SourceError),
    /// The reason for which the model stopped. The session has a policy for each: [`OnFinish`](super::OnFinish).
    Finish(FinishReason),
    /// The output is whole. A stream may also just end, unless
    /// [`require_complete`](super::SessionBuilder::require_complete) says that it must not.
    Complete,
}

impl StreamEvent {
    /// A piece of the text.
    pub fn token(text: impl Into<String>) -> Self {
        StreamEvent::Token(text.into())
    }

    /// A message beside the text.
    pub fn message(role: impl Into<String>, content: impl Into<String>) -> Self {
        StreamEvent::Message(Box::new(Message { role: role.into(), content: content.into() }))
    }

    /// The model asks for a tool.
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

    /// The model asks for a tool with arguments that are no JSON. An agent does not execute it: the model reads why.
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
    /// Who says it: `assistant`, `system`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// A tool that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The tool.
    #[serde(rename = "toolName")]
    pub name: String,
    /// Its arguments.
    #[serde(rename = "args")]
    pub arguments: Value,
    /// Why its arguments are no JSON, if they are none; they are the text then, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The provider's own data of the call.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl ToolCall {
    /// Its arguments as the text that the model gave, or one of the same meaning.
    pub fn arguments_text(&self) -> String {
        match (&self.unreadable, &self.arguments) {
            (Some(_), Value::String(text)) => text.clone(),
            (_, arguments) => arguments.to_string(),
        }
    }
}

/// What a factory is told of the attempt that it opens a stream for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Opening {
    /// Which attempt on which stream.
    pub attempt: Attempt,
    /// The checkpoint that the attempt goes on from; none when it starts afresh.
    pub checkpoint: Option<Arc<str>>,
    /// The prompt that [`Continuation::prompt`](super::Continuation::prompt) made of the checkpoint.
    pub prompt: Option<String>,
}

/// A stream as a session reads it.
pub type BoxSource = Pin<Box<dyn Stream<Item = Result<StreamEvent, SourceError>> + Send>>;

/// A stream that is being opened.
pub(super) type OpenFuture = Pin<Box<dyn Future<Output = Result<BoxSource, SourceError>> + Send>>;

/// Opens a stream for each attempt.
pub(super) type Factory = Box<dyn FnMut(Opening) -> OpenFuture + Send>;

/// Any factory as the one kind that a session keeps.
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
