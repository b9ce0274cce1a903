//! The frames of a stream, watched for the data that genai's events leave out: errors, usage, reasons, reasoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use runstate_agent::answer::Usage;
use runstate_stream::for_adapters::{ErrorObject, Secrets, shown};
use runstate_stream::{ErrorKind, SourceError};
use serde_json::{Value, json};

use crate::Provider;

/// Limit on the data of one frame, and on the data of all frames of an answer, in bytes.
const MOST_BYTES: usize = 8 << 20;
const MOST_OF_ALL: usize = 64 << 20;

/// The watch over one stream.
#[derive(Debug)]
pub(crate) struct Watch {
    provider: Provider,
    seen: Mutex<Seen>,
}

/// Data of the frames so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Number of frames, comments included.
    pub(crate) frames: u64,
    bytes: usize,
    /// The tokens, as the server counted them last.
    pub(crate) usage: Option<Usage>,
    /// The reason of the server, where genai's is less exact.
    pub(crate) reason: Option<String>,
    /// The error that ends the answer.
    pub(crate) error: Option<SourceError>,
    /// The items of reasoning of Responses, and the signatures of Gemini's texts.
    pub(crate) thinking: Vec<Value>,
    refusal: String,
    /// Texts that the server must not give back. They are withheld here where a message has a part of a text alone.
    secrets: Secrets,
}

impl Watch {
    pub(crate) fn new(provider: Provider, secrets: Secrets) -> Self {
        Watch { provider, seen: Mutex::new(Seen { secrets, ..Seen::default() }) }
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Watch {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut seen = self.seen();
        seen.frames += 1;
        let data = frame.data.trim();
        // A comment, or the end of a stream of chat completions.
        if data.is_empty() || data == "[DONE]" {
            return;
        }
        seen.bytes = seen.bytes.saturating_add(data.len());
        if data.len() > MOST_BYTES || seen.bytes > MOST_OF_ALL {
            let message = format!(
                "the answer is too long: expected at most {MOST_BYTES} bytes in one event and {MOST_OF_ALL} bytes in all"
            );
            return seen.fail(SourceError::new(ErrorKind::Model, message));
        }
        let value: Value = match runstate::json::from_str(data) {
            Ok(value) => value,
            Err(error) => {
                let begins: String = seen.secrets.withheld(data).chars().take(60).collect();
                let message = format!("the server sent a malformed piece of an answer: {begins:?}");
                return seen.fail(SourceError::new(ErrorKind::Model, message).caused_by(error));
            }
        };
        match self.provider {
            Provider::ANTHROPIC => seen.messages(frame.event, &value),
            Provider::GEMINI => seen.gemini(&value),
            Provider::RESPONSES => seen.responses(value),
            _ => {}
        }
    }
}

impl Seen {
    fn fail(&mut self, error: SourceError) {
        self.error.get_or_insert(error);
    }

    /// Notes an error of the server. A filter is the reason of an end, not a failure.
    fn told(&mut self, error: &Value) {
        let error = ErrorObject::of(&self.secrets.withheld_value(error.clone()));
        if error.is_of_a_filter() {
            self.reason = Some("content_filter".to_owned());
            return;
        }
        self.fail(error.into_source_error(ErrorKind::ServerError));
    }

    fn messages(&mut self, event: Option<&str>, data: &Value) {
        let kind = data["type"].as_str();
        if event.is_none() || event != kind {
            let message = format!("an event of the answer lost its name: got {event:?}, expected {kind:?}");
            return self.fail(SourceError::new(ErrorKind::Network, message));
        }
        let usage = match kind {
            Some("error") => return self.told(&data["error"]),
            Some("message_start") => &data["message"]["usage"],
            Some("message_delta") => &data["usage"],
            _ => return,
        };
        let known = self.usage.unwrap_or(Usage { input_tokens: 0, output_tokens: 0 });
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let has_input = usage["input_tokens"].is_u64();
        let input_tokens = input.iter().filter_map(|field| usage[*field].as_u64()).sum();
        let input_tokens = if has_input { input_tokens } else { known.input_tokens };
        let output_tokens = usage["output_tokens"].as_u64().unwrap_or(known.output_tokens);
        if usage.is_object() {
            self.usage = Some(Usage { input_tokens, output_tokens });
        }
    }

    fn gemini(&mut self, data: &Value) {
        if data["error"].is_object() {
            return self.told(&data["error"]);
        }
        if data["promptFeedback"]["blockReason"].is_string() {
            self.reason = Some("content_filter".to_owned());
        }
        let sum =
            |usage: &Value, fields: &[&str]| fields.iter().filter_map(|field| usage[*field].as_u64()).sum();
        let usage = &data["usageMetadata"];
        if usage.is_object() {
            self.usage = Some(Usage {
                input_tokens: sum(usage, &["promptTokenCount", "toolUsePromptTokenCount"]),
                output_tokens: sum(usage, &["candidatesTokenCount", "thoughtsTokenCount"]),
            });
        }
        let parts = data["candidates"][0]["content"]["parts"].as_array();
        for part in parts.into_iter().flatten().filter(|part| part["functionCall"].is_null()) {
            if let Some(signature) = part["thoughtSignature"].as_str() {
                self.thinking.push(json!({ "type": "signature", "signature": signature }));
            }
        }
    }

    fn responses(&mut self, mut data: Value) {
        match data["type"].as_str() {
            Some("error") => {
                return self.told(data.get("error").filter(|error| error.is_object()).unwrap_or(&data));
            }
            Some("response.refusal.delta") if self.refusal.len() < MOST_BYTES => {
                self.refusal.push_str(data["delta"].as_str().unwrap_or_default());
            }
            Some("response.output_item.done") if data["item"]["type"] == "reasoning" => {
                self.thinking.push(data["item"].take());
            }
            _ => {}
        }
        let response = &data["response"];
        let usage = &response["usage"];
        if usage.is_object() {
            self.usage = Some(Usage {
                input_tokens: usage["input_tokens"].as_u64().unwrap_or_default(),
                output_tokens: usage["output_tokens"].as_u64().unwrap_or_default(),
            });
        }
        match data["type"].as_str() {
            Some("response.failed") => {
                let error = response["error"].clone();
                self.told(&error);
            }
            Some("response.incomplete") => {
                let reason = response["incomplete_details"]["reason"].as_str().unwrap_or("incomplete");
                self.reason = Some(reason.to_owned());
            }
            Some("response.completed") if !self.refusal.is_empty() => {
                let message = format!("the model refuses: {}", shown(&self.secrets.withheld(&self.refusal)));
                self.fail(SourceError::new(ErrorKind::Model, message));
            }
            _ => {}
        }
    }
}
