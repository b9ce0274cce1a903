//! Errors of an answer stream.

use std::error::Error;
use std::fmt;

use super::super::ModelError;
use super::super::depth::MOST_LEVELS;

/// The reason why a model's stream gave no answer. The partial answer is discarded.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model reported an error.
    Model(ModelError),
    /// The stream ended without a finish event.
    Unfinished {
        /// Bytes of text received.
        text_bytes: usize,
        /// Number of calls begun.
        calls: usize,
    },
    /// An event other than usage followed the finish event.
    AfterFinish {
        /// The name of the event.
        got: &'static str,
    },
    /// Two calls began with the same index.
    CallTwice {
        /// The index.
        index: u32,
    },
    /// Arguments or extra data arrived for a call that had not begun.
    NoSuchCall {
        /// The index that they named.
        index: u32,
        /// Number of calls begun.
        calls: usize,
    },
    /// The provider's own data nests deeper than 96 levels. Such data could not be stored.
    ExtraTooDeep {
        /// The field.
        field: String,
    },
    /// The stream had failed earlier, and the builder was used again.
    Failed,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::Model(error) => error.fmt(f),
            AnswerError::Unfinished { text_bytes, calls } => write!(
                f,
                "the model's stream ended without a finish, after {text_bytes} bytes of text and {calls} calls: \
                 the connection broke, or its adapter never gives `ModelEvent::Finish`"
            ),
            AnswerError::AfterFinish { got } => {
                write!(f, "the model's stream gave {got} after its finish, where only usage may follow")
            }
            AnswerError::CallTwice { index } => write!(
                f,
                "the model's stream began call {index} twice: each call of an answer has a number of its own"
            ),
            AnswerError::NoSuchCall { index, calls } => write!(
                f,
                "the model's stream gave data for call {index}, which had not begun; {calls} others had: \
                 `ModelEvent::CallStart` comes first"
            ),
            AnswerError::ExtraTooDeep { field } => write!(
                f,
                "the provider's data of the answer nests deeper than {MOST_LEVELS} levels in the field {field:?}"
            ),
            AnswerError::Failed => f.write_str("the model's stream had failed before: it has no answer"),
        }
    }
}

impl Error for AnswerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AnswerError::Model(error) => error.source(),
            AnswerError::Unfinished { .. }
            | AnswerError::AfterFinish { .. }
            | AnswerError::CallTwice { .. }
            | AnswerError::NoSuchCall { .. }
            | AnswerError::ExtraTooDeep { .. }
            | AnswerError::Failed => None,
        }
    }
}
