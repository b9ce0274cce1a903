//! The compile-time check of a lifecycle's diagram against its graph.
//!
//! The reader accepts the plain part of a state diagram: transitions with `[*]`, descriptions of states, notes, comments,
//! front matter, `direction`. It refuses all other Mermaid and names the line, because a check must not skip
//! text that it cannot read. The parser for any diagram, at run time, is separate (`diagram`): Mermaid's own lexer has
//! modes and exceptions that this reader avoids.

mod reader;

use super::check::equal_bytes;
use super::fingerprint::{Fingerprint, Sum};
use super::graph::Graph;
use super::message::Message;
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
        told: Told { message: Message::new(), count: 0 },
    };
    if graph.edges.len() > MOST_EDGES {
        reader.at_file().text("more than 1024 edges").fail();
    }
    if graph.states.len() > MOST_STATES {
        reader.at_file().text("more than 256 states").fail();
    }
    while reader.next_in_block() {
        seen = match reader.statement() {
            Statement::Nothing => seen,
            Statement::Mention(name) => seen.mention(graph, &reader, name),
            Statement::Transition(transition) => seen.see(graph, &reader, transition),
        };
    }
    reader.no_second_block();
    seen.all_seen(graph, &reader).told.end();
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
            Statement::Mention(name) => {
                shown.place(&reader, name);
                shown
            }
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

/// The number of differences in one error.
const MOST_TOLD: usize = 20;

/// The differences so far.
struct Told {
    message: Message,
    count: usize,
}

impl Told {
    const fn add(mut self, difference: &Message) -> Self {
        if self.count < MOST_TOLD {
            let between = if self.count == 0 { "" } else { "\n" };
            self.message = self.message.text(between).message(difference);
        }
        self.count += 1;
        self
    }

    /// Stops the compilation if there is a difference.
    #[track_caller]
    const fn end(self) {
        if self.count > MOST_TOLD {
            let message = self.message.text("\nand ").number(self.count - MOST_TOLD).text(" more");
            message.fail();
        }
        if self.count > 0 {
            self.message.fail();
        }
    }
}

/// The part of the graph that the diagram has shown so far.
struct Seen {
    edges: [bool; MOST_EDGES],
    states: [bool; MOST_STATES],
    initial: bool,
    ends: [bool; MOST_STATES],
    told: Told,
}

impl Seen {
    const fn differs(mut self, difference: &Message) -> Self {
        self.told = self.told.add(difference);
        self
    }

    /// A description of a state, or a note of it.
    const fn mention(mut self, graph: &Graph, reader: &Reader<'_>, name: Range) -> Self {
        match state(graph, reader, name) {
            Some(i) => {
                self.states[i] = true;
                self
            }
            None => self.differs(&unknown_state(graph, reader, name)),
        }
    }

    #[track_caller]
    const fn see(mut self, graph: &Graph, reader: &Reader<'_>, t: Transition) -> Self {
        if (t.from.is_empty() || t.to.is_empty()) && !t.label.is_empty() {
            reader.unsupported("; a mark [*] has no event, so no label");
        }
        match (t.from.is_empty(), t.to.is_empty()) {
            (true, true) => reader.at_line().text("the diagram goes from [*] to [*]").fail(),
            (true, false) => {
                let Some(i) = state(graph, reader, t.to) else {
                    self.initial = true;
                    return self.differs(&unknown_state(graph, reader, t.to));
                };
                let (is_second, is_initial) = (self.initial, graph.states[i].initial);
                (self.initial, self.states[i]) = (true, true);
                if !is_initial {
                    let at = reader.at_line().text("the diagram starts in ").text(graph.states[i].name);
                    return self.differs(&at.text(", the code in ").text(initial_name(graph)));
                }
                if is_second {
                    let at = reader.at_line().text("the diagram has '[*] --> ").text(initial_name(graph));
                    return self.differs(&at.text("' twice"));
                }
                self
            }
            (false, true) => {
                let Some(i) = state(graph, reader, t.from) else {
                    return self.differs(&unknown_state(graph, reader, t.from));
                };
                let is_second = self.ends[i];
                (self.ends[i], self.states[i]) = (true, true);
                let name = graph.states[i].name;
                if !graph.states[i].terminal {
                    let at = reader.at_line().text("the diagram ends in ").text(name);
                    let at = at.text(", where the code goes on: it lacks '").text(name);
                    return self.differs(&at.text(" --> [*];'"));
                }
                if is_second {
                    let at = reader.at_line().text("the diagram has '").text(name);
                    return self.differs(&at.text(" --> [*]' twice"));
                }
                self
            }
            (false, false) => {
                let (from, to) = (state(graph, reader, t.from), state(graph, reader, t.to));
                if from.is_none() {
                    self = self.differs(&unknown_state(graph, reader, t.from));
                }
                if to.is_none() && !equal_bytes(reader.bytes(t.from), reader.bytes(t.to)) {
                    self = self.differs(&unknown_state(graph, reader, t.to));
                }
                let (Some(from), Some(to)) = (from, to) else { return self };
                (self.states[from], self.states[to]) = (true, true);
                self.see_edge(graph, reader, t, (from, to))
            }
        }
    }

