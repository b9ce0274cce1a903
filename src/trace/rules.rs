//! What is legal in one lifecycle, compiled for the checker.

use std::fmt;
use std::sync::Arc;

use super::event::Plain;
use crate::kernel::Graph;

/// What is legal in one lifecycle: its states, its edges, where an instance begins and where it ends.
///
/// Where nothing is marked as initial an instance may begin anywhere, and where nothing is marked as terminal it may
/// stop anywhere.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Persist;
/// use runstate::trace::Rules;
///
/// let rules = Rules::of_graph(<runstate::tool_call::AnyToolCall as Persist>::GRAPH);
/// assert_eq!(rules.name(), "tool_call");
/// assert_eq!(rules.edges().count(), 13);
/// assert!(rules.checks_events());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Rules {
    pub(super) name: Box<str>,
    pub(super) file: Option<Arc<str>>,
    pub(super) states: Vec<StateRule>,
    pub(super) edges: Vec<EdgeRule>,
    pub(super) by_event: bool,
    pub(super) begins_anywhere: bool,
    pub(super) stops_anywhere: bool,
}

#[derive(Debug, Clone)]
pub(super) struct StateRule {
    pub(super) name: Box<str>,
    pub(super) initial: bool,
    pub(super) terminal: bool,
    pub(super) line: Option<u32>,
    /// The places of the edges that leave it, in source order.
    pub(super) out: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct EdgeRule {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The event, or the label; empty for none.
    pub(super) event: Box<str>,
    pub(super) line: Option<u32>,
}

/// One edge of [`Rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleEdge<'a> {
    /// The state that is left.
    pub from: &'a str,
    /// The event, or the label in a diagram whose labels are not names of events; empty for none.
    pub event: &'a str,
    /// The state that is entered.
    pub to: &'a str,
    /// The line in the diagram, from 1, when it is known.
    pub line: Option<u32>,
}

impl fmt::Display for RuleEdge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {}", Plain(self.from), Plain(self.to))?;
        if self.event.is_empty() { Ok(()) } else { write!(f, " : {}", Plain(self.event)) }
    }
}

impl Rules {
    /// The rules of a graph: states, events and edges must be its own.
    pub fn of_graph(graph: &Graph) -> Self {
        let state = |state: &crate::kernel::StateInfo| StateRule {
            name: state.name.into(),
            initial: state.initial,
            terminal: state.terminal,
            line: None,
            out: Vec::new(),
        };
        let edge = |edge: &crate::kernel::Edge| EdgeRule {
            from: place(edge.from_index),
            to: place(edge.to_index),
            event: edge.event.into(),
            line: None,
        };
        Rules::new(
            graph.name,
            graph.states.iter().map(state).collect(),
            graph.edges.iter().map(edge).collect(),
            true,
        )
    }

    pub(super) fn new(name: &str, mut states: Vec<StateRule>, edges: Vec<EdgeRule>, by_event: bool) -> Self {
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
            by_event,
        }
    }

    /// The name of the lifecycle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Are events held against the rules by their names too, or only by the states they lead from and to?
    pub fn checks_events(&self) -> bool {
        self.by_event
    }

    /// The names of the states, in source order.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|state| &*state.name)
    }

    /// The edges, in source order.
    pub fn edges(&self) -> impl Iterator<Item = RuleEdge<'_>> {
        self.edges.iter().map(|edge| self.show(edge))
    }

    pub(super) fn show<'a>(&'a self, edge: &'a EdgeRule) -> RuleEdge<'a> {
        RuleEdge {
            from: &self.states[edge.from as usize].name,
            event: &edge.event,
            to: &self.states[edge.to as usize].name,
            line: edge.line,
        }
    }

    /// The place of a state.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.states.iter().position(|state| &*state.name == name).map(place)
    }

    pub(super) fn ways_out(&self, state: u32) -> impl Iterator<Item = (usize, &EdgeRule)> {
        self.states[state as usize].out.iter().map(|&edge| (edge as usize, &self.edges[edge as usize]))
    }

    /// May an instance stop here for good?
    pub(super) fn may_stop(&self, state: u32) -> bool {
        self.stops_anywhere || self.states[state as usize].terminal
    }

    /// Is there nothing after this state?
    pub(super) fn is_over(&self, state: u32) -> bool {
        let state = &self.states[state as usize];
        state.terminal && state.out.is_empty()
    }
}

/// A place in a list of states or edges; a text that holds more of them than a `u32` can count does not fit in memory.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
