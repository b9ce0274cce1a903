//! A server as the model of an agent.

use std::pin::Pin;

use futures_util::{StreamExt, stream};
use runstate::turn::{Extra, Turn};
use runstate_agent::answer::{FinishReason, ModelEvent, Usage};
use runstate_agent::{InferenceRequest, Message, Model, ModelError, ModelStream, ResultContent};
use runstate_stream::for_adapters::{CallIds, parameters};
use runstate_stream::{ErrorKind, Opening, SourceError, StreamEvent};
use serde_json::{Value, json};

use crate::chunk::{BLOCKS, CONTENT};
use crate::{Chat, ChatStream, OpenAi};

/// A model of an OpenAI-compatible server, for [`runstate_agent`].
///
/// Each request sends the whole history, the tools that the request offers, and its parameters as fields. A
/// failure of the server is a [`ModelEvent::Error`] and ends the run. [`source`](Self::source) allows retries.
///
/// The model stores the fields `extra_content`, `reasoning_details` and `thinking_blocks` of an answer and of
/// its calls, and sends them back unchanged. They hold signatures of thinking, without which some models refuse
/// the next step of a tool call. [`keep`](Self::keep) adds fields, and [`keep_only`](Self::keep_only) replaces
/// them. A field that this model does not keep is not sent either. A content that is a list with thinking
/// (Mistral) is stored and sent back as that list. Blocks and parts that come in pieces are joined.
///
/// ```
/// use runstate_agent::Agent;
/// use runstate_openai::{OpenAi, OpenAiModel};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = OpenAi::new("http://127.0.0.1:4010/v1")?;
/// let agent = Agent::builder(OpenAiModel::new(server, "gpt-5")).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenAiModel {
    server: OpenAi,
    model: String,
    kept: Vec<String>,
}

/// The provider's own data, by the field names of known servers.
const KEPT: [&str; 4] = ["extra_content", "reasoning_details", BLOCKS, CONTENT];

impl OpenAiModel {
    /// Creates a model of a server, by the model's name.
    pub fn new(server: OpenAi, model: impl Into<String>) -> Self {
        OpenAiModel { server, model: model.into(), kept: KEPT.map(str::to_owned).into() }
    }

    /// Adds a field that is stored and sent back, such as `reasoning_content` for a server that requires it.
    pub fn keep(mut self, field: impl Into<String>) -> Self {
        self.kept.push(field.into());
        self
    }

