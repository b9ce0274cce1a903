//! A graph as a Mermaid state diagram.

use std::fmt::Write;

use super::GraphJson;

/// The diagram, without a fence: what a `.mmd` file holds.
pub(crate) fn mermaid(graph: &GraphJson) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    let mut line = |from: &str, to: &str, label: Option<&str>| {
        let label = label.map(|label| format!(" : {label}")).unwrap_or_default();
        // Writing to a string cannot fail.
        drop(writeln!(text, "    {from} --> {to}{label}"));
    };
    for state in &graph.initial {
        line("[*]", state, None);
    }
    for edge in &graph.edges {
        line(&edge.from, &edge.to, edge.label.as_deref());
    }
    for state in &graph.terminal {
        line(state, "[*]", None);
    }
    text
}
