//! The text of a consumer that assembles tokens.

use super::event::{Event, EventKind};

/// The text of a consumer that applies all markers. At COMPLETE it equals the state's content.
///
/// ```
/// use futures_util::StreamExt;
/// use runstate_stream::{Backoff, ConsumerText, ErrorKind, RetryPolicy, Session, SourceError, StreamEvent};
/// use std::time::Duration;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let open = async |opening: runstate_stream::Opening| {
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
    /// Creates an empty text.
    pub fn new() -> Self {
        ConsumerText::default()
    }

    /// Applies the session's next event.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Token { text } => self.0.push_str(text),
            EventKind::ContentReset { content_length, .. } => self.0.truncate(*content_length),
            _ => {}
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as an owned string.
    pub fn into_string(self) -> String {
        self.0
    }
}
