//! The fingerprint of a graph's shape.

use core::fmt;
use core::str::FromStr;

use super::graph::Graph;

/// The fingerprint of a graph's shape: its states, transitions, initial and terminal marks.
///
/// Names of the lifecycle and of events, order and docs do not count: none of them changes the meaning of a stored
/// machine. As text it has 16 hexadecimal digits.
///
/// ````
/// use runstate::kernel::{Fingerprint, Stateful};
/// use runstate::tool_call::AnyToolCall;
///
/// // From a diagram of an earlier version, stored beside the current diagram:
/// const OLD: Fingerprint = Fingerprint::of_diagram("
/// ```mermaid
/// stateDiagram-v2
///     [*] --> New
///     New --> Done : finish
///     Done --> [*]
/// ```
/// ");
/// assert_ne!(OLD, AnyToolCall::GRAPH.fingerprint());
///
/// // From text, in the form that `runstate diagram --fingerprint` prints:
/// assert_eq!(OLD.to_string().parse(), Ok(OLD));
/// assert_eq!("x".parse::<Fingerprint>().unwrap_err().to_string(), "\"x\" is no fingerprint: expected 16 hexadecimal digits, in lower case");
/// ````
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl Fingerprint {
    pub(super) const fn of_graph(graph: &Graph) -> Self {
        let mut sum = Sum::new();
        let mut i = 0;
        while i < graph.states.len() {
            let state = &graph.states[i];
            sum = sum.state(state.name.as_bytes(), state.initial, state.terminal);
            i += 1;
        }
        i = 0;
        while i < graph.edges.len() {
            let edge = &graph.edges[i];
            sum = sum.edge(edge.from.as_bytes(), edge.to.as_bytes());
            i += 1;
        }
        sum.fingerprint()
    }

    /// Computes the fingerprint of a shape. A state is its name, whether it is initial, and whether it is terminal. A
    /// transition is the names of its source and target states. Two transitions between the same states count twice.
    pub fn of_shape<'a>(
        states: impl IntoIterator<Item = (&'a str, bool, bool)>,
        edges: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut sum = Sum::new();
        for (name, initial, terminal) in states {
            sum = sum.state(name.as_bytes(), initial, terminal);
        }
        for (from, to) in edges {
            sum = sum.edge(from.as_bytes(), to.as_bytes());
        }
        sum.fingerprint()
    }

    /// The fingerprint of the same shape without the lifecycle's name, which version 0.1.0 added to its fingerprints.
    #[cfg(feature = "snapshot")]
    pub(crate) const fn without_name(self, name: &str) -> Self {
        Fingerprint(self.0.wrapping_sub(hash(HASH_START, name.as_bytes())).wrapping_add(HASH_START))
    }

    /// Parses a fingerprint, for constants. `runstate diagram --fingerprint` prints the text.
    ///
    /// # Panics
    /// When the text is not 16 lower-case hexadecimal digits. In a constant this is a compile error.
    #[track_caller]
    pub const fn from_hex(text: &str) -> Self {
        match number(text) {
            Some(number) => Fingerprint(number),
            None => panic!("a fingerprint has 16 lower-case hexadecimal digits"),
        }
    }

    /// Computes the fingerprint of the graph in a Mermaid block. The text is Markdown with one block, in the form of
    /// `lifecycle!`.
    ///
    /// In a constant it costs nothing at run time: `Fingerprint::of_diagram(include_str!("order-2026-11.md"))`.
    ///
    /// # Panics
    /// When the text has no such block or a second one, and for Mermaid that `lifecycle!` refuses. The message names
    /// the line.
    #[track_caller]
    pub const fn of_diagram(text: &str) -> Self {
        super::witness::fingerprint(text, "the diagram")
    }
}

/// The running sum of a fingerprint.
#[derive(Clone, Copy)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) const fn new() -> Self {
        Sum(HASH_START)
    }

    pub(super) const fn state(self, name: &[u8], initial: bool, terminal: bool) -> Self {
        let marked = hash_byte(hash(HASH_START, name), (initial as u8) << 1 | terminal as u8);
        Sum(self.0.wrapping_add(scatter(marked)))
    }

    pub(super) const fn edge(self, from: &[u8], to: &[u8]) -> Self {
        let pair = hash(hash_byte(hash(HASH_START, from), 0xff), to);
        Sum(self.0.wrapping_add(scatter(pair)))
    }

    pub(super) const fn fingerprint(self) -> Fingerprint {
        Fingerprint(self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The error for a text that is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoFingerprint(String);

impl fmt::Display for NoFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no fingerprint: expected 16 hexadecimal digits, in lower case", self.0)
    }
}

impl core::error::Error for NoFingerprint {}

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        number(text).map(Fingerprint).ok_or_else(|| NoFingerprint(text.chars().take(40).collect()))
    }
}

const fn number(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    if bytes.len() != 16 {
        return None;
    }
    let (mut number, mut i) = (0, 0);
    while i < 16 {
        let digit = match bytes[i] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | digit as u64;
        i += 1;
    }
    Some(number)
}

// FNV-1a, because `const fn` has no other hash. The hash identifies a shape; it protects nothing.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

const fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

const fn hash(mut state: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        state = hash_byte(state, bytes[i]);
        i += 1;
    }
    state
}

/// Spreads a hash over all bits before the summation, so that sums of different sets differ.
const fn scatter(mut h: u64) -> u64 {
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^ (h >> 32)
}
