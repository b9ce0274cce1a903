//! Statements of the source, before ids become states.

use super::model::{Click, Direction, Header, NoteSide, StateKind, StyleRule, Text};
use super::source::Span;

/// The index of a body in [`Syntax::bodies`]: a body between braces, or the diagram itself.
pub(super) type BodyId = usize;

/// An id or `[*]`, with an optional class.
#[derive(Debug)]
pub(super) struct Node {
    /// `None` for `[*]`.
    pub(super) id: Option<String>,
    pub(super) span: Span,
    pub(super) class: Option<Text>,
}

#[derive(Debug)]
pub(super) enum Stmt {
    /// An id, with an optional description.
    Mention {
        node: Node,
        description: Option<Text>,
    },
    Relation {
        from: Node,
        to: Node,
        label: Option<Text>,
    },
    /// The statement `state X` alone, which Mermaid reads and drops.
    Declaration {
        id: Text,
    },
    /// `state "text" as X`, `state X <<choice>>`, `state X { … }`.
    ///
    /// `counted` is the number of descriptions that Mermaid counts, empty ones included.
    State {
        id: Text,
        kind: StateKind,
        descriptions: Vec<Text>,
        counted: usize,
        body: Option<BodyId>,
    },
    Note {
        target: Text,
        side: NoteSide,
        text: Text,
    },
    Floating {
        text: Text,
        alias: Text,
    },
    Direction(Direction),
    ClassDef(StyleRule),
    Class(StyleRule),
    Style(StyleRule),
    Click(Click),
    AccTitle(Text),
    AccDescr(Text),
    Scale(Text),
    HideEmpty,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) stmt: Stmt,
    pub(super) span: Span,
    pub(super) body: BodyId,
    /// The index of the part in the body: the number of dividers before it.
    pub(super) part: usize,
}

/// The content of one pair of braces.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) dividers: Vec<Span>,
    /// Whether the last part after a divider has content.
    pub(super) last_part_used: bool,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) header: (Header, Span),
    pub(super) bodies: Vec<Body>,
    pub(super) items: Vec<Item>,
}
