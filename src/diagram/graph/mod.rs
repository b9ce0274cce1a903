//! A state graph without nesting, for use by other programs.

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
use crate::kernel::{Fingerprint, Graph};

/// A state of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphState {
    /// The name, unique in the graph.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// The line of the declaration in the source.
    pub line: Option<usize>,
}

/// A transition of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphEdge {
    /// The name of the source state.
    pub from: String,
    /// The name of the target state.
    pub to: String,
    /// The label, which names the cause of the transition.
    pub label: Option<String>,
    /// The line of the transition in the source.
    pub line: Option<usize>,
}

/// An initial or terminal mark of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark {
    /// The name of the state.
    pub state: String,
    /// The label of the transition from `[*]`; a transition to `[*]` has none here.
    pub label: Option<String>,
    /// The line of the mark in the source.
    pub line: Option<usize>,
}

/// A drawn transition between two states, composite states or choices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrow {
    /// The name of the source: a state, a composite state or a choice.
    pub from: String,
    /// The name of the target: a state, a composite state or a choice.
    pub to: String,
    /// The label, which names the cause of the transition.
    pub label: Option<String>,
    /// The line of the transition in the source.
    pub line: Option<usize>,
}

/// A composite state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Composite {
    /// The name.
    pub name: String,
    /// The index of the directly enclosing composite state.
    pub inside: Option<usize>,
    /// The line of the declaration in the source.
    pub line: Option<usize>,
}

/// The drawn form of a [`StateGraph`], for diagrams with composite states or choices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drawn {
    /// The drawn transitions, in source order. Drawn transitions from and to `[*]` are marks and not in this list.
    pub arrows: Vec<Arrow>,
    /// The composite states, in source order.
    pub composites: Vec<Composite>,
    /// The index of the directly enclosing composite state for each state of the graph. A graph state that is itself
    /// a composite state has its own index.
    pub states: Vec<Option<usize>>,
    /// The indices of the arrows of each transition of the graph, in the order of the path.
    pub edges: Vec<Vec<usize>>,
}

/// A graph of states and transitions in source order, without scopes, choices and styles.
///
/// The fields are public: a program may build a graph itself, for instance to compare it with a drawn one.
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
/// // A fork needs several concurrent states, and a graph has one at a time.
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
    /// The initial marks.
    pub initial: Vec<Mark>,
    /// The terminal marks.
    pub terminal: Vec<Mark>,
    /// The warnings of the diagram and of the conversion, each with its line.
    pub warnings: Vec<String>,
    /// The drawn form, for diagrams with composite states or choices.
    pub drawn: Option<Drawn>,
}

impl std::fmt::Display for GraphEdge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} --> {}", self.from, self.to)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " : {label}"))
    }
}

/// The graph of a lifecycle, for instance to print a first diagram of it.
///
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::diagram::StateGraph;
/// use runstate::kernel::Stateful;
/// use runstate::run::AnyRun;
///
/// let mermaid = StateGraph::from(AnyRun::GRAPH).to_mermaid();
/// assert!(mermaid.contains("[*] --> Running"));
/// # }
/// ```
impl From<&Graph> for StateGraph {
    fn from(graph: &Graph) -> Self {
        let name = |name: &str| name.to_owned();
        let mark =
            |state: &crate::kernel::StateInfo| Mark { state: name(state.name), label: None, line: None };
        let states = graph.states.iter().map(|state| GraphState {
            name: name(state.name),
            description: None,
            line: None,
        });
        let edges = graph.edges.iter().map(|edge| GraphEdge {
            from: name(edge.from),
            to: name(edge.to),
            label: Some(name(edge.event)),
            line: None,
        });
        StateGraph {
            name: name(graph.name),
            states: states.collect(),
            edges: edges.collect(),
            initial: graph.states.iter().filter(|state| state.initial).map(mark).collect(),
            terminal: graph.states.iter().filter(|state| state.terminal).map(mark).collect(),
            warnings: Vec::new(),
            drawn: None,
        }
    }
}

impl StateGraph {
    /// Converts a diagram. The name is the diagram's title, or else `name`.
    ///
    /// - A composite state disappears. A transition to it enters the targets of its inner `[*] -->`.
    /// - A labelled transition from it leaves from every state inside of it, as in UML. A transition without a label
    ///   is its completion: it leaves from the states with an inner `--> [*]`, or from every state inside if there
    ///   are none.
    /// - An empty composite state is a plain state. A composite state that is entered and has no inner `[*] -->`
    ///   becomes a state of the graph. Only drawn transitions lead from it to its inner states.
    /// - A choice disappears: `A --> c : x` and `c --> B : y` become `A --> B : x [y]`; a single label is
    ///   unchanged.
    /// - `[*] --> A` and `A --> [*]` become marks. The mark of `[*] --> A` keeps the label, the mark of `A --> [*]`
    ///   has none.
    /// - Entities such as `#35;` in names, labels and descriptions become their characters.
    /// - The warnings of the diagram are kept, and the conversion adds a warning for each loss.
    ///
    /// # Errors
    ///
    /// [`FlattenError`], with its line, for concepts beyond one state at a time: forks, joins, concurrent regions.
    /// Also for a choice without an outgoing transition or in a circle, and for a state inside of itself.
    pub fn from_diagram(diagram: &Diagram, name: &str) -> Result<Self, FlattenError> {
        flatten::flatten(diagram, name)
    }

    /// Finds the state with this name.
    ///
    /// ```
    /// let graph = runstate::diagram::StateGraph::default();
    /// assert!(graph.state("A").is_none());
    /// ```
    #[must_use]
    pub fn state(&self, name: &str) -> Option<&GraphState> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Returns whether a run may end in the state with this name.
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

    /// The graph without lines, warnings and its drawn form. Two graphs are equivalent when these parts are equal.
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

    /// The fingerprint of a lifecycle with this graph, for migrations of its snapshots.
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

    /// The index of each state by name.
    pub(in crate::diagram) fn positions(&self) -> HashMap<&str, usize> {
        self.states.iter().enumerate().map(|(at, state)| (state.name.as_str(), at)).collect()
    }
}
