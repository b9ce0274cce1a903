//! Errors of an approval that refuses an answer.

use std::error::Error;
use std::fmt;

/// The reason why an approval refuses an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The answer arrived after the expiry of the question. The deadline takes precedence over the answer.
    Expired {
        /// The expiry of the question, in milliseconds since the Unix epoch.
        deadline: u64,
        /// The time of the answer, in milliseconds since the Unix epoch.
        at: u64,
    },
    /// A rejection for a timeout before the deadline.
    NotExpired {
        /// The expiry of the question, in milliseconds since the Unix epoch.
        deadline: u64,
        /// The time of the rejection, in milliseconds since the Unix epoch.
        at: u64,
    },
    /// An answer without a valid name of a person. A name has a letter or a digit, no invisible character, and no
    /// white space around it.
    Nobody,
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApprovalError::Expired { deadline, at } => {
                write!(
                    f,
                    "the answer of {at} ms is too late: the question expired at {deadline} ms; reject it as timed out"
                )
            }
            ApprovalError::NotExpired { deadline, at } => {
                write!(
                    f,
                    "the question has not timed out: it expires at {deadline} ms, the rejection is of {at} ms"
                )
            }
            ApprovalError::Nobody => f.write_str("an answer needs the name of a person: got one that is blank, has characters that cannot be seen, or white space around it"),
        }
    }
}

impl Error for ApprovalError {}
