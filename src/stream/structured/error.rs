//! Why no value could be read.

use std::error::Error;
use std::fmt;

use super::Repair;

/// Why [`read`](super::read) gives no value. Another attempt of the model may do better.
#[derive(Debug)]
#[non_exhaustive]
pub enum StructuredError {
    /// There is no JSON in the text.
    NoJson {
        /// How the text begins.
        begins: String,
    },
    /// The JSON nests too deep to be read.
    TooDeep {
        /// The byte of the text where it does.
        at: usize,
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
}

impl StructuredError {
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
            StructuredError::TooDeep { at } => {
                write!(f, "the JSON in the output nests deeper than 127 levels at byte {at}")
            }
            StructuredError::Mismatch { error, repairs, .. } => {
                write!(f, "the JSON in the output is not what was asked for: {error}")?;
                match repairs.as_slice() {
                    [] => Ok(()),
                    repairs => {
                        let names: Vec<_> = repairs.iter().map(|repair| repair.name()).collect();
                        write!(f, " (after repairs: {})", names.join(", "))
                    }
                }
            }
        }
    }
}

impl Error for StructuredError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StructuredError::Mismatch { error, .. } => Some(error),
            _ => None,
        }
    }
}
