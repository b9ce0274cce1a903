//! What a text that is no state diagram is told.

use std::fmt;

use super::source::{Excerpt, LineIndex, Position, Span};

/// Why a text was refused as a state diagram, and where.
///
/// # Example
///
/// ```
/// let source = "stateDiagram-v2\n    A -->\n";
/// let error = runstate::diagram::parse(source).unwrap_err();
/// assert_eq!(error.position().line, 2);
/// assert_eq!(error.expected(), "a state or `[*]`");
/// assert_eq!(error.got(), "the end of the line");
/// let shown = error.render("run.mmd", source);
/// assert!(shown.contains("2 |     A -->"), "{shown}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    span: Span,
    position: Position,
    expected: String,
    got: String,
    help: Option<String>,
}

impl SyntaxError {
    pub(super) fn new(source: &str, span: Span, expected: impl Into<String>, got: impl Into<String>) -> Self {
        let position = LineIndex::new(source).position(source, span.start);
        Self { span, position, expected: expected.into(), got: got.into(), help: None }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The part of the source that could not be read.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Line and column of its beginning.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// What could have stood there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What stands there.
    #[must_use]
    pub fn got(&self) -> &str {
        &self.got
    }

    /// A hint for a person, where the mistake is a known one.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The error with an excerpt of `source`, the text it was found in, and a caret; `file` is the name to show.
    #[must_use]
    pub fn render(&self, file: &str, source: &str) -> String {
        let excerpt = Excerpt::new(file, source, self.span, &format!("expected {}", self.expected));
        let mut text = format!("error: expected {}, got {}\n{excerpt}\n", self.expected, self.got);
        if let Some(help) = &self.help {
            text.push_str(&format!("  = help: {help}\n"));
        }
        text
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(f, "line {line}, column {column}: expected {}, got {}", self.expected, self.got)
    }
}

impl std::error::Error for SyntaxError {}
