//! What a state diagram says: states, scopes, transitions and the rest, each with its place in the source.

use super::source::{LineIndex, Span};
use super::warning::Warning;

/// A piece of text and where it stands in the source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text, as Mermaid takes it.
    pub text: String,
    /// Where it was read.
    pub span: Span,
}

/// A state's place in [`Diagram::states`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub(super) usize);

impl StateId {
    /// The index into [`Diagram::states`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A scope's place in [`Diagram::scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(pub(super) usize);

impl ScopeId {
    /// The scope outside of every composite state.
    pub const ROOT: ScopeId = ScopeId(0);

    /// The index into [`Diagram::scopes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The word that opened the diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// `stateDiagram`.
    StateDiagram,
    /// `stateDiagram-v2`.
    StateDiagramV2,
}

/// Which way a scope is drawn.
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

    /// The two letters Mermaid writes.
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

/// What a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKind {
    /// A plain state.
    Simple,
    /// `<<choice>>`: a branch, left at once.
    Choice,
    /// `<<fork>>`: one way in, several ways on at the same time.
    Fork,
    /// `<<join>>`: waits for several ways in.
    Join,
    /// `state X { … }`: has states of its own, in one scope or in several concurrent regions.
    Composite,
}

/// A state and all that is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// Its id, as transitions spell it.
    pub id: String,
    /// Its descriptions, in source order.
    pub descriptions: Vec<Text>,
    /// What it is. If a diagram says more than one thing, composite wins, then what was said first.
    pub kind: StateKind,
    /// The scopes inside a composite state, one per concurrent region.
    pub regions: Vec<ScopeId>,
    /// The style classes given with `:::` and with `class`.
    pub classes: Vec<Text>,
    /// The scope it belongs to: the last scope within a composite state that names it, else the root.
    pub scope: ScopeId,
    /// Where it is declared (`state X`, `X : text`, `state "text" as X`), or else first mentioned.
    pub span: Span,
}

/// A run of statements that belong together: the diagram itself, or a region of a composite state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Scope {
    /// The composite state it is inside of; `None` for the root.
    pub owner: Option<StateId>,
    /// Which of several concurrent regions it is, from 1; `None` for a body without `--`.
    pub region: Option<usize>,
    /// Its direction, if it says one. The last one counts.
    pub direction: Option<(Direction, Span)>,
    /// From its opening to its closing brace or divider.
    pub span: Span,
}

/// An end of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// A state.
    State(StateId),
    /// `[*]` to the left of an arrow: where the scope starts.
    Start(ScopeId),
    /// `[*]` to the right of an arrow: where the scope ends.
    End(ScopeId),
}

/// `A --> B : label`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transition {
    /// Where it leaves.
    pub from: Endpoint,
    /// Where the left end is written.
    pub from_span: Span,
    /// Where it arrives.
    pub to: Endpoint,
    /// Where the right end is written.
    pub to_span: Span,
    /// Its label, if there is one.
    pub label: Option<Text>,
    /// The scope it is written in.
    pub scope: ScopeId,
    /// The whole statement.
    pub span: Span,
}

/// On which side of its state a note stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteSide {
    /// `note left of`.
    Left,
    /// `note right of`.
    Right,
}

/// A note, in one line or in several up to `end note`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The state or the `[*]` it belongs to; `None` for a floating note, which Mermaid reads and does not draw.
    pub target: Option<Endpoint>,
    /// Its side; `None` for a floating note.
    pub side: Option<NoteSide>,
    /// What it says.
    pub text: Text,
    /// The name of a floating note.
    pub alias: Option<Text>,
    /// The scope it is written in.
    pub scope: ScopeId,
    /// The whole statement.
    pub span: Span,
}

/// `classDef name styles`, `class states name` or `style states styles`: names to the left, a value to the right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StyleRule {
    /// The class that is defined, or the states that are styled.
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

/// A state diagram as it was read.
///
/// Made by [`parse`](super::parse). Everything is in source order; a place is a byte [`Span`] of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagram {
    /// The word that opened it, and where.
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
    /// What stands between the `---` lines.
    pub front_matter: Option<Text>,
    /// Where Mermaid does something other than what the text seems to say.
    pub warnings: Vec<Warning>,
    pub(super) lines: LineIndex,
}

impl Diagram {
    /// The line of the source, from 1, in which a span of this diagram begins.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\nA --> B").unwrap();
    /// assert_eq!(diagram.line(diagram.transitions[0].span), 2);
    /// ```
    #[must_use]
    pub fn line(&self, span: Span) -> usize {
        self.lines.line(span.start)
    }

    /// The state with this id.
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
