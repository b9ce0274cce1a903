//! The rules of one lifecycle, compiled for the checker.

use std::fmt;
use std::sync::Arc;

use super::event::Plain;
use crate::kernel::Graph;

/// The rules of one lifecycle: its states, its transitions, its initial and its terminal states.
///
/// Without an initial state an instance may begin in any state. Without a terminal state it may stop in any state.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::trace::Rules;
///
/// let graph = <runstate::tool_call::AnyToolCall as Stateful>::GRAPH;
/// let rules = Rules::of_graph(graph);
/// assert_eq!(rules.name(), "tool_call");
/// assert_eq!(rules.edges().count(), graph.edges.len());
/// assert!(rules.edges().all(|edge| edge.held));
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Rules {
    pub(super) name: Box<str>,
    pub(super) file: Option<Arc<str>>,
    pub(super) states: Vec<StateRule>,
    pub(super) edges: Vec<EdgeRule>,
    /// The drawn transitions, where the diagram has composite states or choices.
    pub(super) drawn: Option<DrawnRules>,
    /// Whether a creation must have the event `create`, where its transition from `[*]` has no label.
    pub(super) names_creation: bool,
    pub(super) begins_anywhere: bool,
    pub(super) stops_anywhere: bool,
}

#[derive(Debug, Clone)]
pub(super) struct StateRule {
    pub(super) name: Box<str>,
    pub(super) initial: bool,
    pub(super) terminal: bool,
    /// The transitions from `[*]`; none for a state that a graph marks as initial.
    pub(super) starts: Vec<Start>,
    pub(super) line: Option<u32>,
    /// The indices of the outgoing transitions, in source order.
    pub(super) out: Vec<u32>,
}

/// A transition from `[*]`.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// The label; empty for none.
    pub(super) event: Box<str>,
    /// The name in the label. The event `create` is legal too.
    pub(super) held: Option<Box<str>>,
    pub(super) line: Option<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct EdgeRule {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The event, or the label; empty for none.
    pub(super) event: Box<str>,
    /// The name of the only event that takes the transition; none if every event does.
    pub(super) held: Option<Box<str>>,
    pub(super) line: Option<u32>,
}

/// The drawn transitions, and the composite states.
#[derive(Debug, Clone)]
pub(super) struct DrawnRules {
    pub(super) arrows: Vec<Arrow>,
    /// The indices of the arrows of each transition.
    pub(super) of_edges: Vec<Vec<u32>>,
    pub(super) composites: Vec<CompositeRule>,
    /// The index of the directly enclosing composite state of each state.
    pub(super) around: Vec<Option<u32>>,
}

/// A transition of a diagram.
#[derive(Debug, Clone)]
pub(super) struct Arrow {
    pub(super) from: Box<str>,
    pub(super) to: Box<str>,
    /// The label; empty for none.
    pub(super) event: Box<str>,
    /// Whether the diagram names each event that takes the arrow.
    pub(super) is_held: bool,
    pub(super) line: Option<u32>,
}

impl Arrow {
    fn show(&self) -> RuleEdge<'_> {
        RuleEdge { from: &self.from, event: &self.event, to: &self.to, held: self.is_held, line: self.line }
    }
}

#[derive(Debug, Clone)]
pub(super) struct CompositeRule {
    pub(super) name: Box<str>,
    /// The index of the directly enclosing composite state.
    pub(super) around: Option<u32>,
    pub(super) line: Option<u32>,
}

impl DrawnRules {
    /// The indices of the composite states around a state, the innermost first.
    pub(super) fn around(&self, state: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.around[state as usize], |at| self.composites[*at as usize].around)
    }
}

/// One transition of [`Rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleEdge<'a> {
    /// The source state.
    pub from: &'a str,
    /// The event, or the label in a diagram; empty for none.
    pub event: &'a str,
    /// The target state.
    pub to: &'a str,
    /// Whether only the event of that name takes the transition. Without a label, or with a label that is no event
    /// name, every event takes it.
    pub held: bool,
    /// The line in the diagram, from 1, if known.
    pub line: Option<u32>,
}

impl fmt::Display for RuleEdge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {}", Plain(self.from), Plain(self.to))?;
        if self.event.is_empty() { Ok(()) } else { write!(f, " : {}", Plain(self.event)) }
    }
}

impl Rules {
    /// Makes the rules of a graph: only its states, events and transitions are legal.
    pub fn of_graph(graph: &Graph) -> Self {
        let state = |state: &crate::kernel::StateInfo| StateRule {
            name: state.name.into(),
            initial: state.initial,
            terminal: state.terminal,
            starts: Vec::new(),
            line: None,
            out: Vec::new(),
        };
        let edge = |edge: &crate::kernel::Edge| EdgeRule {
            from: place(edge.from_index),
            to: place(edge.to_index),
            event: edge.event.into(),
            held: Some(edge.event.into()),
            line: None,
        };
        Rules::new(
            graph.name,
            graph.states.iter().map(state).collect(),
            graph.edges.iter().map(edge).collect(),
            true,
        )
    }

    pub(super) fn new(
        name: &str,
        mut states: Vec<StateRule>,
        edges: Vec<EdgeRule>,
        names_creation: bool,
    ) -> Self {
        for (number, edge) in edges.iter().enumerate() {
            states[edge.from as usize].out.push(place(number));
        }
        Rules {
            name: name.into(),
            file: None,
            begins_anywhere: !states.iter().any(|state| state.initial),
            stops_anywhere: !states.iter().any(|state| state.terminal),
            states,
            edges,
            drawn: None,
            names_creation,
        }
    }

