//! Errors of an answer stream.

use super::super::ModelError;
use super::super::depth::MOST_LEVELS;

/// The reason why a model's stream gave no answer. The partial answer is discarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model reported an error.
    #[error(transparent)]
    Model(ModelError),
    /// The stream ended without a finish event.
    #[error(
        "the model's stream ended without a finish, after {text_bytes} bytes of text and {calls} calls: \
         the connection broke, or its adapter never gives `ModelEvent::Finish`"
    )]
    Unfinished {
        /// Bytes of text received.
        text_bytes: usize,
        /// Number of calls begun.
        calls: usize,
    },
    /// An event other than usage followed the finish event.
    #[error("the model's stream gave {got} after its finish, where only usage may follow")]
    AfterFinish {
        /// The name of the event.
        got: &'static str,
    },
    /// Two calls began with the same index.
    #[error("the model's stream began call {index} twice: each call of an answer has a number of its own")]
    CallTwice {
        /// The index.
        index: u32,
    },
    /// Arguments or extra data arrived for a call that had not begun.
    #[error(
        "the model's stream gave data for call {index}, which had not begun; {calls} others had: \
         `ModelEvent::CallStart` comes first"
    )]
    NoSuchCall {
        /// The index that they named.
        index: u32,
        /// Number of calls begun.
        calls: usize,
    },
    /// The provider's own data nests deeper than 96 levels. Such data could not be stored.
    #[error(
        "the provider's data of the answer nests deeper than {MOST_LEVELS} levels in the field {field:?}"
    )]
    ExtraTooDeep {
        /// The field.
        field: String,
    },
    /// The stream had failed earlier, and the builder was used again.
    #[error("the model's stream had failed before: it has no answer")]
    Failed,
}