    /// A transition between two states of the code.
    const fn see_edge(
        mut self,
        graph: &Graph,
        reader: &Reader<'_>,
        t: Transition,
        (from, to): (usize, usize),
    ) -> Self {
        // The transition of this label, and one of another label.
        let (mut same, mut other, mut i) = (None, None, 0);
        while i < graph.edges.len() {
            let e = &graph.edges[i];
            if e.from_index == from && e.to_index == to {
                if equal_bytes(e.event.as_bytes(), reader.bytes(t.label)) {
                    same = Some(i);
                }
                other = Some(i);
            }
            i += 1;
        }
        match (same, other) {
            (Some(i), _) if self.edges[i] => {
                let twice = reader.at_line().text("the diagram has this edge twice: ");
                self.differs(&reader.with_edge(twice, t))
            }
            (Some(i), _) => {
                self.edges[i] = true;
                self
            }
            (None, Some(i)) => {
                self.edges[i] = true;
                let at = reader.with_edge(reader.at_line(), t).text(" (the code calls it '");
                let at = at.text(graph.edges[i].event);
                let end = if t.label.is_empty() { "'; name the event in the diagram)" } else { "')" };
                self.differs(&at.text(end))
            }
            (None, None) => {
                let lacks = reader.at_line().text("the diagram has an edge the code lacks: ");
                self.differs(&reader.with_edge(lacks, t))
            }
        }
    }

    const fn all_seen(mut self, graph: &Graph, reader: &Reader<'_>) -> Self {
        let mut i = 0;
        while i < graph.states.len() {
            if !self.states[i] {
                let lacks = reader.at_file().text("the code has a state the diagram lacks: ");
                self = self.differs(&lacks.text(graph.states[i].name));
            }
            i += 1;
        }
        if !self.initial {
            let lacks = reader.at_file().text("the diagram lacks '[*] --> ").text(initial_name(graph));
            self = self.differs(&lacks.text("'"));
        }
        i = 0;
        while i < graph.edges.len() {
            let e = &graph.edges[i];
            // A missing state was told already.
            if !self.edges[i] && self.states[e.from_index] && self.states[e.to_index] {
                let lacks = reader.at_file().text("the code has an edge the diagram lacks: ");
                self = self.differs(&lacks.text(e.from).text(" --> ").text(e.to).text(" : ").text(e.event));
            }
            i += 1;
        }
        i = 0;
        while i < graph.states.len() {
            if graph.states[i].terminal && !self.ends[i] && self.states[i] {
                let lacks = reader.at_file().text("the diagram lacks '").text(graph.states[i].name);
                self = self.differs(&lacks.text(" --> [*]'"));
            }
            i += 1;
        }
        self
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

const fn state(graph: &Graph, reader: &Reader<'_>, name: Range) -> Option<usize> {
    let mut i = 0;
    while i < graph.states.len() {
        if equal_bytes(graph.states[i].name.as_bytes(), reader.bytes(name)) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// The message for a state that the code lacks, with a state of a similar name.
const fn unknown_state(graph: &Graph, reader: &Reader<'_>, name: Range) -> Message {
    let message = reader.at_line().text("the diagram has a state the code lacks: ").raw(reader.bytes(name));
    let mut i = 0;
    while i < graph.states.len() {
        if is_near(graph.states[i].name.as_bytes(), reader.bytes(name)) {
            return message.text(" (did you mean ").text(graph.states[i].name).text("?)");
        }
        i += 1;
    }
    message
}

/// Returns whether two names are equal but for the case of their letters and one letter more, less, or another one, or two
/// neighbours the other way round.
const fn is_near(one: &[u8], other: &[u8]) -> bool {
    let (long, short) = if one.len() < other.len() { (other, one) } else { (one, other) };
    if long.len() - short.len() > 1 || short.len() < 3 {
        return false;
    }
    let mut start = 0;
    while start < short.len() && long[start].eq_ignore_ascii_case(&short[start]) {
        start += 1;
    }
    let mut end = 0;
    while end < short.len() - start
        && long[long.len() - 1 - end].eq_ignore_ascii_case(&short[short.len() - 1 - end])
    {
        end += 1;
    }
    let are_swapped = long.len() == short.len()
        && start + end + 2 == short.len()
        && long[start].eq_ignore_ascii_case(&short[start + 1])
        && long[start + 1].eq_ignore_ascii_case(&short[start]);
    are_swapped || start + end + 1 >= short.len()
}
