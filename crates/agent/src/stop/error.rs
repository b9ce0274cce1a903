//! Errors of the configuration of stop conditions.

use super::patterns::PatternError;

/// The error of a stop condition. Each variant names the condition by its position in the list, from 1, and by its
/// code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopConfigError {
    /// A number is too small: the condition would always hold, or never.
    #[error("stop condition {place}, {code}: `{field}` is {got}; expected at least {least}")]
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
    #[error("stop condition {place}, {code}: `{field}` is {got}; expected at most {most}")]
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
    #[error("stop condition {place}, {code}: `{field}` is empty")]
    Empty {
        /// The position, from 1.
        place: usize,
        /// The code of the condition.
        code: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The pattern is invalid.
    #[error("stop condition {place}, content_match: {pattern:?} is no pattern: {error}")]
    Pattern {
        /// The position, from 1.
        place: usize,
        /// The pattern.
        pattern: String,
        /// The reason.
        #[source]
        error: PatternError,
    },
    /// No pattern language is available.
    #[error(
        "stop condition {place}, content_match: nothing here reads patterns; enable the feature `regex` of \
         `runstate-agent`, or give an engine of your own with `StopConditions::with_patterns`"
    )]
    NoPatterns {
        /// The position, from 1.
        place: usize,
    },
}
