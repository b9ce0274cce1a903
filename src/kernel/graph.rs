//! The graph of a lifecycle: states, events and edges in source order, known while compiling.

use core::fmt;

use super::fingerprint::Fingerprint;
use super::proof::Witness;

/// The graph of one lifecycle, as its `lifecycle!` definition declares it.
///
/// Every slice is in source order, so text made from a graph is stable.
#[derive(Debug)]
#[non_exhaustive]
pub struct Graph {
    /// The name of the lifecycle in traces, such as `tool_call`.
    pub name: &'static str,
    identity: Identity,
    witness: &'static Witness,
    /// What the lifecycle is, in the words of its definition.
    pub doc: &'static str,
    /// The schema version of its snapshots.
    pub version: u32,
    /// The states.
    pub states: &'static [StateInfo],
    /// The names of the events: of the methods that take them.
    pub events: &'static [&'static str],
    /// The edges between states. The marks `[*]` are in [`StateInfo`].
    pub edges: &'static [Edge],
}

/// One state of a [`Graph`].
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateInfo {
    /// The name in diagrams, traces and storage.
    pub name: &'static str,
    /// What is true in this state.
    pub doc: &'static str,
    /// Does a machine begin here?
    pub initial: bool,
    /// Does a machine end here?
    pub terminal: bool,
}

/// One edge of a [`Graph`].
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The lifecycle that the edge belongs to.
    pub lifecycle: &'static str,
    /// The name of the state that is left.
    pub from: &'static str,
    /// The name of the event.
    pub event: &'static str,
    /// The name of the state that is entered.
    pub to: &'static str,
    /// The place of `from` in [`Graph::states`].
    pub from_index: usize,
    /// The place of `to` in [`Graph::states`].
    pub to_index: usize,
    witness: &'static Witness,
}

impl Edge {
    /// Was the edge made by the definition that owns this witness? A graph can be given the edges of another one.
    #[inline]
    pub(super) fn has_witness(&self, witness: &Witness) -> bool {
        self.witness == witness
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {} : {}", self.from, self.to, self.event)
    }
}

/// The name of a lifecycle in stored data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    /// As its definition says.
    Given(&'static str),
    /// Package and lifecycle.
    Of { package: &'static str, name: &'static str },
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Given(identity) => f.write_str(identity),
            Identity::Of { package, name } => write!(f, "{package}/{name}"),
        }
    }
}

/// Graphs are equal when one definition made both.
impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        self.witness == other.witness
    }
}

impl Eq for Graph {}

impl Graph {
    /// The name of the lifecycle in stored data: its package and its name, such as `runstate/tool_call`, unless the
    /// definition has an `identity` line.
    pub fn identity(&self) -> impl fmt::Display + use<> {
        self.identity
    }

    /// Was the graph made by the definition that owns this witness?
    #[inline]
    pub(super) fn has_witness(&self, witness: &Witness) -> bool {
        self.witness == witness
    }

    /// The witness of the definition.
    #[cfg(feature = "snapshot")]
    pub(crate) fn witness(&self) -> &'static Witness {
        self.witness
    }

    /// The state in which a machine begins.
    pub fn initial(&self) -> &'static StateInfo {
        // The const checks of `lifecycle!` let no graph without an initial state compile.
        self.states.iter().find(|s| s.initial).unwrap_or(&self.states[0])
    }

    /// The state of that name.
    pub fn state(&self, name: &str) -> Option<&'static StateInfo> {
        self.states.iter().find(|s| s.name == name)
    }

    /// The edge that `event` takes from the state `from`.
    pub fn edge(&self, from: &str, event: &str) -> Option<&'static Edge> {
        self.edges.iter().find(|e| e.from == from && e.event == event)
    }

    /// The edges that leave the state `from`, in source order.
    pub fn ways_out<'a>(&self, from: &'a str) -> impl Iterator<Item = &'static Edge> + use<'a> {
        self.edges.iter().filter(move |e| e.from == from)
    }

    /// The fingerprint of the graph's shape.
    pub const fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_graph(self)
    }
}

/// What `lifecycle!` writes down; not for use by hand.
#[doc(hidden)]
pub mod build {
    use super::super::check::equal;
    use super::super::machine::Record;
    use super::super::proof::Witness;
    use super::{Edge, Graph, Identity, StateInfo};

    /// The names of a lifecycle: in traces, of its package, and in stored data if its definition says one.
    #[derive(Debug)]
    pub struct Names {
        /// In traces.
        pub name: &'static str,
        /// Of the package.
        pub package: Option<&'static str>,
        /// In stored data: none or one.
        pub identity: &'static [&'static str],
    }

    /// A graph, of the definition that owns the witness.
    pub const fn graph(
        witness: &'static Witness,
        names: &Names,
        doc: &'static str,
        version: u32,
        states: &'static [StateInfo],
        events: &'static [&'static str],
        edges: &'static [Edge],
    ) -> Graph {
        let name = names.name;
        let identity = match (names.identity, names.package) {
            ([given, ..], _) => Identity::Given(given),
            ([], Some(package)) => Identity::Of { package, name },
            ([], None) => Identity::Given(name),
        };
        Graph { name, identity, witness, doc, version, states, events, edges }
    }

    /// The place of the edge that leaves a state by an event.
    ///
    /// # Panics
    /// While compiling, when there is none.
    pub const fn place(edges: &[Edge], from_index: usize, event: &str) -> usize {
        let mut i = 0;
        while i < edges.len() {
            if edges[i].from_index == from_index && equal(edges[i].event, event) {
                return i;
            }
            i += 1;
        }
        panic!("a transition has its edge")
    }

    /// A machine was created: tells its record, and the observer in it.
    #[inline]
    pub fn created<R: Record>(record: &mut R, witness: &Witness, graph: &'static Graph) {
        record.created(graph);
        if let Some(observer) = record.observer() {
            observer.created(witness, graph);
        }
    }

    /// A machine took that edge: tells its record, and the observer in it.
    #[inline]
    pub fn moved<R: Record>(record: &mut R, witness: &Witness, graph: &'static Graph, edge: &'static Edge) {
        record.moved(edge);
        if let Some(observer) = record.observer() {
            observer.moved(witness, graph, edge);
        }
    }

    /// A state; `ends` are the places of the terminal states.
    pub const fn state(
        name: &'static str,
        doc: &'static str,
        index: usize,
        initial: usize,
        ends: &[usize],
    ) -> StateInfo {
        let mut terminal = false;
        let mut i = 0;
        while i < ends.len() {
            if ends[i] == index {
                terminal = true;
            }
            i += 1;
        }
        StateInfo { name, doc, initial: index == initial, terminal }
    }

    /// An edge, of the definition that owns the witness.
    pub const fn edge(
        witness: &'static Witness,
        lifecycle: &'static str,
        from: (&'static str, usize),
        event: &'static str,
        to: (&'static str, usize),
    ) -> Edge {
        Edge { lifecycle, from: from.0, event, to: to.0, from_index: from.1, to_index: to.1, witness }
    }

    /// The first of two names: a state's own name unless its definition gives another.
    pub const fn name(given: &[&'static str], own: &'static str) -> &'static str {
        if given.is_empty() { own } else { given[0] }
    }

    /// A doc comment without the white space around it.
    pub const fn doc(text: &'static str) -> &'static str {
        text.trim_ascii()
    }
}
