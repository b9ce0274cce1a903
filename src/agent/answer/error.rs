//! Why a stream gave no answer.

use std::error::Error;
use std::fmt;

use super::super::ModelError;
use super::super::depth::MOST_LEVELS;

/// Why a model's stream gave no answer. What it said before is lost with it: half an answer is none.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model said so.
    Model(ModelError),
    /// The stream ended, and had not finished.
    Unfinished {
        /// How many bytes of text had come.
        text_bytes: usize,
        /// How many calls had begun.
        calls: usize,
    },
    /// Something other than usage came after the finish.
    AfterFinish {
        /// What came.
        got: &'static str,
    },
    /// Two calls began with one number.
    CallTwice {
        /// The number.
        index: u32,
    },
    /// Arguments or extra data came for a call that had not begun.
    NoSuchCall {
        /// The number they named.
        index: u32,
        /// How many calls had begun.
        calls: usize,
    },
    /// The provider's own data nests deeper than 96 levels, and could not be stored.
    ExtraTooDeep {
        /// The field.
        field: String,
    },
    /// The stream had failed before, and was gone on with.
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
