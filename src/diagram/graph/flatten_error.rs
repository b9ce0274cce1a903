//! The error of the conversion, with its place.

use std::fmt;

use crate::diagram::source::Span;

/// The reason why a diagram cannot become a [`StateGraph`](super::StateGraph).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlattenError {
    pub(super) line: usize,
    pub(super) span: Span,
    pub(super) message: String,
}

impl FlattenError {
    /// The line of the source, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The place in the source.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The problem at that place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FlattenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for FlattenError {}
