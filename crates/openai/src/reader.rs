//! Conversion of chunks to events, without a connection.

use std::collections::VecDeque;

use runstate::turn::Extra;
use runstate_stream::for_adapters::{ErrorObject, Secrets, shown};
use runstate_stream::{ErrorKind, FinishReason, SourceError, StreamEvent};
use serde_json::{Map, Value, json};

use crate::Chat;
use crate::calls::{Calls, MOST_BYTES};
use crate::chunk::{BLOCKS, CONTENT, Choice, Chunk, Delta, ThoughtIn};
use crate::parts::{Parts, is_blank};

type Event = Result<StreamEvent, SourceError>;

/// Limit on the id of an answer, in bytes.
const MOST_OF_AN_ID: usize = 1024;

/// Reader of the data of successive events.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    answer: String,
    calls: Calls,
    /// The number of calls in the request.
    earlier_calls: usize,
    /// The fields of messages and calls that are passed on unchanged.
    kept: Vec<String>,
    kept_bytes: usize,
    blocks: Parts,
    content: Parts,
    /// The place of the answer's thinking. A server with two places sends the thinking twice.
    thinks_in: Option<ThoughtIn>,
    refusal: String,
    /// Bytes of text and thinking so far.
    told: usize,
    /// The finish reason that the server sent last. Some servers send it with each piece. A reason that tells of
    /// a cut stays, because some proxies send a `stop` of their own after it.
    reason: Option<String>,
    /// Whether text or a call came with the reason, or after it. More may then follow.
    is_early: bool,
    /// The last usage that the server sent. Some servers send it with each chunk.
    usage: Option<Value>,
    /// Texts that the server must not give back. They are withheld here where a message has a part of a text alone.
    secrets: Secrets,
    /// Number of pieces of text and calls.
    pub(crate) pieces: u64,
    pub(crate) ready: VecDeque<Event>,
    /// Whether the last event is in `ready`, or was taken from it.
    pub(crate) over: bool,
}

impl Reader {
    /// Creates the reader of the answer to a chat.
    pub(crate) fn of(chat: &Chat, secrets: Secrets) -> Self {
        Reader { kept: chat.kept().to_vec(), earlier_calls: chat.calls(), secrets, ..Reader::default() }
    }

    /// Takes the kept fields. Servers write an empty one with each piece.
    fn extra(&mut self, more: &mut Map<String, Value>) -> Result<Extra, SourceError> {
        let kept = self.kept.iter().filter_map(|field| more.remove_entry(field));
        let extra: Extra = kept.filter(|(_, value)| !is_blank(value)).collect();
        let bytes = extra.fields().iter().map(|(field, value)| field.len() + value.to_string().len());
        self.keep(bytes.sum())?;
        Ok(extra)
    }

    /// Returns whether the field is kept.
    fn keeps(&self, field: &str) -> bool {
        self.kept.iter().any(|kept| kept == field)
    }

    /// Counts bytes of the kept fields.
    fn keep(&mut self, bytes: usize) -> Result<(), SourceError> {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        if self.kept_bytes > MOST_BYTES {
            let fields = self.kept.join(", ");
            let message =
                format!("the kept fields of an answer ({fields}) are longer than {MOST_BYTES} bytes");
            return Err(SourceError::new(ErrorKind::Model, message));
        }
        Ok(())
    }

    /// Reports the thinking of a piece once, from any place, and joins its parts.
    fn think(&mut self, delta: &mut Delta, text: &str) -> Result<(), SourceError> {
        let thought = delta.thought(self.thinks_in);
        let is_told = thought.is_some();
        if let Some((place, thought)) = thought {
            self.thinks_in = Some(place);
            self.count(&thought)?;
            self.ready.push_back(Ok(StreamEvent::Reasoning(thought)));
        }
        let calls = !delta.tool_calls.is_empty() || delta.function_call.is_some();
        let blocks = delta.take_blocks();
        if !blocks.is_empty() && !is_told {
            // A signature has no text, and neither has an encrypted block.
            self.pieces += 1;
            self.ready.push_back(Ok(StreamEvent::Alive));
        }
        if self.keeps(BLOCKS) {
            let bytes = self.blocks.add(blocks);
            self.keep(bytes)?;
            if calls || !text.is_empty() {
                self.blocks.follow();
            }
        }
        if self.keeps(CONTENT) {
            match delta.take_parts() {
                Some(parts) => {
                    let bytes = self.content.add(parts);
                    self.keep(bytes)?;
                }
                // It counts as text.
                None => self.content.text(text),
            }
            if calls {
                self.content.follow();
            }
        }
        Ok(())
    }

