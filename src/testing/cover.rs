//! A minimal transition cover: the fewest paths that take every transition of a graph.

use super::flow::Flow;
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
/// use runstate::kernel::Persist;
/// use runstate::testing::{example::AnyDoor, minimal_transition_cover};
/// use runstate::tool_call::AnyToolCall;
///
/// let paths = minimal_transition_cover(AnyDoor::GRAPH);
/// let events: Vec<_> = paths[0].iter().map(|edge| edge.event).collect();
/// assert_eq!(paths.len(), 1);
/// assert_eq!(events, ["close", "lock", "unlock", "reopen", "remove"]);
///
/// // Thirteen transitions, and only seven of them enter a terminal state.
/// assert_eq!(minimal_transition_cover(AnyToolCall::GRAPH).len(), 7);
/// ```
pub fn minimal_transition_cover(graph: &Graph) -> Vec<Vec<&'static Edge>> {
    let initial = graph.states.iter().position(|state| state.initial).unwrap_or(0);
    let mut flow = Flow::new(graph.states.len(), initial, &ends(graph));
    for edge in graph.edges {
        flow.must_take(edge.from_index, edge.to_index);
    }
    let paths = flow.minimal_transition_cover();
    paths.into_iter().map(|path| path.into_iter().map(|i| &graph.edges[i]).collect()).collect()
}

/// The terminal states, and the states from which no terminal state is reachable.
fn ends(graph: &Graph) -> Vec<usize> {
    let mut reaches_terminal: Vec<bool> = graph.states.iter().map(|state| state.terminal).collect();
    let mut grew = true;
    while grew {
        grew = false;
        for edge in graph.edges {
            if reaches_terminal[edge.to_index] && !reaches_terminal[edge.from_index] {
                reaches_terminal[edge.from_index] = true;
                grew = true;
            }
        }
    }
    let is_end = |i: &usize| graph.states[*i].terminal || !reaches_terminal[*i];
    (0..graph.states.len()).filter(is_end).collect()
}
