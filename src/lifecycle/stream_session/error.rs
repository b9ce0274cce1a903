//! Why an attempt or a session failed, and why a session refuses a step.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of failure it was. A driver classifies by type, never by searching a text (C11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The consumer aborted the session.
    StreamAborted,
    /// No first token within the limit, counted from opening (C6).
    InitialTokenTimeout,
    /// No further token within the limit, counted from the last one (C6).
    InterTokenTimeout,
    /// The stream ended without any output.
    ZeroOutput,
    /// The output violates a guardrail; another attempt may do better.
    GuardrailViolation,
    /// The output violates a guardrail that ends the session at once.
    FatalGuardrailViolation,
    /// What was opened is no stream.
    InvalidStream,
    /// The last stream failed too.
    AllStreamsExhausted,
    /// The connection failed.
    NetworkError,
    /// The output drifted from what was asked.
    DriftDetected,
}

impl ErrorCode {
    /// The code as it is written: `STREAM_ABORTED`.
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

    /// May another attempt follow? Not on an abort (C5), a fatal violation, or when all streams have failed.
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
    /// A failure of that kind; `message` is for people.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        StreamError { code, message: message.into() }
    }

    /// What kind of failure it was.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// What happened, for people.
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

/// Why a session refuses a step that its state has an edge for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamSessionError {
    /// The session is being aborted: no stream is open, and the one way on is to fail with `STREAM_ABORTED`.
    Aborting {
        /// The step that was tried.
        step: &'static str,
    },
    /// An error of this kind ends the session; no attempt may follow it.
    Final {
        /// The kind.
        code: ErrorCode,
    },
    /// The last stream is in use: there is none to fall back to.
    NoFallback {
        /// How many fallback streams the session has.
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
