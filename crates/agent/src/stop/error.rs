//! Errors of the configuration of stop conditions.

use std::error::Error;
use std::fmt;

use super::patterns::PatternError;

/// The error of a stop condition. Each variant names the condition by its position in the list, from 1, and by its
/// code.
#[derive(Debug)]
#[non_exhaustive]
pub enum StopConfigError {
    /// A number is too small: the condition would always hold, or never.
    TooSmall {
        /// The position, from 1.
        place: usize,
        /// The code of the condition.
        code: &'static str,
        /// The field.
        field: &'static str,
        /// The configured value.
        got: u64,
        /// The smallest permitted value.
        least: u64,
    },
    /// A number is too large: the condition would need too much memory.
    TooLarge {
        /// The position, from 1.
        place: usize,
        /// The code of the condition.
        code: &'static str,
        /// The field.
        field: &'static str,
        /// The configured value.
        got: u64,
        /// The largest permitted value.
        most: u64,
    },
    /// A text is empty.
    Empty {
        /// The position, from 1.
        place: usize,
        /// The code of the condition.
        code: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The pattern is invalid.
    Pattern {
        /// The position, from 1.
        place: usize,
        /// The pattern.
        pattern: String,
        /// The reason.
        error: PatternError,
    },
    /// No pattern language is available.
    NoPatterns {
        /// The position, from 1.
        place: usize,
    },
}

impl fmt::Display for StopConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopConfigError::TooSmall { place, code, field, got, least } => {
                write!(f, "stop condition {place}, {code}: `{field}` is {got}; expected at least {least}")
            }
            StopConfigError::TooLarge { place, code, field, got, most } => {
                write!(f, "stop condition {place}, {code}: `{field}` is {got}; expected at most {most}")
            }
            StopConfigError::Empty { place, code, field } => {
                write!(f, "stop condition {place}, {code}: `{field}` is empty")
            }
            StopConfigError::Pattern { place, pattern, error } => {
                write!(f, "stop condition {place}, content_match: {pattern:?} is no pattern: {error}")
            }
            StopConfigError::NoPatterns { place } => write!(
                f,
                "stop condition {place}, content_match: nothing here reads patterns; enable the feature `regex` of \
                 `runstate-agent`, or give an engine of your own with `StopConditions::with_patterns`"
            ),
        }
    }
}

impl Error for StopConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StopConfigError::Pattern { error, .. } => Some(error),
            StopConfigError::TooSmall { .. }
            | StopConfigError::TooLarge { .. }
            | StopConfigError::Empty { .. }
            | StopConfigError::NoPatterns { .. } => None,
        }
    }
}
