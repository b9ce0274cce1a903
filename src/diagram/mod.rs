//! Mermaid state diagrams: parsing, description, comparison.
//!
//! [`parse`] reads a `stateDiagram-v2` as Mermaid 11 does. It accepts and refuses exactly the texts that Mermaid
//! accepts and refuses. It warns where Mermaid silently deviates from the apparent meaning of the text.
//!
//! ```
//! let source = "stateDiagram-v2\n    [*] --> Ready\n    Ready --> Done : finish\n    Done --> [*]\n";
//! let diagram = runstate::diagram::parse(source).unwrap();
//! assert_eq!(diagram.states.len(), 2);
//! assert_eq!(diagram.transitions[1].label.as_ref().unwrap().text, "finish");
//!
//! let error = runstate::diagram::parse("stateDiagram-v2\nReady -> Done\n").unwrap_err();
//! assert_eq!(error.to_string(), "line 2, column 7: expected a state, a transition or another statement, got `-`");
//! ```

mod build;
mod chars;
mod diff;
mod document;
mod error;
mod graph;
mod label;
mod lexer;
mod markdown;
mod model;
mod parser;
mod prepare;
mod source;
mod syntax;
mod token;
mod warning;

pub use diff::{Change, ChangeKind, Severity, diff};
pub use document::{Block, Document, DocumentError, SelectError};
pub use error::SyntaxError;
#[cfg(feature = "trace")]
pub use graph::JsonError;
pub use graph::{Arrow, Composite, Drawn, FlattenError, GraphEdge, GraphState, Mark, StateGraph};
#[cfg(feature = "trace")]
pub(crate) use graph::{decode, encode_text};
pub use label::EventLabel;
#[cfg(feature = "trace")]
pub(crate) use label::event_name;
pub use model::{
    Click, Diagram, Direction, Endpoint, Header, Note, NoteSide, Scope, ScopeId, State, StateId, StateKind,
    StyleRule, Text, Transition,
};
pub use source::{Excerpt, LineIndex, Position, Span};
pub use warning::{Warning, WarningKind};

/// Parses a state diagram.
///
/// The source is the diagram alone, as in a `.mmd` file; front matter, directives and comments may precede the
/// header. Time and memory grow linearly with the source, at any nesting depth.
///
/// # Example
///
/// ```
/// let diagram = runstate::diagram::parse("stateDiagram-v2\n[*] --> A\nA --> [*]").unwrap();
/// assert_eq!(diagram.states[0].id, "A");
///
/// let error = runstate::diagram::parse("flowchart LR\nA --> B").unwrap_err();
/// assert_eq!(error.expected(), "`stateDiagram-v2`");
/// ```
///
/// # Errors
///
/// [`SyntaxError`] with the place, the expected content and the found content.
pub fn parse(source: &str) -> Result<Diagram, SyntaxError> {
    parse_within(source, Span::new(0, source.len()), 0)
}

/// Parses the diagram at `place` in `source`, inside that many block quotes, with spans of `source`.
fn parse_within(source: &str, place: Span, quotes: usize) -> Result<Diagram, SyntaxError> {
    let prepared = prepare::Prepared::new(source, place, quotes);
    prepared.check_kind(source)?;
    let (syntax, warnings, comments) = parser::Parser::new(source, &prepared).run()?;
    build::Builder::new(source, place, prepared, &syntax).run(syntax, warnings, comments)
}
