//! A minimal transition cover: the fewest paths that take every transition of a graph.

use super::flow::Flow;
use crate::diagram::StateGraph;
use crate::kernel::{Edge, Graph};

/// Computes the fewest paths from the initial state to a terminal state that together take every transition. Among
/// those, it chooses paths with the fewest steps in total.
///
/// A path ends in a terminal state, or, where no terminal state is reachable, in any state. The result is
/// deterministic.
///
/// This is a flow problem: each transition has a minimum flow of one, and the total flow from the initial state to
/// the ends is minimized. Augmenting paths that take flow back find a minimum flow, so the number of paths is a
/// proven minimum. A greedy choice could miss it.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::{example::AnyDoor, minimal_transition_cover};
///
/// let paths = minimal_transition_cover(AnyDoor::GRAPH);
/// let events: Vec<_> = paths[0].iter().map(|edge| edge.event).collect();
/// assert_eq!(paths.len(), 1);
/// assert_eq!(events, ["close", "lock", "unlock", "reopen", "remove"]);
/// ```
pub fn minimal_transition_cover(graph: &Graph) -> Vec<Vec<&'static Edge>> {
    let initial = graph.states.iter().position(|state| state.initial).unwrap_or(0);
    let terminal: Vec<bool> = graph.states.iter().map(|state| state.terminal).collect();
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from_index, edge.to_index)).collect();
    let paths = cover(&terminal, &edges, initial);
    paths.into_iter().map(|path| path.into_iter().map(|i| &graph.edges[i]).collect()).collect()
}

/// Computes the minimal transition cover of a diagram, as [`minimal_transition_cover`] does, from its first initial
/// state. A path is a list of indices into [`StateGraph::edges`]. Transitions that cannot be reached from that state
/// are in no path.
///
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate::testing::minimal_diagram_cover;
///
/// let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> A : back\nLost --> A : never\nB --> [*]";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "x").unwrap();
/// assert_eq!(minimal_diagram_cover(&graph), [vec![0, 1, 0]]);
///
/// // A graph without an initial state has no path.
/// let graph = StateGraph::from_diagram(&parse("stateDiagram-v2\nA --> B").unwrap(), "x").unwrap();
/// assert!(minimal_diagram_cover(&graph).is_empty());
/// ```
pub fn minimal_diagram_cover(graph: &StateGraph) -> Vec<Vec<usize>> {
    let position = |name: &str| graph.states.iter().position(|state| state.name == name);
    let initial = graph.initial.first().and_then(|mark| position(&mark.state));
    let Some(initial) = initial else { return Vec::new() };
    let terminal: Vec<bool> = graph.states.iter().map(|state| graph.is_terminal(&state.name)).collect();
    let edges = graph.edges.iter().filter_map(|edge| Some((position(&edge.from)?, position(&edge.to)?)));
    cover(&terminal, &edges.collect::<Vec<_>>(), initial)
}

/// The cover of a graph with these terminal states and edges, as paths of edge indices.
fn cover(terminal: &[bool], edges: &[(usize, usize)], initial: usize) -> Vec<Vec<usize>> {
    let mut flow = Flow::new(terminal.len(), initial, &ends(terminal, edges));
    edges.iter().for_each(|(from, to)| flow.must_take(*from, *to));
    flow.minimal_transition_cover()
}

/// The terminal states, and the states from which no terminal state is reachable.
fn ends(terminal: &[bool], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut reaches_terminal = terminal.to_vec();
    let mut grew = true;
    while grew {
        grew = false;
        for (from, to) in edges {
            if reaches_terminal[*to] && !reaches_terminal[*from] {
                reaches_terminal[*from] = true;
                grew = true;
            }
        }
    }
    (0..terminal.len()).filter(|i| terminal[*i] || !reaches_terminal[*i]).collect()
}
