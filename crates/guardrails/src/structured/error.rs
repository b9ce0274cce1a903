//! Errors of reading a value.

use super::Repair;
use super::reader::Refusal;

/// Error of [`read`](super::read). Another attempt of the model may succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// The text has no JSON.
    #[error("there is no JSON in the output, which begins {begins:?}")]
    NoJson {
        /// The beginning of the text.
        begins: String,
    },
    /// The damage of the JSON leaves more than one reading, or the JSON nests deeper than 127 levels.
    #[error("the JSON in the output is damaged at byte {at}: {reason}")]
    Damaged {
        /// The byte of the text at which reading stops.
        at: usize,
        /// The reason.
        reason: String,
    },
    /// The text has several values, and none of them alone is the answer.
    #[error("the output has {} values, where one was asked for", .readings.len())]
    Several {
        /// The JSON of each value, in the order of the text. The value that [`only`](super::Structured::only)
        /// refuses comes last.
        readings: Vec<String>,
    },
    /// The JSON does not fit the type.
    #[error("the JSON in the output does not match the requested type: {error}{}", after(.repairs))]
    Mismatch {
        /// The mismatch, with its position.
        #[source]
        error: serde_json::Error,
        /// The JSON.
        json: String,
        /// The repairs of the JSON.
        repairs: Vec<Repair>,
    },
    /// The value fits the type, and a condition of the caller refuses it.
    #[error("the JSON in the output is refused: {reason}{}", after(.repairs))]
    Refused {
        /// The reason of the condition.
        reason: String,
        /// The JSON.
        json: String,
        /// The repairs of the JSON.
        repairs: Vec<Repair>,
    },
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

fn after(repairs: &[Repair]) -> String {
    if repairs.is_empty() {
        return String::new();
    }
    let names: Vec<_> = repairs.iter().map(|repair| repair.name()).collect();
    format!(" (after repairs: {})", names.join(", "))
}
