//! A state graph without nesting: what other programs ask of a diagram.

mod entity;
mod flatten;
mod flatten_error;
#[cfg(feature = "trace")]
mod json;
mod render;

use std::collections::HashMap;

#[cfg(feature = "trace")]
pub(crate) use entity::{decode, encode_text};
pub use flatten_error::FlattenError;
#[cfg(feature = "trace")]
pub use json::JsonError;

use super::model::Diagram;
use crate::kernel::Fingerprint;

/// A state of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphState {
    /// Its name, unique in the graph.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// The line of the source it is declared in.
    pub line: Option<usize>,
}

/// A transition of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphEdge {
    /// The name of the state it leaves.
    pub from: String,
    /// The name of the state it enters.
    pub to: String,
    /// What causes it.
    pub label: Option<String>,
    /// The line of the source it is written in.
    pub line: Option<usize>,
}

/// A state that a [`StateGraph`] starts or ends in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark {
    /// The name of the state.
    pub state: String,
    /// The label of the transition from `[*]`; a transition to `[*]` has none here.
    pub label: Option<String>,
    /// The line of the source that says so.
    pub line: Option<usize>,
}

/// A transition between two states, composite states or choices, as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrow {
    /// The name of the state, the composite state or the choice that it leaves.
    pub from: String,
    /// The name of the state, the composite state or the choice that it leads to.
    pub to: String,
    /// What causes it.
    pub label: Option<String>,
    /// The line of the source it is written in.
    pub line: Option<usize>,
}

/// A composite state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Composite {
    /// Its name.
    pub name: String,
    /// The place of the composite state that it is directly inside of.
    pub inside: Option<usize>,
    /// The line of the source it is declared in.
    pub line: Option<usize>,
}

/// How a diagram with composite states or choices draws the edges of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drawn {
    /// The transitions that edges are made of, in source order. Those from and to `[*]` are marks and none of them.
    pub arrows: Vec<Arrow>,
    /// The composite states, in source order.
    pub composites: Vec<Composite>,
    /// For each state of the graph, the place of the composite state that it is directly inside of. A state of the graph that is a
    /// composite state too is inside of itself.
    pub states: Vec<Option<usize>>,
    /// For each edge of the graph, the places of its arrows in the order in which they are taken.
    pub edges: Vec<Vec<usize>>,
}

/// States and transitions in source order, without scopes, choices and styles.
///
/// The fields are open: a program may build a graph by itself, for instance to compare it with a drawn one.
///
/// # Example
///
/// ```
/// use runstate::diagram::{StateGraph, parse};
///
/// let source = "stateDiagram-v2
///     [*] --> Idle
///     Idle --> c : submit
///     state c <<choice>>
///     c --> Busy : valid
///     c --> Idle : invalid
///     state Busy {
///         [*] --> Reading
///         Reading --> Writing
///     }
///     Busy --> Idle : cancel
///     Busy --> [*] : done";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
/// let edges: Vec<String> = graph.edges.iter().map(|edge| edge.to_string()).collect();
/// assert_eq!(edges, [
///     "Idle --> Reading : submit [valid]",
///     "Idle --> Idle : submit [invalid]",
///     "Reading --> Writing",
///     "Reading --> Idle : cancel",
///     "Writing --> Idle : cancel",
/// ]);
///
/// // A graph of one state at a time has no place for a fork.
/// let source = "stateDiagram-v2\nstate f <<fork>>\nA --> f\nf --> B\nf --> C";
/// let error = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: the fork `f` leads to several states at once");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateGraph {
    /// The name of the graph.
    pub name: String,
    /// The states, in source order.
    pub states: Vec<GraphState>,
    /// The transitions, in source order.
    pub edges: Vec<GraphEdge>,
    /// The states that a run may start in.
    pub initial: Vec<Mark>,
    /// The states that a run may end in.
    pub terminal: Vec<Mark>,
    /// What was lost or doubtful on the way here, each with its line.
    pub warnings: Vec<String>,
    /// How the diagram draws it, where that is with composite states or choices.
    pub drawn: Option<Drawn>,
}

