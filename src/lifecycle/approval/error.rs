//! Why an approval refuses an answer.

use std::error::Error;
use std::fmt;

/// Why an approval refuses an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The answer came when the question had expired: the deadline beats it (B3).
    Expired {
        /// When the question expired, in milliseconds since the Unix epoch.
        deadline: u64,
        /// When the answer came.
        at: u64,
    },
    /// A rejection for a timeout that has not come.
    NotExpired {
        /// When the question expires.
        deadline: u64,
        /// When it was to be rejected.
        at: u64,
    },
    /// An answer without the name of a person: a name has a letter or a digit, nothing that cannot be seen, and no white space around it.
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
