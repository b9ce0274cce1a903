//! The model of a state diagram: states, scopes, transitions and all other parts, each with its place in the source.

use super::source::{LineIndex, Span};
use super::warning::Warning;

/// A piece of text and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text, as Mermaid reads it.
    pub text: String,
    /// The place of the text.
    pub span: Span,
}

/// The index of a state in [`Diagram::states`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub(super) usize);

impl StateId {
    /// The index into [`Diagram::states`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The index of a scope in [`Diagram::scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(pub(super) usize);

impl ScopeId {
    /// The scope outside all composite states.
    pub const ROOT: ScopeId = ScopeId(0);

    /// The index into [`Diagram::scopes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The first word of the diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// `stateDiagram`.
    StateDiagram,
    /// `stateDiagram-v2`.
    StateDiagramV2,
}

/// The layout direction of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `TB`, the default.
    TopToBottom,
    /// `BT`.
    BottomToTop,
    /// `RL`.
    RightToLeft,
    /// `LR`.
    LeftToRight,
}

impl Direction {
    pub(super) const ALL: [Direction; 4] =
        [Self::TopToBottom, Self::BottomToTop, Self::RightToLeft, Self::LeftToRight];

    /// The two letters in Mermaid.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TopToBottom => "TB",
            Self::BottomToTop => "BT",
            Self::RightToLeft => "RL",
            Self::LeftToRight => "LR",
        }
    }
}

/// The kind of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKind {
    /// A plain state.
    Simple,
    /// `<<choice>>`: a branch without a stay.
    Choice,
    /// `<<fork>>`: one incoming transition, several concurrent outgoing ones.
    Fork,
    /// `<<join>>`: a wait for several incoming transitions.
    Join,
    /// `state X { … }`: a state with inner states, in one scope or in several concurrent regions.
    Composite,
}

/// A state with all its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// The id, as in transitions.
    pub id: String,
    /// Its descriptions, in source order.
    pub descriptions: Vec<Text>,
    /// The kind. If a diagram gives several kinds, composite takes precedence, then the first kind.
    pub kind: StateKind,
    /// The scopes inside a composite state, one per concurrent region.
    pub regions: Vec<ScopeId>,
    /// The style classes given with `:::` and with `class`.
    pub classes: Vec<Text>,
    /// The scope of the state: the last scope within a composite state that names it, else the root.
    pub scope: ScopeId,
    /// The declaration (`state X`, `X : text`, `state "text" as X`), or else the first mention.
    pub span: Span,
}

/// A group of statements: the diagram itself, or a region of a composite state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Scope {
    /// The enclosing composite state; `None` for the root.
    pub owner: Option<StateId>,
    /// The number among several concurrent regions, from 1; `None` for a body without `--`.
    pub region: Option<usize>,
    /// The direction, if any. The last direction statement counts.
    pub direction: Option<(Direction, Span)>,
    /// The span from the opening to the closing brace or divider.
    pub span: Span,
}

/// An end of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// A state.
    State(StateId),
    /// `[*]` to the left of an arrow: the start of the scope.
    Start(ScopeId),
    /// `[*]` to the right of an arrow: the end of the scope.
    End(ScopeId),
}

/// `A --> B : label`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transition {
    /// The source.
    pub from: Endpoint,
    /// The span of the left end.
    pub from_span: Span,
    /// The target.
    pub to: Endpoint,
    /// The span of the right end.
    pub to_span: Span,
    /// The label, if any.
    pub label: Option<Text>,
    /// The scope of the statement.
    pub scope: ScopeId,
    /// The whole statement.
    pub span: Span,
}

/// The side of a note, relative to its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteSide {
    /// `note left of`.
    Left,
    /// `note right of`.
    Right,
}

/// A note, in one line or in several lines up to `end note`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The state or the `[*]` of the note; `None` for a floating note, which Mermaid reads and does not draw.
    pub target: Option<Endpoint>,
    /// The side; `None` for a floating note.
    pub side: Option<NoteSide>,
    /// The text of the note.
    pub text: Text,
    /// The name of a floating note.
    pub alias: Option<Text>,
    /// The scope of the statement.
    pub scope: ScopeId,
    /// The whole statement.
    pub span: Span,
}

/// `classDef name styles`, `class states name` or `style states styles`: names to the left, a value to the right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StyleRule {
    /// The defined class, or the styled states.
    pub names: Vec<Text>,
    /// The styles, or the class.
    pub value: Text,
    /// The whole statement.
    pub span: Span,
}

/// `click A "url" "tooltip"` or `click A href "url"`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Click {
    /// The state's id; `None` for `[*]`.
    pub target: Option<Text>,
    /// The address, without quotes.
    pub url: Text,
    /// The tooltip, without quotes; `None` with `href`.
    pub tooltip: Option<Text>,
    /// The whole statement.
    pub span: Span,
}

/// A parsed state diagram.
///
/// [`parse`](super::parse) makes it. All lists are in source order; a place is a byte [`Span`] of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagram {
    /// The first word, with its place.
    pub header: (Header, Span),
    /// The `title:` of the front matter.
    pub title: Option<Text>,
    /// The states, in the order of their first mention. Ids are global: one state per id.
    pub states: Vec<State>,
    /// The scopes; the first is the root.
    pub scopes: Vec<Scope>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The notes.
    pub notes: Vec<Note>,
    /// `classDef`.
    pub class_defs: Vec<StyleRule>,
    /// `class`.
    pub class_rules: Vec<StyleRule>,
    /// `style`.
    pub style_rules: Vec<StyleRule>,
    /// `click`.
    pub clicks: Vec<Click>,
    /// The width of `scale 350 width`.
    pub scale: Option<Text>,
    /// `hide empty description`.
    pub hide_empty_description: Option<Span>,
    /// `accTitle:`; the last one counts.
    pub acc_title: Option<Text>,
    /// `accDescr:` or `accDescr { }`; the last one counts.
    pub acc_description: Option<Text>,
    /// `%%` comments and `#` comments.
    pub comments: Vec<Text>,
    /// `%%{ }%%` directives, whole.
    pub directives: Vec<Text>,
    /// The content between the `---` lines.
    pub front_matter: Option<Text>,
    /// The places where Mermaid deviates from the apparent meaning of the text.
    pub warnings: Vec<Warning>,
    pub(super) lines: LineIndex,
}

impl Diagram {
    /// Returns the first line of a span of this diagram in the source, from 1.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\nA --> B").unwrap();
    /// assert_eq!(diagram.line(diagram.transitions[0].span), 2);
    /// ```
    #[must_use]
    pub fn line(&self, span: Span) -> usize {
        self.lines.line(span.start)
    }

    /// Finds the state with this id.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\nA --> B").unwrap();
    /// assert_eq!(diagram.state("A").unwrap().id, "A");
    /// assert!(diagram.state("a").is_none());
    /// ```
    #[must_use]
    pub fn state(&self, id: &str) -> Option<&State> {
        self.states.iter().find(|state| state.id == id)
    }
}

impl std::ops::Index<StateId> for Diagram {
    type Output = State;

    fn index(&self, id: StateId) -> &State {
        &self.states[id.0]
    }
}

impl std::ops::Index<ScopeId> for Diagram {
    type Output = Scope;

    fn index(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0]
    }
}
