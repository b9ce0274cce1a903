//! Traps: text that Mermaid accepts and reads as something else than it seems to say.

use std::fmt;

use super::source::{Excerpt, Position, Span};

/// What kind of trap a [`Warning`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// `A --> B: x; y`: the label is `x`, and what follows the semicolon is states of its own.
    LabelCut,
    /// `A --> B;`: the state is called `B;`.
    PunctuationInId,
    /// `A --> B extra`: two statements, the second is the state `extra`.
    SeveralStatements,
    /// `A --> B : turn direction LR`: the whole rest of the line is a direction.
    DirectionSwallows,
    /// A second `direction` in one scope; only the last counts.
    DirectionRepeated,
    /// `state X` alone, with `X` nowhere else: there is no such state.
    DeclarationDropped,
    /// `--` with nothing behind it: the state is not divided.
    DividerIgnored,
    /// `<<choice>>` and the like behind an earlier mention of the state, or with a description: Mermaid draws a plain
    /// state.
    KindLost,
    /// `<<choice>>` and the like outside of a `state` statement: a state of that name.
    MarkIsState,
    /// A state that two scopes name; Mermaid moves it into the last one.
    StateMoved,
    /// A composite state that is opened twice; both bodies count.
    CompositeReopened,
    /// `note left of A :text`: Mermaid drops two characters, whatever they are.
    NoteCut,
    /// `note "text" as N`: read, not drawn.
    NoteNotDrawn,
    /// `accDescr {` or `%%{` without an end takes the rest of the diagram.
    NeverClosed,
    /// A value that is taken from the next line.
    TakenFromNextLine,
    /// A part of an id or of a description that Mermaid drops or reads as something else.
    PartDropped,
    /// A state that is declared as `root`, `root_start`, `root_end` or `[*]`: Mermaid's own names.
    ReservedId,
    /// A state without a name.
    EmptyId,
}

/// A place where Mermaid does not do what the text seems to say.
///
/// # Example
///
/// ```
/// use runstate::diagram::WarningKind;
///
/// let source = "stateDiagram-v2\nA --> B : ready; set\n";
/// let diagram = runstate::diagram::parse(source).unwrap();
/// let warning = &diagram.warnings[0];
/// assert_eq!(warning.kind(), WarningKind::LabelCut);
/// assert_eq!(warning.position().line, 2);
/// // The same label without the semicolon is no trap.
/// assert!(runstate::diagram::parse("stateDiagram-v2\nA --> B : ready, set").unwrap().warnings.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    kind: WarningKind,
    span: Span,
    position: Position,
    message: String,
}

impl Warning {
    pub(super) fn new(kind: WarningKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, span, position: Position { line: 0, column: 0 }, message: message.into() }
    }

    pub(super) fn locate(&mut self, position: Position) {
        self.position = position;
    }

    /// The kind of trap.
    #[must_use]
    pub fn kind(&self) -> WarningKind {
        self.kind
    }

    /// The text that it is about.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Line and column of its beginning.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// What Mermaid does instead.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The warning with an excerpt of `source`, the text it was found in; `file` is the name to show.
    #[must_use]
    pub fn render(&self, file: &str, source: &str) -> String {
        format!("warning: {}\n{}\n", self.message, Excerpt::new(file, source, self.span, ""))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.position.line, self.position.column, self.message)
    }
}
