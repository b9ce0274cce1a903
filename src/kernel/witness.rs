//! The diagram of a lifecycle, held against its graph while compiling.
//!
//! This reads the plain part of `stateDiagram-v2`: transitions with `[*]`, comments, `direction`. All other Mermaid is
//! refused with its line, since a witness must not skip what it cannot read. The parser for any diagram, at run time,
//! is another one (`diagram`): Mermaid's own lexer has modes and traps that a witness is better without.

use super::check::equal_bytes;
use super::graph::Graph;
use super::message::Message;

const MOST_EDGES: usize = 1024;
const MOST_STATES: usize = 256;

/// Names that are no state's to Mermaid, however they are written.
const KEYWORDS: [&str; 10] =
    ["class", "classDef", "click", "default", "href", "note", "scale", "state", "stateDiagram", "style"];

/// Compares the one Mermaid block in `text` with the graph; `file` is its name in messages.
///
/// # Panics
/// While compiling, naming the line and the edge or state, when the two differ in a state, an edge, an event's name,
/// an initial or a terminal mark; when there is no block or a second one; and for Mermaid that this does not read.
#[doc(hidden)]
#[track_caller]
pub const fn diagram(graph: &Graph, text: &str, file: &str) {
    let mut reader = Reader::new(text.as_bytes(), file);
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

/// What of the graph the diagram has shown so far.
struct Seen {
    edges: [bool; MOST_EDGES],
    states: [bool; MOST_STATES],
    initial: bool,
    ends: [bool; MOST_STATES],
}

/// A transition, as byte ranges; `[*]` is an empty range.
#[derive(Clone, Copy)]
struct Transition {
    from: Range,
    to: Range,
    label: Range,
}

enum Statement {
    Nothing,
    Transition(Transition),
}

#[derive(Clone, Copy)]
struct Range(usize, usize);

impl Range {
    const fn is_empty(self) -> bool {
        self.0 == self.1
    }
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

/// The place of the code's edge that the diagram's transition shows.
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

/// Walks over the lines of the file.
struct Reader<'a> {
    text: &'a [u8],
    file: &'a str,
    /// The current line, without white space around it.
    line: Range,
    /// Its number, from 1.
    number: usize,
    /// Where the next line begins.
    next: usize,
    header: bool,
}

impl<'a> Reader<'a> {
    const fn new(text: &'a [u8], file: &'a str) -> Self {
        Reader { text, file, line: Range(0, 0), number: 0, next: 0, header: false }
    }

    const fn bytes(&self, range: Range) -> &'a [u8] {
        self.text.split_at(range.1).0.split_at(range.0).1
    }

    const fn at_file(&self) -> Message {
        Message::new().text(self.file).text(": ")
    }

    const fn at_line(&self) -> Message {
        Message::new().text(self.file).text(":").number(self.number).text(": ")
    }

    const fn with_edge(&self, message: Message, t: Transition) -> Message {
        let message = message.raw(self.bytes(t.from)).text(" --> ").raw(self.bytes(t.to));
        if t.label.is_empty() { message } else { message.text(" : ").raw(self.bytes(t.label)) }
    }

    /// Goes to the next line of the file; false at its end.
    const fn next_line(&mut self) -> bool {
        if self.next >= self.text.len() {
            return false;
        }
        let start = self.next;
        let mut end = start;
        while end < self.text.len() && self.text[end] != b'\n' {
            end += 1;
        }
        self.next = end + 1;
        self.number += 1;
        if end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        self.line = self.trim(Range(start, end));
        true
    }

    const fn trim(&self, mut range: Range) -> Range {
        while !range.is_empty() && is_blank(self.text[range.0]) {
            range.0 += 1;
        }
        while !range.is_empty() && is_blank(self.text[range.1 - 1]) {
            range.1 -= 1;
        }
        range
    }

    const fn starts_with(&self, range: Range, prefix: &str) -> bool {
        let n = prefix.len();
        range.1 - range.0 >= n && equal_bytes(self.bytes(Range(range.0, range.0 + n)), prefix.as_bytes())
    }

    const fn is(&self, text: &str) -> bool {
        equal_bytes(self.bytes(self.line), text.as_bytes())
    }

    /// Goes to the fence that opens the Mermaid block.
    #[track_caller]
    const fn find_block(&mut self) {
        while self.next_line() {
            if self.starts_with(self.line, "```mermaid") {
                return;
            }
        }
        self.at_file().text("no ```mermaid block").fail()
    }

    #[track_caller]
    const fn no_second_block(&mut self) {
        while self.next_line() {
            if self.starts_with(self.line, "```mermaid") {
                self.at_line().text("a second ```mermaid block; the file of a lifecycle has one").fail();
            }
        }
    }

    /// Goes to the next line of the block; false at its end.
    #[track_caller]
    const fn next_in_block(&mut self) -> bool {
        if !self.next_line() {
            self.at_file().text("the ```mermaid block has no end").fail();
        }
        let mut i = self.line.0;
        while i < self.line.1 {
            // To Mermaid it ends the line, to an editor it may not.
            if self.text[i] == b'\r' {
                self.at_line().text("a carriage return within the line").fail();
            }
            i += 1;
        }
        !self.starts_with(self.line, "```")
    }

    #[track_caller]
    const fn statement(&mut self) -> Statement {
        if self.line.is_empty() || self.starts_with(self.line, "%%") && !self.starts_with(self.line, "%%{") {
            return Statement::Nothing;
        }
        if !self.header {
            if !self.is("stateDiagram-v2") {
                self.unsupported("; the block must begin with 'stateDiagram-v2'");
            }
            self.header = true;
            return Statement::Nothing;
        }
        if self.is("direction LR")
            || self.is("direction RL")
            || self.is("direction TB")
            || self.is("direction BT")
        {
            return Statement::Nothing;
        }
        Statement::Transition(self.transition())
    }

    #[track_caller]
    const fn unsupported(&self, why: &str) -> ! {
        self.at_line().text("unsupported Mermaid: '").raw(self.bytes(self.line)).text("'").text(why).fail()
    }

    /// `A --> B` or `A --> B : label`.
    #[track_caller]
    const fn transition(&self) -> Transition {
        let (from, rest) = self.endpoint(self.line);
        if !self.starts_with(rest, "-->") {
            self.unsupported("");
        }
        let (to, rest) = self.endpoint(self.trim(Range(rest.0 + 3, rest.1)));
        if self.is_keyword(from) || self.is_keyword(to) {
            self.unsupported("; the name of a state is a keyword of Mermaid");
        }
        let mut label = rest;
        if !rest.is_empty() {
            if self.text[rest.0] != b':' {
                self.unsupported("");
            }
            label = self.trim(Range(rest.0 + 1, rest.1));
            if label.is_empty() {
                self.unsupported("; the label is empty");
            }
            let mut i = label.0;
            while i < label.1 {
                if !is_name_byte(self.text[i]) {
                    self.unsupported("; a label is the name of an event");
                }
                i += 1;
            }
        }
        Transition { from, to, label }
    }

    const fn is_keyword(&self, name: Range) -> bool {
        let mut i = 0;
        while i < KEYWORDS.len() {
            if self.bytes(name).eq_ignore_ascii_case(KEYWORDS[i].as_bytes()) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The endpoint at the start of the range (empty for `[*]`), and what follows it.
    #[track_caller]
    const fn endpoint(&self, range: Range) -> (Range, Range) {
        if self.starts_with(range, "[*]") {
            return (Range(range.0, range.0), self.trim(Range(range.0 + 3, range.1)));
        }
        let mut end = range.0;
        while end < range.1 && is_name_byte(self.text[end]) {
            end += 1;
        }
        if end == range.0 {
            self.unsupported("");
        }
        (Range(range.0, end), self.trim(Range(end, range.1)))
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