    /// The name of the lifecycle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the rules have an initial state. Without one an instance may begin in any state.
    pub fn has_start(&self) -> bool {
        !self.begins_anywhere
    }

    /// Returns whether the rules have a terminal state. Without one an instance may stop in any state, and none is
    /// unfinished.
    pub fn has_end(&self) -> bool {
        !self.stops_anywhere
    }

    /// The file of the diagram, if any.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The names of the states, in source order.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|state| &*state.name)
    }

    /// The transitions between states, in source order.
    pub fn edges(&self) -> impl Iterator<Item = RuleEdge<'_>> {
        self.edges.iter().map(|edge| self.show(edge))
    }

    /// The drawn transitions, in source order: between states, composite states and choices. Without composite states
    /// and choices they are the transitions between states. Coverage counts them.
    ///
    /// # Example
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    /// use runstate::trace::Rules;
    ///
    /// let source = "stateDiagram-v2
    ///     [*] --> Idle
    ///     Idle --> Busy : begin
    ///     state Busy {
    ///         [*] --> Reading
    ///         Reading --> Writing : read
    ///     }
    ///     Busy --> Idle : cancel";
    /// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
    /// let rules = Rules::of_diagram("job", &graph, "job.mmd");
    /// assert_eq!((rules.edges().count(), rules.arrows().count()), (4, 3));
    /// assert_eq!(rules.arrows().last().unwrap().to_string(), "Busy --> Idle : cancel");
    /// ```
    pub fn arrows(&self) -> impl Iterator<Item = RuleEdge<'_>> {
        let (arrows, edges) = match &self.drawn {
            Some(drawn) => (drawn.arrows.as_slice(), None),
            None => (&[][..], Some(self.edges())),
        };
        arrows.iter().map(Arrow::show).chain(edges.into_iter().flatten())
    }

    /// The drawn transitions from `[*]`, in the order of their states. A transition bound to a name is taken by
    /// `create`, and by the event with that name.
    ///
    /// # Example
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    /// use runstate::trace::Rules;
    ///
    /// let source = "stateDiagram-v2\n[*] --> A : open\n[*] --> B : on a call\nA --> B";
    /// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
    /// let rules = Rules::of_diagram("job", &graph, "job.mmd");
    /// let starts: Vec<(String, bool)> = rules.starts().map(|start| (start.to_string(), start.held)).collect();
    /// assert_eq!(starts, [("[*] --> A : open".to_owned(), true), ("[*] --> B : on a call".to_owned(), false)]);
    /// ```
    pub fn starts(&self) -> impl Iterator<Item = RuleEdge<'_>> {
        let starts =
            self.states.iter().flat_map(|state| state.starts.iter().map(move |start| (state, start)));
        starts.map(|(state, start)| RuleEdge {
            from: "[*]",
            event: &start.event,
            to: &state.name,
            held: self.is_held(start),
            line: start.line,
        })
    }

    /// Returns whether the diagram names the events of that creation.
    pub(super) fn is_held(&self, start: &Start) -> bool {
        start.held.is_some() || start.event.is_empty() && self.names_creation
    }

    pub(super) fn show<'a>(&'a self, edge: &'a EdgeRule) -> RuleEdge<'a> {
        RuleEdge {
            from: &self.states[edge.from as usize].name,
            event: &edge.event,
            to: &self.states[edge.to as usize].name,
            held: edge.held.is_some(),
            line: edge.line,
        }
    }

    /// The drawn arrows of a transition, where they differ from it.
    pub(super) fn drawn_as(&self, edge: usize) -> impl Iterator<Item = RuleEdge<'_>> {
        let drawn = self.drawn.as_ref().map(|drawn| (&drawn.arrows, drawn.of_edges[edge].as_slice()));
        let (arrows, of_edge) = drawn.map_or((&[][..], &[][..]), |(arrows, of)| (arrows.as_slice(), of));
        let edge = self.show(&self.edges[edge]);
        let is_other = move |arrow: &RuleEdge<'_>| {
            (arrow.from, arrow.event, arrow.to) != (edge.from, edge.event, edge.to)
        };
        of_edge.iter().map(|at| arrows[*at as usize].show()).filter(is_other)
    }

    /// Finds the composite state with this name.
    pub(super) fn composite(&self, name: &str) -> Option<(u32, &CompositeRule)> {
        let composites = self.drawn.iter().flat_map(|drawn| &drawn.composites);
        (0..).zip(composites).find(|(_, composite)| *composite.name == *name)
    }

    /// The states inside of a composite state, at any depth.
    pub(super) fn inside(&self, composite: u32) -> impl Iterator<Item = &StateRule> {
        let drawn = self.drawn.iter();
        drawn.flat_map(move |drawn| {
            let is_inside = move |(at, _): &(u32, &StateRule)| drawn.around(*at).any(|it| it == composite);
            (0..).zip(&self.states).filter(is_inside).map(|(_, state)| state)
        })
    }

    /// Finds the index of a state.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.states.iter().position(|state| &*state.name == name).map(place)
    }

    pub(super) fn ways_out(&self, state: u32) -> impl Iterator<Item = (usize, &EdgeRule)> {
        self.states[state as usize].out.iter().map(|&edge| (edge as usize, &self.edges[edge as usize]))
    }

    /// Returns whether an instance may stop in this state.
    pub(super) fn may_stop(&self, state: u32) -> bool {
        self.stops_anywhere || self.states[state as usize].terminal
    }

    /// Returns whether the state is terminal and has no outgoing transitions.
    pub(super) fn is_over(&self, state: u32) -> bool {
        let state = &self.states[state as usize];
        state.terminal && state.out.is_empty()
    }
}

/// Converts an index of a state or a transition. More than `u32::MAX` of them do not fit in memory.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
