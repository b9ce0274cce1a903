//! A run status as text, read with the document's reservations in mind.

use std::error::Error;
use std::fmt;

use super::ServiceRunStatus;
use crate::kernel::UnknownStatus;

/// The names that document 004 keeps for later, each with what it is to mean and what says it today.
const RESERVED: [(&str, &str, &str); 3] = [
    ("NEEDS_INPUT", "the graph asks for missing fields", "PAUSED with the final status NEEDS_INPUT"),
    ("EXECUTING", "the frontend has sent the transactions", "SUBMITTED"),
    ("COMPLETED", "the run is over", "CONFIRMED"),
];

impl ServiceRunStatus {
    /// Reads a run status. Unlike [`FromStr`](std::str::FromStr), which knows but the names of states, it tells a name
    /// that the document reserves from one that means nothing (D6).
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

/// Why a text is no run status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusTextError {
    /// The document reserves the name for the future; no run has this status.
    Reserved {
        /// The name.
        name: &'static str,
        /// What it is to mean.
        meaning: &'static str,
        /// What says it today.
        today: &'static str,
    },
    /// The name is none of the document's.
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