impl std::fmt::Display for GraphEdge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} --> {}", self.from, self.to)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " : {label}"))
    }
}

impl StateGraph {
    /// Makes a graph of a diagram. The diagram's title is the name, or else `name`.
    ///
    /// - A composite state disappears. A transition to it enters the targets of its inner `[*] -->`.
    /// - A labelled transition from it leaves from every state inside of it, as in UML. One without a label is its
    ///   completion: it leaves from the states with an inner `--> [*]`, or from every state inside if there are none.
    /// - An empty composite state is a plain one. One that is entered and has no `[*] -->` inside is a state of its own, and
    ///   no transition leads from it to the states inside but those that are drawn.
    /// - A choice disappears: `A --> c : x` and `c --> B : y` become `A --> B : x [y]`; a label that is alone stays as
    ///   it is.
    /// - `[*] --> A` and `A --> [*]` become marks, without their labels.
    /// - Entities such as `#35;` in names, labels and descriptions become the characters they stand for.
    /// - The warnings of the diagram are kept, and what is lost here is added to them.
    ///
    /// # Errors
    ///
    /// [`FlattenError`], with its line, for what one state at a time cannot say: forks, joins, concurrent regions. Also
    /// for a choice without a way out or in a circle, and for a state inside of itself.
    pub fn from_diagram(diagram: &Diagram, name: &str) -> Result<Self, FlattenError> {
        flatten::flatten(diagram, name)
    }

    /// The state with this name.
    ///
    /// ```
    /// let graph = runstate::diagram::StateGraph::default();
    /// assert!(graph.state("A").is_none());
    /// ```
    #[must_use]
    pub fn state(&self, name: &str) -> Option<&GraphState> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Whether a run may end in the state with this name.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\nA --> B\nB --> [*]").unwrap();
    /// let graph = runstate::diagram::StateGraph::from_diagram(&diagram, "x").unwrap();
    /// assert!(graph.is_terminal("B"));
    /// assert!(!graph.is_terminal("A"));
    /// ```
    #[must_use]
    pub fn is_terminal(&self, name: &str) -> bool {
        self.terminal.iter().any(|mark| mark.state == name)
    }

    /// The graph without lines, warnings and its drawing: what two graphs have to share to say the same.
    ///
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    ///
    /// let one = StateGraph::from_diagram(&parse("stateDiagram-v2\nA --> B").unwrap(), "x").unwrap();
    /// let two = StateGraph::from_diagram(&parse("stateDiagram-v2\n\n\nA --> B").unwrap(), "x").unwrap();
    /// assert_ne!(one, two);
    /// assert_eq!(one.bare(), two.bare());
    /// ```
    #[must_use]
    pub fn bare(&self) -> Self {
        let mut bare = self.clone();
        bare.states.iter_mut().for_each(|state| state.line = None);
        bare.edges.iter_mut().for_each(|edge| edge.line = None);
        bare.initial.iter_mut().chain(&mut bare.terminal).for_each(|mark| mark.line = None);
        bare.warnings.clear();
        bare.drawn = None;
        bare
    }

    /// The fingerprint that a lifecycle of this graph has, for migrations of its snapshots.
    ///
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    /// use runstate::kernel::Fingerprint;
    ///
    /// let text = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> [*]";
    /// let graph = StateGraph::from_diagram(&parse(text).unwrap(), "x").unwrap();
    /// assert_eq!(graph.fingerprint(), Fingerprint::of_diagram(&format!("```mermaid\n{text}\n```\n")));
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let is_initial = |name: &str| self.initial.iter().any(|mark| mark.state == name);
        let states = self.states.iter().map(|state| {
            let name = state.name.as_str();
            (name, is_initial(name), self.is_terminal(name))
        });
        let edges = self.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str()));
        Fingerprint::of_shape(states, edges)
    }

    /// Position of each state by name.
    pub(in crate::diagram) fn positions(&self) -> HashMap<&str, usize> {
        self.states.iter().enumerate().map(|(at, state)| (state.name.as_str(), at)).collect()
    }
}
