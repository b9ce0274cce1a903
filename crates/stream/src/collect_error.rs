//! The error of a session that gave no value.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use runstate::stream_session::ErrorCode;
use runstate_guardrails::structured::StructuredError;

use super::{SessionError, State};

/// Error of a session that gave no value.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectError {
    /// The session ended for another reason than a misfit of its output.
    Session(SessionError),
    /// The last attempt's output does not fit, and no attempt was left.
    Misfit {
        /// The misfit.
        misfit: StructuredError,
        /// The state of the session: the output, and the failure of each attempt.
        state: Arc<State>,
    },
}

impl CollectError {
    /// Returns the code to match on: the session's code, or `GUARDRAIL_VIOLATION` for an output that does not
    /// fit.
    pub fn code(&self) -> ErrorCode {
        match self {
            CollectError::Session(error) => error.code(),
            CollectError::Misfit { .. } => ErrorCode::GuardrailViolation,
        }
    }
}

impl fmt::Display for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectError::Session(error) => error.fmt(f),
            CollectError::Misfit { misfit, state } => write!(f, "{misfit} (attempts: {})", state.attempts),
        }
    }
}

impl Error for CollectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CollectError::Session(error) => error.source(),
            CollectError::Misfit { misfit, .. } => misfit.source(),
        }
    }
}
