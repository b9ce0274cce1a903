//! Errors of attempts and sessions, and the reasons why a session refuses a transition.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a failure. A driver classifies failures by type, never by a search in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The consumer aborted the session.
    StreamAborted,
    /// No first token arrived within the limit, measured from the opening.
    InitialTokenTimeout,
    /// No further token arrived within the limit, measured from the last token.
    InterTokenTimeout,
    /// The stream ended without any output.
    ZeroOutput,
    /// The output violates a guardrail; another attempt may succeed.
    GuardrailViolation,
    /// The output violates a guardrail that ends the session at once.
    FatalGuardrailViolation,
    /// The opened source is no stream.
    InvalidStream,
    /// The last stream failed.
    AllStreamsExhausted,
    /// The connection failed.
    NetworkError,
    /// The output drifted from the request.
    DriftDetected,
}

impl ErrorCode {
    /// The written form of the code: `STREAM_ABORTED`.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorCode::StreamAborted => "STREAM_ABORTED",
            ErrorCode::InitialTokenTimeout => "INITIAL_TOKEN_TIMEOUT",
            ErrorCode::InterTokenTimeout => "INTER_TOKEN_TIMEOUT",
            ErrorCode::ZeroOutput => "ZERO_OUTPUT",
            ErrorCode::GuardrailViolation => "GUARDRAIL_VIOLATION",
            ErrorCode::FatalGuardrailViolation => "FATAL_GUARDRAIL_VIOLATION",
            ErrorCode::InvalidStream => "INVALID_STREAM",
            ErrorCode::AllStreamsExhausted => "ALL_STREAMS_EXHAUSTED",
            ErrorCode::NetworkError => "NETWORK_ERROR",
            ErrorCode::DriftDetected => "DRIFT_DETECTED",
        }
    }

    /// Returns whether another attempt may follow. After an abort, a fatal violation, or the failure of all streams,
    /// none may.
    pub const fn is_recoverable(self) -> bool {
        !matches!(
            self,
            ErrorCode::StreamAborted | ErrorCode::FatalGuardrailViolation | ErrorCode::AllStreamsExhausted
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A failure of an attempt or of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamError {
    code: ErrorCode,
    message: String,
}

impl StreamError {
    /// Makes a failure of that kind; `message` is for people.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        StreamError { code, message: message.into() }
    }

    /// The kind of the failure.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The description of the failure, for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn recoverable(&self) -> Result<(), StreamSessionError> {
        if self.code.is_recoverable() { Ok(()) } else { Err(StreamSessionError::Final { code: self.code }) }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Error for StreamError {}

/// The reason why a session refuses a transition which its state has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamSessionError {
    /// The session is being aborted: no stream is open, and the session can only fail with `STREAM_ABORTED`.
    Aborting {
        /// The refused step.
        step: &'static str,
    },
    /// An error of this kind ends the session; no attempt may follow it.
    Final {
        /// The kind.
        code: ErrorCode,
    },
    /// The last stream is in use, so no fallback stream is left.
    NoFallback {
        /// The number of fallback streams of the session.
        fallbacks: u32,
    },
}

impl fmt::Display for StreamSessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamSessionError::Aborting { step } => write!(
                f,
                "cannot {step}: the session is being aborted and no stream is open; fail it with {}",
                ErrorCode::StreamAborted
            ),
            StreamSessionError::Final { code } => {
                write!(f, "no attempt may follow {code}: fail the session with it")
            }
            StreamSessionError::NoFallback { fallbacks } => write!(
                f,
                "no stream is left to fall back to: all {fallbacks} fallbacks are used; fail the session with the error"
            ),
        }
    }
}

impl Error for StreamSessionError {}
