//! The graph of a lifecycle: states, events and transitions in source order, known while compiling.

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
    /// The description of the lifecycle, from the doc comment of its definition.
    pub doc: &'static str,
    /// The schema version of its snapshots; 0 for a lifecycle without a version.
    pub version: u32,
    /// The states.
    pub states: &'static [StateInfo],
    /// The names of the events, which are the names of the methods that take them.
    pub events: &'static [&'static str],
    /// The transitions between states. The marks `[*]` are in [`StateInfo`].
    pub edges: &'static [Edge],
}

/// One state of a [`Graph`].
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateInfo {
    /// The name in diagrams, traces and storage.
    pub name: &'static str,
    /// The description of the state, from its doc comment.
    pub doc: &'static str,
    /// Whether the state is initial.
    pub initial: bool,
    /// Whether the state is terminal.
    pub terminal: bool,
}

/// One transition of a [`Graph`].
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The name of the lifecycle of this transition.
    pub lifecycle: &'static str,
    /// The name of the source state.
    pub from: &'static str,
    /// The name of the event.
    pub event: &'static str,
    /// The name of the target state.
    pub to: &'static str,
    /// The index of `from` in [`Graph::states`].
    pub from_index: usize,
    /// The index of `to` in [`Graph::states`].
    pub to_index: usize,
    witness: &'static Witness,
}

impl Edge {
    /// Returns whether the definition of this witness made the transition. A graph can contain transitions of another
    /// definition.
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
    /// The text of the `identity` line.
    Given(&'static str),
    /// The package and the name of the lifecycle.
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
    /// The name of the lifecycle in stored data. Default: its package and its name, such as `runstate/tool_call`. The
    /// definition's `identity` line replaces the default.
    pub fn identity(&self) -> impl fmt::Display + use<> {
        self.identity
    }

    /// Returns whether the definition of this witness made the graph.
    #[inline]
    pub(super) fn has_witness(&self, witness: &Witness) -> bool {
        self.witness == witness
    }

    /// The witness of the definition.
    #[cfg(feature = "snapshot")]
    pub(crate) fn witness(&self) -> &'static Witness {
        self.witness
    }

    /// The initial state.
    pub fn initial(&self) -> &'static StateInfo {
        // The const checks of `lifecycle!` reject a graph without an initial state.
        self.states.iter().find(|s| s.initial).unwrap_or(&self.states[0])
    }

    /// Finds a state by its name.
    pub fn state(&self, name: &str) -> Option<&'static StateInfo> {
        self.states.iter().find(|s| s.name == name)
    }

    /// Finds the transition that leaves the state `from` by `event`.
    pub fn edge(&self, from: &str, event: &str) -> Option<&'static Edge> {
        self.edges.iter().find(|e| e.from == from && e.event == event)
    }

    /// The transitions that leave the state `from`, in source order.
    pub fn ways_out<'a>(&self, from: &'a str) -> impl Iterator<Item = &'static Edge> + use<'a> {
        self.edges.iter().filter(move |e| e.from == from)
    }

    /// The fingerprint of the graph's shape.
    pub const fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_graph(self)
    }
}

/// Constructors for the code that `lifecycle!` generates; not for use by hand.
#[doc(hidden)]
pub mod build {
    use super::super::check::equal;
    use super::super::machine::{Guard, Record, State};
    use super::super::observer::Observer;
    use super::super::proof::Witness;
    use super::{Edge, Graph, Identity, StateInfo};

    /// The names of a lifecycle: in traces, of its package, and in stored data if the definition has an `identity`
    /// line.
    #[derive(Debug)]
    pub struct Names {
        /// The name in traces.
        pub name: &'static str,
        /// The name of the package.
        pub package: Option<&'static str>,
        /// The name in stored data: none or one.
        pub identity: &'static [&'static str],
    }

    /// Makes a graph for the definition that owns the witness.
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

    /// The schema version in a list of none or one: 0 for a lifecycle without snapshots.
    pub const fn version(given: &[u32]) -> u32 {
        match given {
            [version, ..] => *version,
            [] => 0,
        }
    }

    /// Finds the index of the transition that leaves a state by an event.
    ///
    /// # Panics
    /// While compiling, when no such transition exists.
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

    /// Reports the creation of a machine to its record, and to the observer in it.
    #[inline]
    pub fn created<R: Record>(record: &mut R, witness: &Witness, graph: &'static Graph) {
        record.created(graph);
        if let Some(observer) = record.observer() {
            observer.created(witness, graph);
        }
    }

    /// Reports a transition of a machine to its record, and to the observer in it.
    #[inline]
    pub fn moved<R: Record>(record: &mut R, witness: &Witness, graph: &'static Graph, edge: &'static Edge) {
        record.moved(edge);
        if let Some(observer) = record.observer() {
            observer.moved(witness, graph, edge);
        }
    }

    /// As [`created`], for the state that begins. A record that is none is then one error of the definition, and not one
    /// for each call.
    #[inline]
    pub fn begun<S: State>(record: &mut S::Record, witness: &Witness, graph: &'static Graph) {
        created(record, witness, graph);
    }

    /// As [`moved`], for the state that is entered.
    #[inline]
    pub fn entered<S: State>(
        record: &mut S::Record,
        witness: &Witness,
        graph: &'static Graph,
        edge: &'static Edge,
    ) {
        moved(record, witness, graph, edge);
    }

    /// The field of a record for its observer.
    #[inline]
    pub fn observer<S: State>(record: &mut S::Record) -> Option<&mut Observer> {
        record.observer()
    }

    /// Asks the guard of a transition.
    ///
    /// # Errors
    /// Those of the guard.
    #[inline]
    pub fn guard<To, From, Event, Fault>(from: &From, event: &Event, record: &To::Record) -> Result<(), Fault>
    where
        To: Guard<From, Event, Error = Fault>,
    {
        To::check(from, event, record)
    }

    /// Makes a state; `ends` are the indices of the terminal states.
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

    /// Makes a transition for the definition that owns the witness.
    pub const fn edge(
        witness: &'static Witness,
        lifecycle: &'static str,
        from: (&'static str, usize),
        event: &'static str,
        to: (&'static str, usize),
    ) -> Edge {
        Edge { lifecycle, from: from.0, event, to: to.0, from_index: from.1, to_index: to.1, witness }
    }

    /// Returns the given name, or the state's own name where the definition gives none.
    pub const fn name(given: &[&'static str], own: &'static str) -> &'static str {
        if given.is_empty() { own } else { given[0] }
    }

    /// Returns a doc comment without the white space around it.
    pub const fn doc(text: &'static str) -> &'static str {
        text.trim_ascii()
    }
}
