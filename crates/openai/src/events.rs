//! Streams of answers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use runstate_stream::for_adapters::{ErrorObject, Limit, Secrets, Sieve};
use runstate_stream::{ErrorKind, SourceError, StreamEvent};
use serde::de::IgnoredAny;
use sse_stream::{Sse, SseByteStream};
use tokio::time::Sleep;

use crate::Chat;
use crate::chunk::Chunk;
use crate::reader::Reader;

/// Limit on the data of an event, in bytes.
const MOST_OF_AN_EVENT: usize = 8 << 20;
/// Limit on the other parts of an event, in bytes: names of fields, line ends, comments.
const MOST_AROUND: usize = 64 << 10;
/// Time for data about an answer that has ended, such as its number of tokens or `[DONE]`. A further piece
/// restarts the time.
const GRACE: Duration = Duration::from_secs(2);

type Events = Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>;

/// An answer as a stream of events. The last event is [`StreamEvent::Complete`] or an error.
///
/// After the first piece of the answer, the stream reports comments, empty events and pieces of a long event as
/// [`StreamEvent::Alive`]. They do not reset the limits of [`OpenAi::within`](crate::OpenAi::within). Before
/// the first piece they are not reported, so that a session's limit for the first output counts on. The reason
/// is that a proxy sends them even if its model has failed.
///
/// Dropping the stream closes its connection.
pub struct ChatStream {
    events: Option<Events>,
    body: Arc<Body>,
    reader: Reader,
    grace: Option<Pin<Box<Sleep>>>,
    /// The unread bytes that were reported as a sign of life.
    alive: usize,
    /// None for an answer that is not streamed.
    limit: Option<Limit>,
    /// Whether a piece of the answer has come.
    has_begun: bool,
    /// The events on their way out.
    sieve: Sieve,
}

/// State of the body, shared with the code that reads it.
#[derive(Debug, Default)]
struct Body {
    /// Bytes since the last event.
    unread: AtomicUsize,
    ended: AtomicBool,
}

impl ChatStream {
    pub(crate) fn of_events(body: Incoming, chat: &Chat, limit: Limit, secrets: Secrets) -> Self {
        let read = Arc::new(Body::default());
        let (count, end) = (Arc::clone(&read), Arc::clone(&read));
        let bytes = body.into_data_stream().map(move |bytes| {
            let bytes = bytes.map_err(Cut::Off)?;
            if count.unread.fetch_add(bytes.len(), Ordering::Relaxed) > MOST_OF_AN_EVENT + MOST_AROUND {
                return Err(Cut::TooLong);
            }
            Ok(bytes)
        });
        // Some servers omit the blank line after the last event.
        let blank_line = stream::once(async move {
            end.ended.store(true, Ordering::Relaxed);
            Ok(Bytes::from_static(b"\n\n"))
        });
        let events = SseByteStream::new(bytes.chain(blank_line));
        ChatStream {
            events: Some(Box::pin(events)),
            body: read,
            reader: Reader::of(chat, secrets.clone()),
            grace: None,
            alive: 0,
            limit: Some(limit),
            has_begun: false,
            sieve: Sieve::new(secrets),
        }
    }

    /// Creates the stream of an answer that is not streamed.
    pub(crate) fn of_whole(body: &[u8], chat: &Chat, secrets: Secrets) -> Result<Self, SourceError> {
        let mut chunk: Chunk = runstate::json::from_slice(body).map_err(|error| {
            let message = "the server answered with neither a stream of events nor a chat completion";
            SourceError::new(ErrorKind::Model, message).caused_by(error)
        })?;
        let mut reader = Reader::of(chat, secrets.clone());
        if chunk.is_error() {
            let error = secrets.withheld_value(runstate::json::from_slice(body).unwrap_or_default());
            reader.told(ErrorObject::of_body(&error));
        }
        chunk.number_calls();
        reader.chunk(chunk);
        let missing =
            || SourceError::new(ErrorKind::Network, "the answer is not whole: it has no finish_reason");
        reader.end_of_body((!reader.has_reason()).then(missing));
        let (events, body) = (None, Arc::default());
        Ok(ChatStream {
            events,
            body,
            reader,
            grace: None,
            alive: 0,
            limit: None,
            has_begun: false,
            sieve: Sieve::new(secrets),
        })
    }

