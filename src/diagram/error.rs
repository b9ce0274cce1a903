//! The error of the parser.

use std::fmt;

use super::source::{Excerpt, LineIndex, Position, Span};

/// The reason and the place of a syntax error in a state diagram.
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

    /// The part of the source that could not be parsed.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Line and column of the beginning of the span.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The expected content.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The found content.
    #[must_use]
    pub fn got(&self) -> &str {
        &self.got
    }

    /// A hint for a person, for known mistakes.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Shows the error with an excerpt of `source`, the parsed text, and a caret; `file` is the displayed name.
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
