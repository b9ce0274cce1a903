//! The compile-time check of a lifecycle's diagram against its graph.
//!
//! The reader accepts the plain part of `stateDiagram-v2`: transitions with `[*]`, comments, `direction`. It refuses
//! all other Mermaid and names the line, because a check must not skip text that it cannot read. The parser for any
//! diagram, at run time, is separate (`diagram`): Mermaid's own lexer has modes and exceptions that this reader
//! avoids.

mod reader;

use super::check::equal_bytes;
use super::fingerprint::{Fingerprint, Sum};
use super::graph::Graph;
use reader::{Range, Reader, Statement, Transition};

const MOST_EDGES: usize = 1024;
const MOST_STATES: usize = 256;

/// Compares a Mermaid block in `text` with the graph: the one below the heading, or without a heading the only one of
/// the file. `file` is its name in messages. A text of a file `.mmd` or `.mermaid` is the diagram itself.
///
/// # Panics
/// While compiling, naming the line and the transition or state, when the two differ in a state, a transition, an
/// event's name, an initial or a terminal mark; when the text has no block or a second one; and for Mermaid that the
/// reader refuses.
#[doc(hidden)]
#[track_caller]
pub const fn diagram(graph: &Graph, text: &str, file: &str, heading: &[&str]) {
    let heading = match heading {
        [heading, ..] => Some(*heading),
        [] => None,
    };
    let mut reader = Reader::new(text.as_bytes(), file, heading);
    reader.find_block();
    let mut seen = Seen {
        edges: [false; MOST_EDGES],
        states: [false; MOST_STATES],
        initial: false,
        ends: [false; MOST_STATES],
    };
    if graph.edges.len() > MOST_EDGES {
        reader.at_file().text("more than 1024 edges").fail();
    }
    while reader.next_in_block() {
        seen = match reader.statement() {
            Statement::Nothing => seen,
            Statement::Transition(transition) => seen.see(graph, &reader, transition),
        };
    }
    reader.no_second_block();
    seen.all_seen(graph, &reader);
}

/// Computes the fingerprint of the graph in the one Mermaid block of `text`; `file` is its name in messages.
#[track_caller]
pub(super) const fn fingerprint(text: &str, file: &str) -> Fingerprint {
    let mut reader = Reader::new(text.as_bytes(), file, None);
    reader.find_block();
    let mut shown = Shown {
        names: [Range::EMPTY; MOST_STATES],
        initial: [false; MOST_STATES],
        ends: [false; MOST_STATES],
        states: 0,
        sum: Sum::new(),
    };
    while reader.next_in_block() {
        shown = match reader.statement() {
            Statement::Nothing => shown,
            Statement::Transition(transition) => shown.see(&reader, transition),
        };
    }
    reader.no_second_block();
    let (mut i, mut begins) = (0, false);
    while i < shown.states {
        begins |= shown.initial[i];
        shown.sum = shown.sum.state(reader.bytes(shown.names[i]), shown.initial[i], shown.ends[i]);
        i += 1;
    }
    if !begins {
        reader.at_file().text("no state has the mark [*] of a beginning").fail();
    }
    shown.sum.fingerprint()
}

/// The states and transitions that the reader has found so far.
struct Shown {
    names: [Range; MOST_STATES],
    initial: [bool; MOST_STATES],
    ends: [bool; MOST_STATES],
    states: usize,
    sum: Sum,
}

impl Shown {
    #[track_caller]
    const fn see(mut self, reader: &Reader<'_>, t: Transition) -> Self {
        if (t.from.is_empty() || t.to.is_empty()) && !t.label.is_empty() {
            reader.unsupported("; a mark [*] has no event, so no label");
        }
        match (t.from.is_empty(), t.to.is_empty()) {
            (true, true) => reader.at_line().text("the diagram goes from [*] to [*]").fail(),
            (true, false) => {
                let to = self.place(reader, t.to);
                self.initial[to] = true;
            }
            (false, true) => {
                let from = self.place(reader, t.from);
                self.ends[from] = true;
            }
            (false, false) => {
                self.place(reader, t.from);
                self.place(reader, t.to);
                self.sum = self.sum.edge(reader.bytes(t.from), reader.bytes(t.to));
            }
        }
        self
    }

    /// Returns the index of the state with that name, and adds a new state.
    #[track_caller]
    const fn place(&mut self, reader: &Reader<'_>, name: Range) -> usize {
        let mut i = 0;
        while i < self.states {
            if equal_bytes(reader.bytes(self.names[i]), reader.bytes(name)) {
                return i;
            }
            i += 1;
        }
        if i == MOST_STATES {
            reader.at_file().text("more than 256 states").fail();
        }
        self.names[i] = name;
        self.states += 1;
        i
    }
}

