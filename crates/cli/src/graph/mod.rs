//! A state graph as other programs read it: the JSON form, and its drawings.

mod dot;
mod mermaid;

use runstate::kernel::Graph;
use serde::{Deserialize, Serialize};

pub(crate) use dot::dot;
pub(crate) use mermaid::{markdown, mermaid};

/// A graph from any source. Its fields are the JSON form of `runstate diagram --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphJson {
    /// The lifecycle's name, or the heading above the diagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<String>,
    /// The schema version of a lifecycle's snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u32>,
    /// The states, in source order.
    pub(crate) states: Vec<StateJson>,
    /// The edges between states, in source order.
    pub(crate) edges: Vec<EdgeJson>,
    /// The states in which it begins, in source order.
    #[serde(default)]
    pub(crate) initial: Vec<String>,
    /// The states in which it ends, in source order.
    #[serde(default)]
    pub(crate) terminal: Vec<String>,
    /// Where Mermaid does something else than the text seems to say.
    #[serde(default)]
    pub(crate) warnings: Vec<WarningJson>,
}

/// A state of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateJson {
    pub(crate) name: String,
    /// What is true in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<String>,
    /// The line of its diagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
}

/// An edge of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EdgeJson {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The name of its event, or the text on its arrow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of its diagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
}

/// A warning about a diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarningJson {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl From<&'static Graph> for GraphJson {
    fn from(graph: &'static Graph) -> Self {
        let named = |mark: fn(&runstate::kernel::StateInfo) -> bool| {
            graph.states.iter().filter(|state| mark(state)).map(|state| state.name.to_owned()).collect()
        };
        GraphJson {
            name: Some(graph.name.to_owned()),
            about: Some(graph.doc.to_owned()),
            version: Some(graph.version),
            states: graph
                .states
                .iter()
                .map(|state| StateJson {
                    name: state.name.to_owned(),
                    about: Some(state.doc.to_owned()),
                    line: None,
                })
                .collect(),
            edges: graph
                .edges
                .iter()
                .map(|edge| EdgeJson {
                    from: edge.from.to_owned(),
                    to: edge.to.to_owned(),
                    label: Some(edge.event.to_owned()),
                    line: None,
                })
                .collect(),
            initial: named(|state| state.initial),
            terminal: named(|state| state.terminal),
            warnings: Vec::new(),
        }
    }
}
