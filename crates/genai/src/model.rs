//! A server as the model of an agent.

use std::pin::Pin;

use genai::chat::ChatMessage;
use runstate_agent::InferenceRequest;
use runstate_agent::answer::Usage;
use runstate_stream::{Opening, SourceError};
use serde_json::Value;

use crate::request::prepared;
use crate::{AnswerStream, Genai};

/// A model of a provider, as the source of sessions.
///
/// Each request sends the whole history, the tools that the request offers, and its parameters as fields of the
/// body, where they replace a field of that name. The signatures and the encrypted thinking of an answer are stored
/// with it, and sent back to this provider alone.
///
/// ```
/// use runstate_agent::Agent;
/// use runstate_agent_stream::SessionModel;
/// use runstate_genai::{Genai, GenaiModel, Provider, usage};
/// use runstate_stream::Session;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A key with a line break is refused, and not shown.
/// let server = Genai::new(Provider::ANTHROPIC, "https://api.anthropic.com/v1")?;
/// let error = server.clone().with_key("sk-ant\n-1").unwrap_err();
/// assert!(error.to_string().starts_with("the key is empty or has characters"), "{error}");
///
/// let server = server.with_key("sk-ant-1")?;
/// let claude = GenaiModel::new(server, "claude-sonnet-4-5").with_max_output(4_000);
/// let model = SessionModel::new(move |request| {
///     Session::builder(format!("{}/{}", request.run, request.step), claude.source(request)).require_complete()
/// });
/// let agent = Agent::builder(model.progress(usage)).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GenaiModel {
    server: Genai,
    model: String,
    output: Option<u32>,
}

/// An answer that is being opened.
pub type Opened = Pin<Box<dyn Future<Output = Result<AnswerStream, SourceError>> + Send>>;

const GO_ON: &str =
    "Go on with your answer exactly where it stops. Do not repeat anything and do not comment on it.";

impl GenaiModel {
    /// Creates a model of a server, by the model's name.
    ///
    /// genai reads the suffixes `-none`, `-zero`, `-minimal`, `-low`, `-medium`, `-high`, `-xhigh` and `-max` of a name
    /// as an effort of reasoning.
    pub fn new(server: Genai, model: impl Into<String>) -> Self {
        GenaiModel { server, model: model.into(), output: None }
    }

    /// Sets the most tokens of an answer. Default: none, or for Anthropic, which requires one, the most of the model
    /// as genai knows it.
    pub fn with_max_output(mut self, tokens: u32) -> Self {
        self.output = Some(tokens);
        self
    }

    /// Returns the factory of a session's stream, primary or fallback. It sends the request to the server once for
    /// each attempt, when the stream is polled first.
    ///
    /// An attempt that continues from a checkpoint sends it as the assistant's last message, followed by a user's
    /// message: the prompt of [`Continuation::prompt`](runstate_stream::Continuation::prompt), or a default one.
    pub fn source(&self, request: &InferenceRequest) -> impl FnMut(Opening) -> Opened + Send + use<> {
        let (server, model) = (self.server.clone(), self.model.clone());
        let prepared = prepared(server.provider(), request, self.output);
        move |opening| {
            let mut prepared = prepared.clone();
            if let Some(checkpoint) = &opening.checkpoint {
                let prompt = opening.prompt.as_deref().unwrap_or(GO_ON);
                let messages = [ChatMessage::assistant(&**checkpoint), ChatMessage::user(prompt)];
                prepared.chat = prepared.chat.append_messages(messages);
            }
            let (server, model) = (server.clone(), model.clone());
            Box::pin(async move { server.open(&model, prepared).await })
        }
    }
}

/// Returns the tokens that a [`StreamEvent::Progress`](runstate_stream::StreamEvent::Progress) of this crate reports,
/// for `runstate_agent_stream::SessionModel::progress`.
///
/// ```
/// use serde_json::json;
///
/// let usage = runstate_genai::usage(&json!({ "usage": { "input_tokens": 12, "output_tokens": 3 } }));
/// assert_eq!(usage.unwrap().total(), 15);
/// assert_eq!(runstate_genai::usage(&json!(0.5)), None);
/// ```
pub fn usage(progress: &Value) -> Option<Usage> {
    let usage = progress.get("usage")?;
    Some(Usage {
        input_tokens: usage.get("input_tokens")?.as_u64()?,
        output_tokens: usage.get("output_tokens")?.as_u64()?,
    })
}
