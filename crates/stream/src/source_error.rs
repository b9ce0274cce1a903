//! Failures of sources.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ErrorKind;

/// A failure of a source, with its kind.
///
/// An error type of the embedding program becomes a source error by `impl From<MyError> for SourceError`. A
/// stream of `Result<StreamEvent, MyError>` then is a source without adaptation.
///
/// ```
/// use runstate_stream::{ErrorKind, SourceError};
/// use std::time::Duration;
///
/// #[derive(Debug)]
/// struct Status(u16);
///
/// impl From<Status> for SourceError {
///     fn from(Status(code): Status) -> Self {
///         let kind = match code {
///             401 | 403 => ErrorKind::Fatal,
///             429 => ErrorKind::RateLimit,
///             _ => ErrorKind::ServerError,
///         };
///         SourceError::new(kind, format!("the server answered {code}"))
///     }
/// }
///
/// let error = SourceError::from(Status(429)).with_retry_after(Duration::from_secs(2));
/// assert_eq!(error.kind(), ErrorKind::RateLimit);
/// assert_eq!(error.to_string(), "the server answered 429");
/// ```
#[derive(Debug, Clone)]
pub struct SourceError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retry_after: Option<Duration>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl SourceError {
    /// Creates a failure of a kind. `message` is for people.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        SourceError(Box::new(Inner { kind, message: message.into(), retry_after: None, cause: None }))
    }

    /// Sets the error that caused the failure.
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into().into());
        self
    }

    /// Sets the wait that the provider asks for (`Retry-After`).
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message, for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the wait that the provider asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the error that caused the failure, shared.
    pub(super) fn cause(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        self.0.cause.clone()
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

/// Two causes are equal if their messages are.
impl PartialEq for SourceError {
    fn eq(&self, other: &Self) -> bool {
        let said = |inner: &Inner| inner.cause.as_ref().map(ToString::to_string);
        let (a, b) = (&*self.0, &*other.0);
        (a.kind, &a.message, a.retry_after) == (b.kind, &b.message, b.retry_after) && said(a) == said(b)
    }
}

impl From<Infallible> for SourceError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