    /// Takes the complete parts.
    fn parts(&mut self) -> Extra {
        let parts = [(BLOCKS, &mut self.blocks), (CONTENT, &mut self.content)];
        let taken = parts.map(|(field, parts)| Some((field, parts.take()?)));
        taken.into_iter().flatten().collect()
    }

    /// Returns whether the answer has ended. Only data about it may follow.
    pub(crate) fn has_finished(&self) -> bool {
        self.reason.is_some() && !self.is_early
    }

    /// Reads the data of one event.
    pub(crate) fn data(&mut self, data: &str) {
        let data = data.trim();
        if data.is_empty() || self.over {
            return;
        }
        if data == "[DONE]" {
            return self.end();
        }
        match runstate::json::from_str::<Chunk>(data) {
            Ok(chunk) if chunk.is_error() => {
                let error = self.secrets.withheld_value(runstate::json::from_str(data).unwrap_or_default());
                self.told(ErrorObject::of_body(&error));
            }
            Ok(chunk) => self.chunk(chunk),
            Err(error) => {
                let begins: String = self.secrets.withheld(data).chars().take(60).collect();
                let message = format!("the server sent a malformed chunk of an answer: {begins:?}");
                self.fail(SourceError::new(ErrorKind::Model, message).caused_by(error));
            }
        }
    }

    /// Reads the data of an event with the name `error`.
    pub(crate) fn error(&mut self, data: &str) {
        let data = runstate::json::from_str(data).unwrap_or_else(|_| Value::from(data.trim()));
        let data = self.secrets.withheld_value(data);
        self.told(ErrorObject::of(data.get("error").unwrap_or(&data)));
    }

    /// Handles an error of the server, in any form.
    pub(crate) fn told(&mut self, error: ErrorObject) {
        // It is equivalent to a finish by a filter: no attempt continues from the text before it.
        if error.is_of_a_filter() {
            self.reason = Some("content_filter".to_owned());
            return self.end();
        }
        self.fail(error.into_source_error(ErrorKind::ServerError));
    }

