//! Why no value could be read.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::Repair;
use super::reader::Refusal;
use crate::stream::{SessionError, State};
use crate::stream_session::ErrorCode;

/// Why [`read`](super::read) gives no value. Another attempt of the model may do better.
#[derive(Debug)]
#[non_exhaustive]
pub enum StructuredError {
    /// There is no JSON in the text.
    NoJson {
        /// How the text begins.
        begins: String,
    },
    /// There is JSON, and its damage leaves more than one reading, or it nests deeper than 127 levels.
    Damaged {
        /// The byte of the text where it cannot be read on.
        at: usize,
        /// Why.
        reason: String,
    },
    /// Several values stand in the text, and none of them is the answer alone.
    Several {
        /// The JSON of each, in the order of the text; the one that [`only`](super::Structured::only) refuses comes last.
        readings: Vec<String>,
    },
    /// There is JSON, and it does not fit the type.
    Mismatch {
        /// What does not fit, and where.
        error: serde_json::Error,
        /// The JSON.
        json: String,
        /// What had been repaired in it.
        repairs: Vec<Repair>,
    },
    /// The value fits the type, and the condition of [`SessionBuilder::accept`](crate::stream::SessionBuilder::accept) refuses it.
    Refused {
        /// Why.
        reason: String,
        /// The JSON.
        json: String,
        /// What had been repaired in it.
        repairs: Vec<Repair>,
    },
}

/// Why a session gave no value.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectError {
    /// The session ended for another reason than that its output does not fit.
    Session(SessionError),
    /// The last attempt's output does not fit, and no further attempt was left.
    Misfit {
        /// What does not fit.
        misfit: StructuredError,
        /// What the session had: the output, and the failure of each attempt.
        state: Arc<State>,
    },
}

impl CollectError {
    /// What to match on: that of the session, `GUARDRAIL_VIOLATION` for an output that does not fit.
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

impl StructuredError {
    pub(super) fn damaged(Refusal { at, why }: Refusal) -> Self {
        StructuredError::Damaged { at, reason: why.to_owned() }
    }

    pub(super) fn no_json(text: &str) -> Self {
        let text = text.trim();
        let begins = match text.char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        StructuredError::NoJson { begins }
    }
}

impl fmt::Display for StructuredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructuredError::NoJson { begins } => {
                write!(f, "there is no JSON in the output, which begins {begins:?}")
            }
            StructuredError::Damaged { at, reason } => {
                write!(f, "the JSON in the output is damaged at byte {at}: {reason}")
            }
            StructuredError::Several { readings } => {
                write!(f, "the output has {} values, where one was asked for", readings.len())
            }
            StructuredError::Mismatch { error, repairs, .. } => {
                write!(f, "the JSON in the output is not what was asked for: {error}")?;
                after(f, repairs)
            }
            StructuredError::Refused { reason, repairs, .. } => {
                write!(f, "the JSON in the output is refused: {reason}")?;
                after(f, repairs)
            }
        }
    }
}

fn after(f: &mut fmt::Formatter<'_>, repairs: &[Repair]) -> fmt::Result {
    if repairs.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = repairs.iter().map(|repair| repair.name()).collect();
    write!(f, " (after repairs: {})", names.join(", "))
}

impl Error for StructuredError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StructuredError::Mismatch { error, .. } => Some(error),
            _ => None,
        }
    }
}