    /// Sets the fields that are stored and sent back, in place of the default ones. A server of another provider
    /// may refuse fields that it did not write, so a fallback to it keeps none.
    ///
    /// ```
    /// use runstate_openai::{OpenAi, OpenAiModel};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let router = OpenAiModel::new(OpenAi::new("http://127.0.0.1:4010/v1")?, "router/gemini");
    /// let other = OpenAiModel::new(OpenAi::new("http://127.0.0.1:4011/v1")?, "gpt-5").keep_only([]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_only<'f>(mut self, fields: impl IntoIterator<Item = &'f str>) -> Self {
        self.kept = fields.into_iter().map(str::to_owned).collect();
        self
    }

    /// Returns the factory of a session's stream, primary or fallback. It sends the request to the server once
    /// for each attempt.
    ///
    /// An attempt that continues from a checkpoint sends it as the assistant's last message, followed by a
    /// user's message: the prompt of [`Continuation::prompt`](runstate_stream::Continuation::prompt), or the
    /// prompt of [`Chat::go_on_from`].
    ///
    /// ```
    /// use runstate_agent::Agent;
    /// use runstate_agent_stream::SessionModel;
    /// use runstate_stream::Session;
    /// use runstate_guardrails::{PatternKind, Patterns, Severity};
    /// use runstate_openai::{OpenAi, OpenAiModel, usage};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = OpenAi::new("http://127.0.0.1:4010/v1")?;
    /// let (large, small) = (OpenAiModel::new(server.clone(), "gpt-5"), OpenAiModel::new(server, "gpt-5-mini"));
    /// let model = SessionModel::new(move |request| {
    ///     Session::builder(format!("{}/{}", request.run, request.step), large.source(request))
    ///         .fallback(small.source(request))
    ///         .guardrail(Patterns::of([PatternKind::Refusal]).severity(PatternKind::Refusal, Severity::Error))
    ///         .require_complete()
    /// });
    /// let agent = Agent::builder(model.progress(usage)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn source(&self, request: &InferenceRequest) -> impl FnMut(Opening) -> Opened + Send + use<> {
        let (server, chat) = (self.server.clone(), self.chat(request));
        move |opening| {
            let mut chat = chat.clone();
            if let Some(checkpoint) = &opening.checkpoint {
                chat = match opening.prompt {
                    Some(prompt) => chat.assistant(&**checkpoint).user(prompt),
                    None => chat.go_on_from(checkpoint),
                };
            }
            let server = server.clone();
            Box::pin(async move { server.stream(&chat).await })
        }
    }

    fn chat(&self, request: &InferenceRequest) -> Chat {
        let mut chat = Chat::new(&self.model).with("stream_options", json!({ "include_usage": true }));
        chat = self.kept.iter().fold(chat, Chat::keep);
        for (field, value) in &*request.parameters {
            chat = chat.with(field, value.clone());
        }
        for tool in &*request.tools {
            let schema = parameters(tool.schema());
            chat = chat.tool(tool.name(), tool.description(), schema);
        }
        if let Some(system) = &request.system {
            chat = chat.system(&**system);
        }
        let mut ids = CallIds::default();
        request
            .history
            .iter()
            .fold(chat, |chat, message| chat.message(message_of(message, &self.kept, &mut ids)))
    }
}

/// An answer that is being opened.
pub type Opened = Pin<Box<dyn Future<Output = Result<ChatStream, SourceError>> + Send>>;

/// Returns the tokens that a [`StreamEvent::Progress`] of this crate reports, for
/// `runstate_agent_stream::SessionModel::progress`.
///
/// ```
/// use serde_json::json;
///
/// let usage = runstate_openai::usage(&json!({ "usage": { "prompt_tokens": 12, "completion_tokens": 3 } }));
/// assert_eq!(usage.unwrap().total(), 15);
/// assert_eq!(runstate_openai::usage(&json!(0.5)), None);
/// ```
pub fn usage(progress: &Value) -> Option<Usage> {
    let usage = progress.get("usage")?;
    let tokens = |field: &str| usage[field].as_u64().unwrap_or_default();
    Some(Usage { input_tokens: tokens("prompt_tokens"), output_tokens: tokens("completion_tokens") })
}

impl Model for OpenAiModel {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let chat = self.chat(&request);
        let opened = stream::once(async move { self.server.stream(&chat).await });
        let events = opened.flat_map(|opened| match opened {
            Ok(events) => events.left_stream(),
            Err(error) => stream::once(async { Err(error) }).right_stream(),
        });
        let mut given = Given::default();
        Box::pin(events.flat_map(move |event| stream::iter(events_of(event, &mut given))))
    }
}

const CUT: &str = "the answer was cut at its limit on length; raise `max_tokens`, or use a session that accepts it or goes on (`Session::on_finish`)";

/// The part of an answer that was passed on.
#[derive(Default)]
struct Given {
    calls: u32,
    is_finished: bool,
}

