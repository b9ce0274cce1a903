//! The graph of a lifecycle: states, events and edges in source order, known while compiling.

use core::fmt;

/// The graph of one lifecycle, as its `lifecycle!` definition declares it.
///
/// Every slice is in source order, so text made from a graph is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Graph {
    /// The name of the lifecycle, such as `tool_call`.
    pub name: &'static str,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {} : {}", self.from, self.to, self.event)
    }
}

impl Graph {
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

    /// A number for the shape of the graph: its name, states, edges, initial and terminal marks.
    ///
    /// Order, event names and docs do not count, since none of them changes what a stored machine means.
    pub const fn fingerprint(&self) -> u64 {
        let mut sum = hash(HASH_START, self.name);
        let mut i = 0;
        while i < self.states.len() {
            let state = &self.states[i];
            let marked =
                hash_byte(hash(HASH_START, state.name), (state.initial as u8) << 1 | state.terminal as u8);
            sum = sum.wrapping_add(scatter(marked));
            i += 1;
        }
        i = 0;
        while i < self.edges.len() {
            let edge = &self.edges[i];
            let pair = hash(hash_byte(hash(HASH_START, edge.from), 0xff), edge.to);
            sum = sum.wrapping_add(scatter(pair));
            i += 1;
        }
        sum
    }
}

// FNV-1a, for lack of a hash in `const fn`; it names a shape, it guards nothing.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

const fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

const fn hash(mut state: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        state = hash_byte(state, bytes[i]);
        i += 1;
    }
    state
}

/// A number for a text and a number, the same in each process.
#[cfg(feature = "lifecycles")]
pub(crate) const fn identity(text: &str, number: u32) -> u64 {
    let bytes = number.to_le_bytes();
    let mut state = hash_byte(hash(HASH_START, text), 0xff);
    let mut i = 0;
    while i < bytes.len() {
        state = hash_byte(state, bytes[i]);
        i += 1;
    }
    scatter(state)
}

/// Spreads a hash over all bits before it is summed, so that sums of different sets differ.
const fn scatter(mut h: u64) -> u64 {
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^ (h >> 32)
}

/// What `lifecycle!` writes down; not for use by hand.
#[doc(hidden)]
pub mod build {
    use super::{Edge, Graph, StateInfo};

    /// A graph.
    pub const fn graph(
        name: &'static str,
        doc: &'static str,
        version: u32,
        states: &'static [StateInfo],
        events: &'static [&'static str],
        edges: &'static [Edge],
    ) -> Graph {
        Graph { name, doc, version, states, events, edges }
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

    /// An edge.
    pub const fn edge(
        lifecycle: &'static str,
        from: (&'static str, usize),
        event: &'static str,
        to: (&'static str, usize),
    ) -> Edge {
        Edge { lifecycle, from: from.0, event, to: to.0, from_index: from.1, to_index: to.1 }
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
