//! What a consumer has who puts tokens together.

use super::event::{Event, EventKind};

/// The text of a consumer that follows the markers: at COMPLETE it is exactly the state's content (C9).
///
/// ```
/// use futures_util::StreamExt;
/// use runstate::stream::{Backoff, ConsumerText, ErrorKind, RetryPolicy, Session, SourceError, StreamEvent};
/// use std::time::Duration;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let open = async |opening: runstate::stream::Opening| {
///     let first = opening.attempt.number() == 1;
///     Ok::<_, SourceError>(futures_util::stream::iter(if first {
///         vec![Ok(StreamEvent::token("Hel")), Err(SourceError::new(ErrorKind::Network, "reset"))]
///     } else {
///         vec![Ok(StreamEvent::token("Hello"))]
///     }))
/// };
/// let mut session = Session::builder("stream_1", open).build();
/// let mut text = ConsumerText::new();
/// let mut naive = String::new();
/// while let Some(event) = session.next().await {
///     text.apply(&event);
///     naive.push_str(event.token().unwrap_or_default());
/// }
/// assert_eq!(text.as_str(), "Hello");
/// assert_eq!(naive, "HelHello", "without the markers a failed attempt's text stays");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsumerText(String);

impl ConsumerText {
    /// Nothing yet.
    pub fn new() -> Self {
        ConsumerText::default()
    }

    /// Takes note of the session's next event.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Token { text } => self.0.push_str(text),
            EventKind::ContentReset { content_length, .. } => self.0.truncate(*content_length),
            _ => {}
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}
