//! Streams of answers.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use runstate::turn::Extra;
use runstate_stream::for_adapters::{Limit, Secrets, Sieve};
use runstate_stream::{ErrorKind, FinishReason, SourceError, StreamEvent};
use serde_json::{Value, json};

use crate::Provider;
use crate::failure::of_genai;
use crate::request::{SIGNATURES, THINKING};
use crate::watch::Watch;

/// Limit on the calls of one answer.
const MOST_CALLS: usize = 256;

type Event = Result<StreamEvent, SourceError>;

/// An answer as a stream of events. The last event is [`StreamEvent::Complete`] or an error.
///
/// After the first piece of the answer, the stream reports heartbeats, comments and pieces of calls as
/// [`StreamEvent::Alive`]. Heartbeats and comments do not reset the limits of
/// [`Genai::within`](crate::Genai::within). Before the first piece they are not reported, so that a session's limit
/// for the first output counts on.
///
/// Dropping the stream closes its connection.
pub struct AnswerStream {
    inner: ChatStream,
    watch: Arc<Watch>,
    provider: Provider,
    limit: Limit,
    secrets: Secrets,
    /// The events on their way out.
    sieve: Sieve,
    earlier_calls: usize,
    /// Number of frames that were reported as a sign of life.
    frames: u64,
    has_begun: bool,
    ready: VecDeque<Event>,
    is_over: bool,
}

impl AnswerStream {
    pub(crate) fn new(
        inner: ChatStream,
        watch: Arc<Watch>,
        provider: Provider,
        limit: Limit,
        secrets: Secrets,
        earlier_calls: usize,
    ) -> Self {
        AnswerStream {
            inner,
            watch,
            provider,
            limit,
            sieve: Sieve::new(secrets.clone()),
            secrets,
            earlier_calls,
            frames: 0,
            has_begun: false,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// Reads an event of genai. A piece of the answer resets the limit of silence.
    fn read(&mut self, event: Option<genai::Result<ChatStreamEvent>>) {
        let told = self.watch.seen().error.take();
        let event = match (told, event) {
            // The frame is more exact than genai's error, and genai leaves some out.
            (Some(error), _) => return self.failed(error),
            (None, Some(Ok(event))) => event,
            (None, Some(Err(error))) => return self.broken(&error),
            (None, None) => return self.failed(cut()),
        };
        let piece = match event {
            ChatStreamEvent::Chunk(piece) if !piece.content.is_empty() => StreamEvent::Token(piece.content),
            ChatStreamEvent::ReasoningChunk(piece) if !piece.content.is_empty() => {
                StreamEvent::Reasoning(piece.content)
            }
            // A call is reported when it is complete, and may take minutes.
            ChatStreamEvent::ToolCallChunk(_) | ChatStreamEvent::ThoughtSignatureChunk(_) => {
                StreamEvent::Alive
            }
            ChatStreamEvent::Heartbeat => return,
            ChatStreamEvent::End(end) => return self.end(end),
            _ => return,
        };
        self.has_begun = true;
        self.frames = self.watch.seen().frames;
        self.limit.hear();
        self.ready.push_back(Ok(piece));
    }

    /// Handles an error of genai.
    fn broken(&mut self, error: &genai::Error) {
        let reason = self.watch.seen().reason.take();
        match reason {
            // Gemini blocks a prompt without a candidate.
            Some(reason) => self.end(StreamEnd {
                captured_stop_reason: Some(StopReason::from(reason)),
                ..StreamEnd::default()
            }),
            None => self.failed(of_genai(error, &self.secrets)),
        }
    }

    /// Handles the end of the answer.
    fn end(&mut self, mut end: StreamEnd) {
        let (usage, exact, thinking) = {
            let mut seen = self.watch.seen();
            (seen.usage, seen.reason.take(), std::mem::take(&mut seen.thinking))
        };
        // genai makes an end of a stream that was cut.
        let Some(reason) = exact.map(reason_of).or(end.captured_stop_reason.take()) else {
            return self.failed(cut());
        };
        if let StopReason::Other(word) = &reason
            && ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"].contains(&word.as_str())
        {
            let message = format!("the model's call of a tool is malformed: {word}");
            return self.failed(SourceError::new(ErrorKind::Model, message));
        }
        let (blocks, calls) = parts_of(self.provider, end, thinking);
        if calls.len() > MOST_CALLS {
            let message = format!(
                "the model calls {} tools at once: expected at most {MOST_CALLS}; instruct it to call fewer at a time",
                calls.len()
            );
            return self.failed(SourceError::new(ErrorKind::Model, message));
        }
        if !blocks.is_empty() {
            let own = json!({ THINKING: blocks });
            self.ready.push_back(Ok(StreamEvent::Extra(Extra::from_iter([(self.provider.name(), own)]))));
        }
        let has_calls = !calls.is_empty();
        for (number, call) in (self.earlier_calls..).zip(calls) {
            match self.call(number, call) {
                Ok(event) => self.ready.push_back(Ok(event)),
                Err(error) => return self.failed(error),
            }
        }
        self.ready.extend(usage.map(|usage| Ok(progress(usage))));
        self.ready.push_back(Ok(StreamEvent::Finish(finish_of(reason, has_calls))));
        self.ready.push_back(Ok(StreamEvent::Complete));
        self.is_over = true;
    }

    fn call(&self, number: usize, call: ToolCall) -> Event {
        let ToolCall { call_id, fn_name, fn_arguments, thought_signatures } = call;
        if fn_name.is_empty() {
            return Err(SourceError::new(ErrorKind::Model, "the model calls a tool and does not name it"));
        }
        // genai numbers the calls of Gemini anew in each piece. In this form it sends no id to the server.
        let id = match call_id {
            id if id.is_empty() || id.starts_with("call#") => format!("call#{fn_name}#{number}"),
            id => id,
        };
        let mut event = match fn_arguments {
            Value::Null => StreamEvent::tool_call(id, fn_name, json!({})),
            // genai leaves a text where it cannot read it.
            Value::String(text) if text.trim().is_empty() => StreamEvent::tool_call(id, fn_name, json!({})),
            Value::String(text) => {
                let why = match serde_json::from_str::<Value>(&text) {
                    Ok(_) => "expected an object".to_owned(),
                    Err(error) => error.to_string(),
                };
                StreamEvent::unreadable_call(id, fn_name, text, why)
            }
            read => StreamEvent::tool_call(id, fn_name, read),
        };
        if let (StreamEvent::ToolCall(call), Some(signatures), Provider::GEMINI) =
            (&mut event, thought_signatures, self.provider)
        {
            call.extra = Extra::from_iter([(self.provider.name(), json!({ SIGNATURES: signatures }))]);
        }
        Ok(event)
    }

    fn failed(&mut self, error: SourceError) {
        let usage = self.watch.seen().usage;
        self.ready.extend(usage.map(|usage| Ok(progress(usage))));
        self.ready.push_back(Err(error));
        self.is_over = true;
    }
}

impl Stream for AnswerStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.sieve.take() {
                return Poll::Ready(Some(event));
            }
            match std::task::ready!(self.poll_event(cx)) {
                Some(event) => self.sieve.put(event),
                None if self.sieve.end() => {}
                None => return Poll::Ready(None),
            }
        }
    }
}