fn events_of(event: Result<StreamEvent, SourceError>, given: &mut Given) -> Vec<ModelEvent> {
    match event {
        Ok(StreamEvent::Token(text)) => vec![ModelEvent::Text(text)],
        Ok(StreamEvent::ToolCall(call)) => {
            let index = given.calls;
            given.calls += 1;
            let arguments = ModelEvent::Arguments { index, delta: call.arguments_text() };
            let extra = ModelEvent::Extra { index: Some(index), extra: call.extra };
            vec![ModelEvent::CallStart { index, id: call.id, tool: call.name }, arguments, extra]
        }
        Ok(StreamEvent::Extra(extra)) => vec![ModelEvent::Extra { index: None, extra }],
        Ok(StreamEvent::Progress(progress)) => usage(&progress).map(ModelEvent::Usage).into_iter().collect(),
        Ok(StreamEvent::Finish(FinishReason::ContentFilter)) => {
            given.is_finished = true;
            let error = SourceError::new(ErrorKind::Model, "the server's filter stopped the answer");
            vec![ModelEvent::Error(ModelError::new(error))]
        }
        // An answer that was cut may be half of its meaning, and so may its calls.
        Ok(StreamEvent::Finish(FinishReason::Length)) => {
            given.is_finished = true;
            let error = SourceError::new(ErrorKind::Model, CUT);
            vec![ModelEvent::Error(ModelError::new(error))]
        }
        Ok(StreamEvent::Finish(reason)) => {
            given.is_finished = true;
            vec![ModelEvent::Finish(reason)]
        }
        Ok(StreamEvent::Complete) if !given.is_finished => vec![ModelEvent::Finish(FinishReason::Unknown)],
        Ok(_) => Vec::new(),
        Err(error) => vec![ModelEvent::Error(ModelError::new(error))],
    }
}

fn message_of(message: &Message, kept: &[String], ids: &mut CallIds) -> Value {
    let mut answered = |id: &str| ids.result(id).unwrap_or_else(|| id.to_owned());
    match message {
        Message::User(text) => json!({ "role": "user", "content": &**text }),
        Message::Assistant(turn) => assistant(turn, kept, ids),
        Message::Result(result) => {
            let content = match &result.content {
                ResultContent::Output { value: Value::String(text), .. } => text.clone(),
                ResultContent::Output { value, .. } => value.to_string(),
                ResultContent::Error(error) => format!("error: {error}"),
            };
            json!({ "role": "tool", "tool_call_id": answered(&result.id), "content": content })
        }
        Message::Open(open) => {
            json!({ "role": "tool", "tool_call_id": answered(open.id()), "content": open.why() })
        }
    }
}

fn assistant(turn: &Turn, kept: &[String], ids: &mut CallIds) -> Value {
    ids.answer();
    let mut message = json!({ "role": "assistant", "content": turn.text });
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            // A server refuses arguments that are no object, and the model must see its mistake.
            let arguments = match (&call.unreadable, &call.arguments) {
                (None, arguments @ Value::Object(_)) => arguments.to_string(),
                (_, arguments) => json!({ "unreadable": arguments }).to_string(),
            };
            let function = json!({ "name": call.tool, "arguments": arguments });
            with(
                json!({ "id": ids.call(&call.id, &call.id), "type": "function", "function": function }),
                &call.extra,
                kept,
            )
        });
        message["tool_calls"] = calls.collect();
    }
    let is_kept = kept.iter().any(|field| field == CONTENT);
    if let Some(Value::Array(parts)) = turn.extra.fields().get(CONTENT).filter(|_| is_kept) {
        message[CONTENT] = content(parts, &turn.text);
    }
    with(message, &turn.extra, kept)
}

/// Builds the parts of a content. If the text of the turn differs from theirs, it follows the thinking.
fn content(parts: &[Value], text: &str) -> Value {
    let text_of = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    if parts.iter().filter_map(text_of).collect::<String>() == text {
        return parts.to_vec().into();
    }
    let thinking = parts.iter().filter(|part| text_of(part).is_none()).cloned();
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    thinking.chain(text).collect()
}

/// Adds the provider's own data, of the kept fields. It replaces no field.
fn with(mut object: Value, extra: &Extra, kept: &[String]) -> Value {
    let is_sent = |field: &String| kept.contains(field) && KEPT_OUT.iter().all(|out| out != field);
    for (field, value) in extra.fields().iter().filter(|(field, _)| is_sent(field)) {
        object[field] = value.clone();
    }
    object
}

/// Fields with another meaning in a request.
const KEPT_OUT: [&str; 6] = ["role", "content", "tool_calls", "id", "type", "function"];
