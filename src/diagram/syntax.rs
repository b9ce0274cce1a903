//! Statements as they stand in the source, before ids become states.

use super::model::{Click, Direction, Header, NoteSide, StateKind, StyleRule, Text};
use super::source::Span;

/// A body between braces, or the diagram itself: a place in [`Syntax::bodies`].
pub(super) type BodyId = usize;

/// An id or `[*]`, with a class.
#[derive(Debug)]
pub(super) struct Node {
    /// `None` for `[*]`.
    pub(super) id: Option<String>,
    pub(super) span: Span,
    pub(super) class: Option<Text>,
}

#[derive(Debug)]
pub(super) enum Stmt {
    /// An id alone, or with a description.
    Mention {
        node: Node,
        description: Option<Text>,
    },
    Relation {
        from: Node,
        to: Node,
        label: Option<Text>,
    },
    /// `state X` and nothing more, which Mermaid reads and drops.
    Declaration {
        id: Text,
    },
    /// `state "text" as X`, `state X <<choice>>`, `state X { … }`.
    ///
    /// `counted` is how many descriptions Mermaid counts, empty ones too.
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
    /// Which part of the body, counted by the dividers before it.
    pub(super) part: usize,
}

/// What one pair of braces holds.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) dividers: Vec<Span>,
    /// Whether anything stands behind the last divider.
    pub(super) last_part_used: bool,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) header: (Header, Span),
    pub(super) bodies: Vec<Body>,
    pub(super) items: Vec<Item>,
}