impl AnswerStream {
    /// The next event of the server.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            if let Some(error) = self.limit.over() {
                self.failed(error);
                continue;
            }
            if let Poll::Ready(event) = self.inner.poll_next_unpin(cx) {
                self.read(event);
                // Continuous signs of life are not part of the answer, and the limits still apply.
                if self.ready.is_empty()
                    && let Some(error) = self.limit.passed()
                {
                    self.failed(error);
                }
                continue;
            }
            // genai gives no event for a frame that it cannot read.
            let told = self.watch.seen().error.take();
            if let Some(error) = told {
                self.failed(error);
                continue;
            }
            let frames = self.watch.seen().frames;
            let beats = frames > self.frames;
            self.frames = frames;
            if beats && self.has_begun {
                return Poll::Ready(Some(Ok(StreamEvent::Alive)));
            }
            match self.limit.poll(cx) {
                Some(error) => self.failed(error),
                None => return Poll::Pending,
            }
        }
    }
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream").field("provider", &self.provider).finish_non_exhaustive()
    }
}

fn cut() -> SourceError {
    SourceError::new(
        ErrorKind::Network,
        "the connection ended before the answer did: there was no reason of its end",
    )
}

fn progress(usage: runstate_agent::answer::Usage) -> StreamEvent {
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    StreamEvent::Progress(json!({ "usage": { "input_tokens": input, "output_tokens": output } }))
}

fn reason_of(word: String) -> StopReason {
    match &*word {
        "max_output_tokens" => StopReason::MaxTokens(word),
        _ => StopReason::from(word),
    }
}

fn finish_of(reason: StopReason, has_calls: bool) -> FinishReason {
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) if !has_calls => FinishReason::Stop,
        StopReason::Completed(_) | StopReason::StopSequence(_) | StopReason::ToolCall(_) => {
            FinishReason::ToolCalls
        }
        StopReason::MaxTokens(_) => FinishReason::Length,
        StopReason::ContentFilter(_) => FinishReason::ContentFilter,
        StopReason::Other(word) => FinishReason::Other(word),
    }
}

/// Splits the captured answer into the blocks of thinking and the calls.
fn parts_of(provider: Provider, end: StreamEnd, mut blocks: Vec<Value>) -> (Vec<Value>, Vec<ToolCall>) {
    let mut calls = Vec::new();
    let mut signature = None;
    for part in end.captured_content.into_iter().flat_map(|content| content.into_parts()) {
        match part {
            ContentPart::ToolCall(call) => calls.push(call),
            ContentPart::ThoughtSignature(text) if provider == Provider::ANTHROPIC => signature = Some(text),
            ContentPart::ReasoningContent(text) if provider == Provider::ANTHROPIC => {
                let signature = signature.take();
                blocks.push(json!({ "type": "thinking", "thinking": text, "signature": signature }));
            }
            ContentPart::Custom(custom) => blocks.push(custom.data),
            _ => {}
        }
    }
    (blocks, calls)
}
