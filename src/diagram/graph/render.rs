//! The Mermaid and Graphviz forms of a graph.

use std::collections::HashSet;

use super::StateGraph;
use super::entity::{encode_id, encode_text};

impl StateGraph {
    /// Writes the graph as a `stateDiagram-v2`, which parses back to an equal graph.
    ///
    /// Characters with a meaning in Mermaid become entities. Lines and warnings are omitted.
    ///
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    ///
    /// let graph = StateGraph::from_diagram(&parse("stateDiagram-v2\n[*] --> A\nA --> B : #35;1").unwrap(), "x").unwrap();
    /// let text = graph.to_mermaid();
    /// assert!(text.ends_with("stateDiagram-v2\n    [*] --> A\n    A --> B : #35;1\n"), "{text}");
    /// assert_eq!(StateGraph::from_diagram(&parse(&text).unwrap(), "x").unwrap().bare(), graph.bare());
    /// ```
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut out = String::new();
        if !self.name.is_empty() {
            out.push_str(&format!("---\ntitle: \"{}\"\n---\n", yaml(&self.name)));
        }
        out.push_str("stateDiagram-v2\n");
        // States are listed first where the transitions would give another order, or omit states.
        if !self.order_is_given() {
            for state in &self.states {
                out.push_str(&format!("    {}\n", encode_id(&state.name)));
            }
        }
        for mark in &self.initial {
            out.push_str(&format!(
                "    [*] --> {}{}\n",
                encode_id(&mark.state),
                label(mark.label.as_deref())
            ));
        }
        for edge in &self.edges {
            let label = label(edge.label.as_deref());
            out.push_str(&format!("    {} --> {}{label}\n", encode_id(&edge.from), encode_id(&edge.to)));
        }
        for mark in &self.terminal {
            out.push_str(&format!("    {} --> [*]\n", encode_id(&mark.state)));
        }
        for state in &self.states {
            let Some(description) = state.description.as_ref().filter(|text| !text.is_empty()) else {
                continue;
            };
            let id = encode_id(&state.name);
            if description.split('\n').any(str::is_empty) {
                out.push_str(&format!("    {id} : {}\n", encode_text(description)));
                continue;
            }
            for line in description.split('\n') {
                out.push_str(&format!("    {id} : {}\n", encode_text(line)));
            }
        }
        out
    }

    /// Returns whether start marks, transitions and end marks name the states in their order.
    fn order_is_given(&self) -> bool {
        let mut seen = HashSet::new();
        let marks = self.initial.iter().map(|mark| &mark.state);
        let edges = self.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
        let ends = self.terminal.iter().map(|mark| &mark.state);
        let named = marks.chain(edges).chain(ends).filter(|name| seen.insert(name.as_str()));
        named.eq(self.states.iter().map(|state| &state.name))
    }

    /// Writes the graph as Graphviz text. Terminal states have a double border.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\n[*] --> A\nA --> [*]").unwrap();
    /// let graph = runstate::diagram::StateGraph::from_diagram(&diagram, "x").unwrap();
    /// assert!(graph.to_dot().contains("\"A\" [peripheries=2];"));
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph \"{}\" {{\n    node [shape=box, style=rounded];\n", dot(&self.name));
        for (at, mark) in self.initial.iter().enumerate() {
            out.push_str(&format!("    \"[*] {at}\" [shape=point];\n"));
            let label = dot_label(mark.label.as_deref());
            out.push_str(&format!("    \"[*] {at}\" -> \"{}\"{label};\n", dot(&mark.state)));
        }
        let ends: HashSet<&str> = self.terminal.iter().map(|mark| mark.state.as_str()).collect();
        for state in &self.states {
            let mut settings = Vec::new();
            if let Some(text) = &state.description {
                settings.push(format!("label=\"{}\\n{}\"", dot(&state.name), dot(text)));
            }
            if ends.contains(state.name.as_str()) {
                settings.push("peripheries=2".to_owned());
            }
            let settings =
                if settings.is_empty() { String::new() } else { format!(" [{}]", settings.join(", ")) };
            out.push_str(&format!("    \"{}\"{settings};\n", dot(&state.name)));
        }
        for edge in &self.edges {
            let label = dot_label(edge.label.as_deref());
            out.push_str(&format!("    \"{}\" -> \"{}\"{label};\n", dot(&edge.from), dot(&edge.to)));
        }
        out.push_str("}\n");
        out
    }
}

/// A label after a transition.
fn label(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).map(|text| format!(" : {}", encode_text(text))).unwrap_or_default()
}

fn dot_label(text: Option<&str>) -> String {
    text.map(|text| format!(" [label=\"{}\"]", dot(text))).unwrap_or_default()
}

fn dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Escapes a text for a double-quoted YAML string.
fn yaml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_alphanumeric() || " -_.,()[]/+*=!?&|@$^~';".contains(c) => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out
}