    fn read(&mut self, event: Option<Result<Sse, sse_stream::Error>>) {
        let ended = self.body.ended.load(Ordering::Relaxed);
        match event {
            Some(Ok(event)) => {
                self.body.unread.store(0, Ordering::Relaxed);
                self.alive = 0;
                let data = event.data.as_deref().unwrap_or_default();
                match event.event.as_deref() {
                    _ if data.len() > MOST_OF_AN_EVENT => {
                        self.reader.end_of_body(Some(too_long().caused_by(Cut::TooLong)));
                    }
                    // The body ended within its last event.
                    _ if ended && !is_whole(data) => self.reader.end_of_body(Some(cut())),
                    Some("error") => self.reader.error(data),
                    _ => self.reader.data(data),
                }
            }
            Some(Err(error)) if !ended => self.reader.end_of_body(Some(failure_of(error))),
            // The body ended within a character.
            Some(Err(_)) => self.reader.end_of_body(Some(cut())),
            None => self.reader.end_of_body(None),
        }
    }
}

impl Stream for ChatStream {
    type Item = Result<StreamEvent, SourceError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
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

impl ChatStream {
    /// The next event of the server.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, SourceError>>> {
        let mut came = false;
        loop {
            if let Some(event) = self.reader.ready.pop_front() {
                if !matches!(event, Ok(StreamEvent::Progress(_))) {
                    self.has_begun = true;
                    self.limit.as_mut().map(Limit::hear);
                }
                return Poll::Ready(Some(event));
            }
            if self.reader.over {
                self.events = None;
                return Poll::Ready(None);
            }
            if let Some(error) = self.limit.as_ref().and_then(Limit::over) {
                self.reader.end_of_body(Some(error));
                continue;
            }
            let Some(events) = &mut self.events else { return Poll::Ready(None) };
            if let Poll::Ready(event) = events.poll_next_unpin(cx) {
                let pieces = self.reader.pieces;
                self.read(event);
                if self.reader.pieces > pieces {
                    self.grace = None;
                }
                came = true;
                // Continuous signs of life are not part of the answer, and the limits still apply.
                let is_fruitless = self.reader.ready.is_empty() && !self.reader.over;
                if is_fruitless && let Some(error) = self.limit.as_ref().and_then(Limit::passed) {
                    self.reader.end_of_body(Some(error));
                }
                continue;
            }
            if !self.reader.has_finished() {
                // A comment, an event without data, or a piece of a long event shows that the server works.
                let unread = self.body.unread.load(Ordering::Relaxed);
                let beats = came || unread > self.alive;
                self.alive = unread;
                if beats && self.has_begun {
                    return Poll::Ready(Some(Ok(StreamEvent::Alive)));
                }
                match self.limit.as_mut().and_then(|limit| limit.poll(cx)) {
                    Some(error) => self.reader.end_of_body(Some(error)),
                    None => return Poll::Pending,
                }
                continue;
            }
            let grace = self.grace.get_or_insert_with(|| Box::pin(tokio::time::sleep(GRACE)));
            match grace.as_mut().poll(cx) {
                Poll::Ready(()) => self.reader.end(),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl fmt::Debug for ChatStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatStream").field("reader", &self.reader).finish_non_exhaustive()
    }
}

/// The reason for the end of the bytes.
#[derive(Debug, thiserror::Error)]
enum Cut {
    #[error("{0}")]
    Off(#[source] hyper::Error),
    #[error("one event has more than {MOST_OF_AN_EVENT} bytes of data")]
    TooLong,
}

fn cut() -> SourceError {
    SourceError::new(ErrorKind::Network, "the connection ended within an event")
}

fn is_whole(data: &str) -> bool {
    matches!(data.trim(), "" | "[DONE]") || runstate::json::from_str::<IgnoredAny>(data).is_ok()
}

fn too_long() -> SourceError {
    SourceError::new(ErrorKind::Model, "the server sent an event without an end")
}

fn failure_of(error: sse_stream::Error) -> SourceError {
    let is_too_long =
        matches!(&error, sse_stream::Error::Body(cut) if matches!(cut.downcast_ref(), Some(Cut::TooLong)));
    match error {
        sse_stream::Error::Body(cut) if is_too_long => too_long().caused_by(cut),
        sse_stream::Error::Body(cut) => {
            SourceError::new(ErrorKind::Network, "the connection was cut within the answer").caused_by(cut)
        }
        error => SourceError::new(ErrorKind::Model, "the server sent a malformed event").caused_by(error),
    }
}