    pub(crate) fn chunk(&mut self, chunk: Chunk) {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return self.told(ErrorObject::of(&self.secrets.withheld_value(error)));
        }
        if let Some(id) = chunk.id.filter(|id| !id.is_empty()) {
            // Calls without an id use this id.
            if id.len() > MOST_OF_AN_ID {
                let message = format!("the id of the answer is longer than {MOST_OF_AN_ID} bytes");
                return self.fail(SourceError::new(ErrorKind::Model, message));
            }
            self.answer = id;
        }
        // Only the first of several choices is read.
        for choice in chunk.choices.into_iter().filter(|choice| choice.index.unwrap_or_default() == 0) {
            if let Err(error) = self.choice(choice) {
                return self.fail(error);
            }
        }
        if let Some(usage) = chunk.usage.filter(|usage| !usage.is_null()) {
            self.usage = Some(usage);
        }
    }

    /// Counts text or thinking of the answer, which is kept until its end.
    fn count(&mut self, text: &str) -> Result<(), SourceError> {
        self.pieces += 1;
        self.told = self.told.saturating_add(text.len());
        if self.told > MOST_BYTES {
            let message = format!("the text and thoughts of the answer are longer than {MOST_BYTES} bytes");
            return Err(SourceError::new(ErrorKind::Model, message));
        }
        Ok(())
    }

    fn choice(&mut self, mut choice: Choice) -> Result<(), SourceError> {
        let pieces = self.pieces;
        let mut delta = choice.piece();
        let text = delta.text().map_err(|other| {
            let other = self.secrets.withheld_value(other.clone());
            let begins: String = other.to_string().chars().take(60).collect();
            let message =
                format!("the content of the answer is neither a text nor a list of parts: {begins}");
            SourceError::new(ErrorKind::Model, message)
        })?;
        self.think(&mut delta, &text)?;
        let extra = self.extra(&mut delta.more)?;
        if !extra.is_empty() {
            self.ready.push_back(Ok(StreamEvent::Extra(extra)));
        }
        if !text.is_empty() {
            self.count(&text)?;
            self.ready.push_back(Ok(StreamEvent::Token(text)));
        }
        if self.refusal.len() < MOST_BYTES {
            self.refusal.push_str(delta.refusal.as_deref().unwrap_or_default());
        }
        // A call is reported when it is complete, and may take minutes.
        if !delta.tool_calls.is_empty() || delta.function_call.is_some() {
            self.pieces += 1;
            self.ready.push_back(Ok(StreamEvent::Alive));
        }
        for mut piece in delta.tool_calls {
            let extra = self.extra(&mut piece.more)?;
            self.calls.add(piece, extra)?;
        }
        if let Some(function) = delta.function_call {
            self.calls.add(crate::chunk::CallDelta { function, ..Default::default() }, Extra::default())?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty())
            && (is_cut(&reason) || !self.reason.as_deref().is_some_and(is_cut))
        {
            self.reason = Some(reason);
        }
        self.is_early |= self.reason.is_some() && self.pieces > pieces;
        Ok(())
    }

    /// Ends the answer, for the reason that the server gave, if any.
    fn finish(&mut self) -> Result<(), SourceError> {
        if let Some(reason) =
            self.reason.as_deref().filter(|reason| BROKEN.contains(&&*reason.to_ascii_lowercase()))
        {
            let message = format!("the server broke the answer off: {reason:?}");
            return Err(SourceError::new(ErrorKind::ServerError, message));
        }
        if !self.refusal.is_empty() {
            return Err(SourceError::new(
                ErrorKind::Model,
                format!("the model refuses: {}", shown(&self.secrets.withheld(&self.refusal))),
            ));
        }
        let calls = self.calls.finish(&self.answer, self.earlier_calls)?;
        let parts = self.parts();
        if !parts.is_empty() {
            self.ready.push_back(Ok(StreamEvent::Extra(parts)));
        }
        self.ready.extend(calls.into_iter().map(Ok));
        self.tell_usage();
        self.ready.extend(self.reason.clone().map(|reason| Ok(StreamEvent::Finish(finish_of(reason)))));
        Ok(())
    }

    fn tell_usage(&mut self) {
        let usage = self.usage.take();
        self.ready.extend(usage.map(|usage| Ok(StreamEvent::Progress(json!({ "usage": usage })))));
    }

    /// Handles `[DONE]`: the data so far is the answer.
    pub(crate) fn end(&mut self) {
        if self.over {
            return;
        }
        if let Err(error) = self.finish() {
            return self.fail(error);
        }
        self.ready.push_back(Ok(StreamEvent::Complete));
        self.over = true;
    }

    /// Returns whether the server gave a finish reason.
    pub(crate) fn has_reason(&self) -> bool {
        self.reason.is_some()
    }

    /// Handles the end of the connection, with or without an error.
    pub(crate) fn end_of_body(&mut self, error: Option<SourceError>) {
        match (self.reason.is_some(), error) {
            (true, None) => self.end(),
            (true, Some(_)) if !self.is_early => self.end(),
            (_, Some(error)) => self.fail(error),
            (false, None) => self.fail(SourceError::new(
                ErrorKind::Network,
                "the connection ended before the answer did: there was neither a finish_reason nor [DONE]",
            )),
        }
    }

    fn fail(&mut self, error: SourceError) {
        if !self.over {
            self.tell_usage();
            self.ready.push_back(Err(error));
            self.over = true;
        }
    }
}

/// Reasons with which servers break an answer off, in lower case.
const BROKEN: [&str; 5] =
    ["error", "abort", "insufficient_system_resource", "network_error", "malformed_function_call"];

/// Reasons of filters and refusals, in lower case.
const FILTERED: [&str; 13] = [
    "content_filter",
    "content_filtered",
    "guardrail_intervened",
    "sensitive",
    "refusal",
    "error_toxic",
    "safety",
    "image_safety",
    "language",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
];

fn is_cut(reason: &str) -> bool {
    BROKEN.contains(&&*reason.to_ascii_lowercase())
        || matches!(finish_of(reason.to_owned()), FinishReason::Length | FinishReason::ContentFilter)
}

/// Reads the word of a server. Some write it in capitals.
fn finish_of(reason: String) -> FinishReason {
    match &*reason.to_ascii_lowercase() {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "incomplete"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        word if FILTERED.contains(&word) => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason),
    }
}
