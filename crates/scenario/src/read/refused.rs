//! Errors of invalid texts.

use std::error::Error;
use std::fmt;

use runstate::diagram::{LineIndex, Span};

/// Why a text is no scenario, with the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    message: String,
    /// Line and column, from 1.
    at: Option<(usize, usize)>,
    span: Option<Span>,
}

impl Refused {
    pub(super) fn new(message: String, text: &str, span: Option<Span>) -> Self {
        let at = span.map(|span| {
            let position = LineIndex::new(text).position(text, span.start);
            (position.line, position.column)
        });
        Refused { message, at, span }
    }

    /// The actual and the expected value.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the text that are wrong, if known.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for Refused {}
