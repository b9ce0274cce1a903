//! The fewest walks that take every edge of a graph.

use super::flow::Flow;
use crate::kernel::{Edge, Graph};

/// The fewest walks from the initial state to a terminal one that together take every edge; among those, walks with the
/// fewest steps in all.
///
/// A walk ends in a terminal state, or, where no terminal state can be reached any more, wherever it is. The result is
/// the same each time.
///
/// This is a flow problem: each edge must be walked at least once, and as little as possible may flow from the initial
/// state to the ends. A least flow is found by augmenting paths that take flow back, so the number is a proven minimum:
/// no greedy choice can miss it.
///
/// ```
/// use runstate::kernel::Persist;
/// use runstate::testing::{example::AnyDoor, fewest_walks};
/// use runstate::tool_call::AnyToolCall;
///
/// let walks = fewest_walks(AnyDoor::GRAPH);
/// let events: Vec<_> = walks[0].iter().map(|edge| edge.event).collect();
/// assert_eq!(walks.len(), 1);
/// assert_eq!(events, ["close", "lock", "unlock", "reopen", "remove"]);
///
/// // Thirteen edges, and only seven ways into a terminal state to end with.
/// assert_eq!(fewest_walks(AnyToolCall::GRAPH).len(), 7);
/// ```
pub fn fewest_walks(graph: &Graph) -> Vec<Vec<&'static Edge>> {
    let initial = graph.states.iter().position(|state| state.initial).unwrap_or(0);
    let mut flow = Flow::new(graph.states.len(), initial, &ends(graph));
    for edge in graph.edges {
        flow.must_take(edge.from_index, edge.to_index);
    }
    let walks = flow.fewest_walks();
    walks.into_iter().map(|walk| walk.into_iter().map(|i| &graph.edges[i]).collect()).collect()
}

/// The terminal states, and the states from which none can be reached.
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
