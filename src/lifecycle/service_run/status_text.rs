//! Parsing of a run status, with an error of its own for reserved names.

use std::error::Error;
use std::fmt;

use super::ServiceRunStatus;
use crate::kernel::UnknownStatus;

/// The reserved names of the run service, each with its intended meaning and its current equivalent.
const RESERVED: [(&str, &str, &str); 3] = [
    ("NEEDS_INPUT", "the graph asks for missing fields", "PAUSED with the final status NEEDS_INPUT"),
    ("EXECUTING", "the frontend has sent the transactions", "SUBMITTED"),
    ("COMPLETED", "the run is over", "CONFIRMED"),
];

impl ServiceRunStatus {
    /// Parses a run status. [`FromStr`](std::str::FromStr) only knows the names of states. This function also
    /// distinguishes a name that the run service reserves from an unknown name.
    ///
    /// # Errors
    /// [`StatusTextError::Reserved`] for NEEDS_INPUT, EXECUTING and COMPLETED, and [`StatusTextError::Unknown`].
    ///
    /// ```
    /// use runstate::service_run::{ServiceRunStatus, StatusTextError};
    ///
    /// assert_eq!(ServiceRunStatus::parse("PAUSED"), Ok(ServiceRunStatus::Paused));
    /// let reserved = ServiceRunStatus::parse("NEEDS_INPUT").unwrap_err();
    /// assert!(matches!(reserved, StatusTextError::Reserved { .. }));
    /// ```
    pub fn parse(text: &str) -> Result<Self, StatusTextError> {
        for (name, meaning, today) in RESERVED {
            if text == name {
                return Err(StatusTextError::Reserved { name, meaning, today });
            }
        }
        text.parse().map_err(StatusTextError::Unknown)
    }
}

/// The error for a text that is no run status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusTextError {
    /// The run service reserves the name for the future; no run has this status.
    Reserved {
        /// The name.
        name: &'static str,
        /// The intended meaning of the name.
        meaning: &'static str,
        /// The current equivalent of the name.
        today: &'static str,
    },
    /// The name is unknown.
    Unknown(UnknownStatus),
}

impl fmt::Display for StatusTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusTextError::Reserved { name, meaning, today } => write!(
                f,
                "run status {name} ({meaning}) is reserved for the future and no run has it yet; expected {today}"
            ),
            StatusTextError::Unknown(unknown) => unknown.fmt(f),
        }
    }
}

impl Error for StatusTextError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StatusTextError::Reserved { .. } => None,
            StatusTextError::Unknown(unknown) => Some(unknown),
        }
    }
}
