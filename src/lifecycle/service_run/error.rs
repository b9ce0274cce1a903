//! Errors of a service run that refuses a transition which its state has.

use std::error::Error;
use std::fmt;

/// The reason why a service run refuses a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceRunError {
    /// A new intent for a run that waits for answers to its current intent.
    IntentWhileInputIsNeeded {
        /// The questions of the run.
        questions: Vec<String>,
    },
}

impl fmt::Display for ServiceRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServiceRunError::IntentWhileInputIsNeeded { questions } => write!(
                f,
                "only a NOOP run takes a new intent; this one waits for answers to: {}",
                questions.join(", ")
            ),
        }
    }
}

impl Error for ServiceRunError {}
