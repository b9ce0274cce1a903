//! Failures of attempts and of sessions.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use runstate::stream_session::{Attempt, ErrorCode, Output, StreamError};
use runstate::turn::FinishReason;
use serde::{Deserialize, Serialize};

use super::{Category, ErrorKind, SourceError, State};

/// Failure of an attempt: the payload of an ERROR event and the argument of `onError`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// The code to match on.
    pub code: ErrorCode,
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The group of the kind; [`Category::Provider`] for an abort and for the end of all streams.
    pub category: Category,
    /// The message, for people.
    pub message: String,
    /// The messages of the error's sources, from the nearest to the first.
    pub causes: Vec<String>,
    /// The stream: 0 is the primary one.
    pub stream: u32,
    /// The attempt on it, from 1.
    pub attempt: u32,
    /// Tokens that the session held when the attempt failed.
    pub token_count: u64,
    /// Bytes of content that the session held when the attempt failed.
    pub content_length: usize,
    /// The wait that the provider asked for by `Retry-After`, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The error value. It exists only in the process in which the failure happened.
    #[serde(skip)]
    pub(super) cause: Cause,
}

/// A cause that was an error value. A record keeps only its messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Cause(pub(super) Option<Arc<dyn Error + Send + Sync>>);

/// All causes are equal: their messages are compared in `Failure::causes`.
impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Cause {
    /// Returns the messages of the error and of its sources, from the nearest to the first.
    pub(super) fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        let mut next = self.0.as_deref().map(|cause| cause as &(dyn Error + 'static));
        while let Some(cause) = next {
            told.push(cause.to_string());
            next = cause.source();
        }
        told
    }
}

/// Builds the error of an aborted session.
pub(super) fn aborted() -> StreamError {
    StreamError::new(ErrorCode::StreamAborted, "the session was aborted")
}

impl Failure {
    pub(super) fn new(code: ErrorCode, kind: ErrorKind, message: impl Into<String>) -> Self {
        Failure {
            code,
            kind,
            category: kind.category(),
            message: message.into(),
            causes: Vec::new(),
            stream: 0,
            attempt: 0,
            token_count: 0,
            content_length: 0,
            retry_after_ms: None,
            cause: Cause::default(),
        }
    }

    /// Builds the failure that a source reported. `any_token` says whether the attempt gave anything
    /// that resets the time limits.
    pub(super) fn of_source(error: SourceError, any_token: bool) -> Self {
        let wait = error.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let cause = Cause(error.cause());
        let kind = error.kind();
        Failure {
            causes: cause.told(),
            retry_after_ms: wait,
            cause,
            ..Failure::new(kind.code(any_token), kind, error.message())
        }
    }

    /// Adds the position and the counts of `attempt`, which had `output`.
    pub(super) fn in_attempt(mut self, attempt: Attempt, output: &Output) -> Self {
        self.stream = attempt.stream();
        self.attempt = attempt.number();
        self.token_count = output.tokens();
        self.content_length = output.content().len();
        self
    }

    /// Builds the failure of an aborted session.
    pub(super) fn aborted(attempt: Attempt, output: &Output) -> Self {
        let error = aborted();
        Failure {
            category: Category::Provider,
            ..Failure::new(error.code(), ErrorKind::Fatal, error.message()).in_attempt(attempt, output)
        }
    }

    /// Builds the end of a session from the failure of its last stream.
    pub(super) fn exhausted(self, streams: u32) -> Self {
        let message = format!("all {streams} streams failed, the last with {self}");
        let mut causes = vec![self.to_string()];
        causes.extend(self.causes.iter().cloned());
        Failure {
            code: ErrorCode::AllStreamsExhausted,
            category: Category::Provider,
            message,
            causes,
            ..self
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.0.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

/// Error of a session that ended without a whole output: its last failure, and its state at that time.
///
/// ```
/// # use runstate_stream::{ErrorKind, Session, SourceError, StreamEvent};
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let mut session = Session::builder("stream_1", async |_| {
///     Ok::<_, SourceError>(futures_util::stream::iter([
///         Ok(StreamEvent::token("half a sen")),
///         Err(SourceError::new(ErrorKind::Fatal, "the key was revoked")),
///     ]))
/// })
/// .build();
/// let error = session.run().await.unwrap_err();
/// assert_eq!(error.to_string(), "INVALID_STREAM: the key was revoked");
/// assert_eq!((error.state.content.as_str(), error.state.failures.len()), ("half a sen", 1));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionError {
    /// The failure that ended the session.
    pub failure: Failure,
    /// The state at the end: content, checkpoint, counts, and the failure of each attempt.
    pub state: Arc<State>,
}

impl SessionError {
    /// Returns the code to match on.
    pub fn code(&self) -> ErrorCode {
        self.failure.code
    }

    /// Returns the text up to the last checkpoint, from which another session can continue. Returns `None` if
    /// that text belongs to an output that failed a rule or that a filter of the provider stopped.
    pub fn checkpoint(&self) -> Option<&str> {
        let is_spoilt = self.failure.kind.category() == Category::Content
            || self.state.finish == Some(FinishReason::ContentFilter);
        if is_spoilt {
            return None;
        }
        let mark = self.state.checkpoint?;
        self.state.content.get(..mark.content_length)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl Error for SessionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failure.source()
    }
}
