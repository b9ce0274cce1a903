//! Why a service run refuses a step that its state has an edge for.

use std::error::Error;
use std::fmt;

/// Why a service run refuses a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceRunError {
    /// Another intent for a run that waits for answers to the one it has (D3).
    IntentWhileInputIsNeeded {
        /// What the run asks.
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
