use runstate::kernel::{Edge, Graph, Stateful};
use runstate::tool_call::AnyToolCall;

#[cfg(illegal)]
pub const TELEPORT: Edge = Edge {
    lifecycle: "tool_call",
    from: "New",
    event: "teleport",
    to: "Succeeded",
    from_index: 0,
    to_index: 4,
};

#[cfg(illegal)]
pub fn copied(edge: &'static Edge) -> Edge {
    Edge { event: "teleport", ..*edge }
}

#[cfg(illegal)]
pub fn renamed(graph: &'static Graph) -> Graph {
    Graph { name: "tool_call", ..*graph }
}

#[cfg(not(illegal))]
pub fn edges() -> (&'static Graph, &'static [Edge]) {
    (AnyToolCall::GRAPH, AnyToolCall::GRAPH.edges)
}
