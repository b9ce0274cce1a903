//! A graph in Graphviz's language.

use super::GraphJson;

/// The graph: states in source order, a point before each initial state, a double border around terminal ones.
pub(crate) fn dot(graph: &GraphJson) -> String {
    let mut text = format!("digraph {} {{\n", quoted(graph.name.as_deref().unwrap_or("diagram")));
    text.push_str("    node [shape=box, style=rounded];\n");
    let mut line = |statement: String| text.push_str(&format!("    {statement};\n"));
    for state in &graph.states {
        let borders = if graph.terminal.contains(&state.name) { " [peripheries=2]" } else { "" };
        line(format!("{}{borders}", quoted(&state.name)));
    }
    for state in &graph.initial {
        // No state can have this name: Mermaid writes `[*]` for the mark itself.
        let mark = quoted(&format!("[*] {state}"));
        line(format!("{mark} [shape=point, label=\"\"]"));
        line(format!("{mark} -> {}", quoted(state)));
    }
    for edge in &graph.edges {
        let label =
            edge.label.as_ref().map(|label| format!(" [label={}]", quoted(label))).unwrap_or_default();
        line(format!("{} -> {}{label}", quoted(&edge.from), quoted(&edge.to)));
    }
    text.push_str("}\n");
    text
}

/// A quoted id: within it only the quote and the backslash before it mean something, and a line break is `\n`.
fn quoted(id: &str) -> String {
    let escaped = id.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], "\\n");
    format!("\"{escaped}\"")
}
