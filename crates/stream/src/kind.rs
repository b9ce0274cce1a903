//! Kinds of failure, and their default consequences.

use std::fmt;

use runstate::stream_session::{ErrorCode, RetryKind};
use serde::{Deserialize, Serialize};

/// Kind of failure of an attempt. The source states the kind; the session never parses a message.
///
/// | kind | category | by default | budget |
/// |---|---|---|---|
/// | `Network` | network | retried | total |
/// | `Transient`, `RateLimit`, `ServerError`, `Timeout` | transient | retried | total |
/// | `Model` | model | retried | model and total |
/// | `Guardrail`, `Drift`, `ZeroOutput` | content | retried | model and total |
/// | `Internal` | internal | next fallback | |
/// | `Fatal` | fatal | ends the session | |
///
/// The session's [`RetryTable`](super::RetryTable) sets the consequence of each kind. The budget of a kind is
/// fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The connection failed, was refused or was cut.
    Network,
    /// The provider cannot answer at present, for a reason without a kind of its own.
    Transient,
    /// The provider refuses requests for a while.
    RateLimit,
    /// The provider failed.
    ServerError,
    /// No token arrived in time.
    Timeout,
    /// The model gave invalid output, such as a malformed event, or the provider's filter refused.
    Model,
    /// The output violates a guardrail.
    Guardrail,
    /// The output drifted from what was asked.
    Drift,
    /// The stream ended without any output.
    ZeroOutput,
    /// Another attempt cannot succeed: the credentials are wrong, or the request is invalid.
    Fatal,
    /// The fault is local: the code that opens or reads the stream panicked.
    Internal,
}

impl ErrorKind {
    /// All kinds, in the order of the table above.
    pub const ALL: [ErrorKind; 11] = [
        ErrorKind::Network,
        ErrorKind::Transient,
        ErrorKind::RateLimit,
        ErrorKind::ServerError,
        ErrorKind::Timeout,
        ErrorKind::Model,
        ErrorKind::Guardrail,
        ErrorKind::Drift,
        ErrorKind::ZeroOutput,
        ErrorKind::Internal,
        ErrorKind::Fatal,
    ];

    /// Returns the kind in its written form, such as `rate_limit`. This form is the `reason` of `onRetry` and
    /// `onFallback`.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Network => "network",
            ErrorKind::Transient => "transient",
            ErrorKind::RateLimit => "rate_limit",
            ErrorKind::ServerError => "server_error",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Model => "model",
            ErrorKind::Guardrail => "guardrail",
            ErrorKind::Drift => "drift",
            ErrorKind::ZeroOutput => "zero_output",
            ErrorKind::Fatal => "fatal",
            ErrorKind::Internal => "internal",
        }
    }

    /// Returns the group of the kind.
    pub const fn category(self) -> Category {
        match self {
            ErrorKind::Network => Category::Network,
            ErrorKind::Transient | ErrorKind::RateLimit | ErrorKind::ServerError | ErrorKind::Timeout => {
                Category::Transient
            }
            ErrorKind::Model => Category::Model,
            ErrorKind::Guardrail | ErrorKind::Drift | ErrorKind::ZeroOutput => Category::Content,
            ErrorKind::Internal => Category::Internal,
            ErrorKind::Fatal => Category::Fatal,
        }
    }

    /// Returns the budget that pays for a retry after this kind. Faults of the model have a budget for each
    /// stream.
    pub const fn budget(self) -> RetryKind {
        match self.category() {
            Category::Network => RetryKind::Network,
            Category::Transient => RetryKind::Transient,
            Category::Model
            | Category::Content
            | Category::Internal
            | Category::Fatal
            | Category::Provider => RetryKind::Model,
        }
    }

    /// Returns the code of a failure of this kind that a source reports. `any_token` says whether the attempt
    /// gave anything that resets the time limits.
    pub(super) const fn code(self, any_token: bool) -> ErrorCode {
        match self {
            ErrorKind::Network | ErrorKind::Transient | ErrorKind::RateLimit | ErrorKind::ServerError => {
                ErrorCode::NetworkError
            }
            ErrorKind::Timeout if any_token => ErrorCode::InterTokenTimeout,
            ErrorKind::Timeout => ErrorCode::InitialTokenTimeout,
            ErrorKind::Guardrail => ErrorCode::GuardrailViolation,
            ErrorKind::Drift => ErrorCode::DriftDetected,
            ErrorKind::ZeroOutput => ErrorCode::ZeroOutput,
            ErrorKind::Model | ErrorKind::Fatal | ErrorKind::Internal => ErrorCode::InvalidStream,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A group of kinds of failure, for metrics and for messages to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Category {
    /// The connection.
    Network,
    /// The provider, temporarily.
    Transient,
    /// The model's stream.
    Model,
    /// The content that the model wrote.
    Content,
    /// The local side: the code that opens or reads streams.
    Internal,
    /// A failure that no further attempt can mend.
    Fatal,
    /// The session as a whole: it was aborted, or all its streams failed.
    Provider,
}

impl Category {
    /// Returns the category in its written form, such as `network`.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Network => "network",
            Category::Transient => "transient",
            Category::Model => "model",
            Category::Content => "content",
            Category::Internal => "internal",
            Category::Fatal => "fatal",
            Category::Provider => "provider",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
