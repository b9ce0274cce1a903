//! A graph as a Mermaid state diagram.

use super::GraphJson;

/// The diagram, without a fence: what a `.mmd` file holds.
pub(crate) fn mermaid(graph: &GraphJson) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    let mut line = |from: &str, to: &str, label: Option<&str>| {
        let label = label.map(|label| format!(" : {label}")).unwrap_or_default();
        text.push_str(&format!("    {from} --> {to}{label}\n"));
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

/// A diagram under a heading: a part of a Markdown document.
pub(crate) fn markdown(name: &str, diagram: &str) -> String {
    format!("## {name}\n\n```mermaid\n{diagram}```\n")
}
