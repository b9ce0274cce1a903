//! What kind of failure a source reports, and where that leads by default.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stream_session::{ErrorCode, RetryKind};

/// What went wrong with an attempt. A source says it; nothing is read out of a message (C11).
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
/// What a kind leads to is the session's [`RetryTable`](super::RetryTable); which budget it draws from is not for choice
/// (C10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The connection failed, was refused or was cut.
    Network,
    /// The provider cannot answer for the moment, for a reason that has no kind of its own.
    Transient,
    /// The provider takes no more requests for a while.
    RateLimit,
    /// The provider failed.
    ServerError,
    /// No token in time.
    Timeout,
    /// The model gave what it must not give: a malformed event, a refusal of the provider's filter.
    Model,
    /// The output violates a guardrail.
    Guardrail,
    /// The output drifted from what was asked.
    Drift,
    /// The stream ended without any output.
    ZeroOutput,
    /// Another attempt cannot do better: wrong credentials, an invalid request.
    Fatal,
    /// The fault is on this side: what opens or reads the stream panicked.
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

    /// The kind as it is written: `rate_limit`. It is the `reason` of `onRetry` and `onFallback`.
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

    /// The group that the kind belongs to.
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

    /// Which budget a retry after it draws from (C10): the model's own faults have one for each stream.
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

    /// The code of a failure of this kind that a source reports. `any_token`: did the attempt give one?
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

/// A group of kinds of failure, for metrics and for what to tell a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Category {
    /// The connection.
    Network,
    /// The provider, for the moment.
    Transient,
    /// The model's stream.
    Model,
    /// What the model wrote.
    Content,
    /// This side.
    Internal,
    /// Nothing helps.
    Fatal,
    /// The session as a whole: it was aborted, or all its streams failed.
    Provider,
}

impl Category {
    /// The category as it is written: `network`.
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
