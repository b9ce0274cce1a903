//! Warnings: text that Mermaid accepts, with a meaning other than the apparent one.

use std::fmt;

use super::source::{Excerpt, Position, Span};

/// The kind of a [`Warning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// `A --> B: x; y`: the label is `x`, and the text after the semicolon becomes separate states.
    LabelCut,
    /// `A --> B;`: the state has the name `B;`.
    PunctuationInId,
    /// `A --> B extra`: two statements; the second is the state `extra`.
    SeveralStatements,
    /// `A --> B : turn direction LR`: the whole rest of the line is a direction.
    DirectionSwallows,
    /// A second `direction` in one scope; only the last one counts.
    DirectionRepeated,
    /// `state X` alone, without another mention of `X`: the state does not exist.
    DeclarationDropped,
    /// `--` without content after it: the state is not divided.
    DividerIgnored,
    /// `<<choice>>` and similar marks after an earlier mention of the state, or with a description: Mermaid draws a
    /// plain state.
    KindLost,
    /// `<<choice>>` and similar marks outside of a `state` statement: they become a state of that name.
    MarkIsState,
    /// A state that two scopes name; Mermaid moves it into the last one.
    StateMoved,
    /// A composite state with two bodies; both count.
    CompositeReopened,
    /// `note left of A :text`: Mermaid drops the first two characters.
    NoteCut,
    /// `note "text" as N`: Mermaid reads the note and does not draw it.
    NoteNotDrawn,
    /// `accDescr {` or `%%{` without an end takes the rest of the diagram.
    NeverClosed,
    /// A value from the next line.
    TakenFromNextLine,
    /// A part of an id or of a description that Mermaid drops or reads differently.
    PartDropped,
    /// A declaration of `root`, `root_start`, `root_end` or `[*]` as a state: these are Mermaid's own names.
    ReservedId,
    /// A state without a name.
    EmptyId,
}

/// A place where Mermaid deviates from the apparent meaning of the text.
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
/// // Without the semicolon, the label has no warning.
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

    /// The kind of the warning.
    #[must_use]
    pub fn kind(&self) -> WarningKind {
        self.kind
    }

    /// The place of the text.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Line and column of the beginning of the span.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The actual behaviour of Mermaid.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Shows the warning with an excerpt of `source`, the parsed text; `file` is the displayed name.
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