/// The part of the graph that the diagram has shown so far.
struct Seen {
    edges: [bool; MOST_EDGES],
    states: [bool; MOST_STATES],
    initial: bool,
    ends: [bool; MOST_STATES],
}
impl Seen {
    #[track_caller]
    const fn see(mut self, graph: &Graph, reader: &Reader<'_>, t: Transition) -> Self {
        if (t.from.is_empty() || t.to.is_empty()) && !t.label.is_empty() {
            reader.unsupported("; a mark [*] has no event, so no label");
        }
        match (t.from.is_empty(), t.to.is_empty()) {
            (true, true) => reader.at_line().text("the diagram goes from [*] to [*]").fail(),
            (true, false) => {
                let i = state(graph, reader, t.to);
                if !graph.states[i].initial {
                    let at = reader.at_line().text("the diagram starts in ").text(graph.states[i].name);
                    at.text(", the code in ").text(initial_name(graph)).fail();
                }
                if self.initial {
                    reader
                        .at_line()
                        .text("the diagram has '[*] --> ")
                        .text(initial_name(graph))
                        .text("' twice")
                        .fail();
                }
                self.initial = true;
                self.states[i] = true;
            }
            (false, true) => {
                let i = state(graph, reader, t.from);
                if !graph.states[i].terminal {
                    let at = reader.at_line().text("the diagram ends in ").text(graph.states[i].name);
                    at.text(", where the code goes on: it lacks '")
                        .text(graph.states[i].name)
                        .text(" --> [*];'")
                        .fail();
                }
                if self.ends[i] {
                    let at = reader.at_line().text("the diagram has '").text(graph.states[i].name);
                    at.text(" --> [*]' twice").fail();
                }
                self.ends[i] = true;
                self.states[i] = true;
            }
            (false, false) => {
                let (from, to) = (state(graph, reader, t.from), state(graph, reader, t.to));
                self.states[from] = true;
                self.states[to] = true;
                let i = edge(graph, reader, t, from, to);
                if self.edges[i] {
                    reader.with_edge(reader.at_line().text("the diagram has this edge twice: "), t).fail();
                }
                self.edges[i] = true;
            }
        }
        self
    }

    #[track_caller]
    const fn all_seen(&self, graph: &Graph, reader: &Reader<'_>) {
        let at = reader.at_file();
        let mut i = 0;
        while i < graph.states.len() {
            if !self.states[i] {
                at.text("the code has a state the diagram lacks: ").text(graph.states[i].name).fail();
            }
            i += 1;
        }
        if !self.initial {
            at.text("the diagram lacks '[*] --> ").text(initial_name(graph)).text("'").fail();
        }
        i = 0;
        while i < graph.edges.len() {
            if !self.edges[i] {
                let e = &graph.edges[i];
                let at = at.text("the code has an edge the diagram lacks: ");
                at.text(e.from).text(" --> ").text(e.to).text(" : ").text(e.event).fail();
            }
            i += 1;
        }
        i = 0;
        while i < graph.states.len() {
            if graph.states[i].terminal && !self.ends[i] {
                at.text("the diagram lacks '").text(graph.states[i].name).text(" --> [*]'").fail();
            }
            i += 1;
        }
    }
}

const fn initial_name(graph: &Graph) -> &'static str {
    let mut i = 0;
    while i < graph.states.len() {
        if graph.states[i].initial {
            return graph.states[i].name;
        }
        i += 1;
    }
    ""
}

#[track_caller]
const fn state(graph: &Graph, reader: &Reader<'_>, name: Range) -> usize {
    let mut i = 0;
    while i < graph.states.len() {
        if equal_bytes(graph.states[i].name.as_bytes(), reader.bytes(name)) {
            return i;
        }
        i += 1;
    }
    reader.at_line().text("the diagram has a state the code lacks: ").raw(reader.bytes(name)).fail()
}

/// Finds the index of the graph's transition for a transition of the diagram.
#[track_caller]
const fn edge(graph: &Graph, reader: &Reader<'_>, t: Transition, from: usize, to: usize) -> usize {
    let mut same_pair = graph.edges.len();
    let mut i = 0;
    while i < graph.edges.len() {
        let e = &graph.edges[i];
        if e.from_index == from && e.to_index == to {
            if equal_bytes(e.event.as_bytes(), reader.bytes(t.label)) {
                return i;
            }
            same_pair = i;
        }
        i += 1;
    }
    if same_pair < graph.edges.len() {
        let called = graph.edges[same_pair].event;
        let at = reader.with_edge(reader.at_line(), t).text(" (the code calls it '").text(called);
        at.text(if t.label.is_empty() { "'; name the event in the diagram)" } else { "')" }).fail();
    }
    reader.with_edge(reader.at_line().text("the diagram has an edge the code lacks: "), t).fail()
}
