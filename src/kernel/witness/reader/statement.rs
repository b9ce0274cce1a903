//! The statements of the plain part of a state diagram.

use super::{Range, Reader, is_in_any_case, is_name_byte};

/// Keywords that Mermaid does not accept as state names, in upper or lower case.
const KEYWORDS: [&str; 11] = [
    "class",
    "classDef",
    "click",
    "default",
    "direction",
    "href",
    "note",
    "scale",
    "state",
    "stateDiagram",
    "style",
];

/// A transition, as byte ranges; `[*]` is an empty range.
#[derive(Clone, Copy)]
pub(in crate::kernel::witness) struct Transition {
    pub(in crate::kernel::witness) from: Range,
    pub(in crate::kernel::witness) to: Range,
    pub(in crate::kernel::witness) label: Range,
}

pub(in crate::kernel::witness) enum Statement {
    Nothing,
    /// A state that is described, or has a note.
    Mention(Range),
    Transition(Transition),
}

impl Reader<'_> {
    #[track_caller]
    pub(in crate::kernel::witness) const fn statement(&mut self) -> Statement {
        if self.line.is_empty() || self.starts_with(self.line, "%%") {
            return Statement::Nothing;
        }
        if !self.header {
            // Mermaid knows it at the begin of the text alone.
            if self.is("---") && self.line.0 == self.begin {
                self.front_matter();
                return Statement::Nothing;
            }
            if !self.is("stateDiagram-v2") && !self.is("stateDiagram") {
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
        if self.starts_with(self.line, "note ") {
            return self.note();
        }
        if self.starts_with(self.line, "state \"") {
            return self.alias();
        }
        match self.description() {
            Some(name) => Statement::Mention(name),
            None => Statement::Transition(self.transition()),
        }
    }

    /// Skips the front matter of a diagram.
    #[track_caller]
    const fn front_matter(&mut self) {
        let begin = self.at_line();
        while self.next_in_block() {
            if self.is("---") {
                return;
            }
        }
        begin.text("the front matter has no end '---'").fail();
    }

    /// Parses `note left of A : text`, and a note of several lines with its end.
    #[track_caller]
    const fn note(&mut self) -> Statement {
        let rest = self.trim(Range(self.line.0 + "note ".len(), self.line.1));
        let rest = match (self.starts_with(rest, "left of "), self.starts_with(rest, "right of ")) {
            (true, _) => self.trim(Range(rest.0 + "left of ".len(), rest.1)),
            (_, true) => self.trim(Range(rest.0 + "right of ".len(), rest.1)),
            _ => self.unsupported("; expected 'note left of STATE' or 'note right of STATE'"),
        };
        let (name, rest) = self.endpoint(rest);
        if name.is_empty() || self.is_keyword(name) {
            self.unsupported("; a note is of a state");
        }
        if rest.is_empty() {
            let begin = self.at_line();
            while self.next_in_block() {
                if self.is("end note") {
                    return Statement::Mention(name);
                }
                // Mermaid ends the note there too.
                if self.has(self.line, "end note") || self.starts_with(self.line, ":") {
                    self.unsupported("; a note ends with 'end note', and no line of it begins with a colon");
                }
            }
            begin.text("the note has no end 'end note'").fail();
        }
        self.plain_text(rest);
        Statement::Mention(name)
    }

    /// Parses `state "A description" as A`.
    #[track_caller]
    const fn alias(&self) -> Statement {
        let open = self.line.0 + "state ".len();
        let mut close = open + 1;
        while close < self.line.1 && self.text[close] != b'"' {
            close += 1;
        }
        let rest = self.trim(Range(if close < self.line.1 { close + 1 } else { close }, self.line.1));
        self.plain_chars(Range(open + 1, close));
        if !self.starts_with(rest, "as ") {
            self.unsupported("; expected 'state \"DESCRIPTION\" as STATE'");
        }
        let (name, rest) = self.endpoint(self.trim(Range(rest.0 + "as ".len(), rest.1)));
        if name.is_empty() || !rest.is_empty() || self.is_keyword(name) {
            self.unsupported("; expected 'state \"DESCRIPTION\" as STATE'");
        }
        Statement::Mention(name)
    }

    /// Parses `A : a description`. None for another line.
    #[track_caller]
    const fn description(&self) -> Option<Range> {
        if self.starts_with(self.line, "[*]") || !is_name_byte(self.text[self.line.0]) {
            return None;
        }
        let (name, rest) = self.endpoint(self.line);
        // Three colons are the class of a state.
        if rest.is_empty() || self.text[rest.0] != b':' || self.starts_with(rest, "::") {
            return None;
        }
        if self.is_keyword(name) {
            self.unsupported("; the name of a state is a keyword of Mermaid");
        }
        self.plain_text(rest);
        Some(name)
    }

    /// Refuses a text that Mermaid reads otherwise than to the end of the line. `text` begins with its colon.
    #[track_caller]
    const fn plain_text(&self, text: Range) {
        let inner = self.trim(Range(text.0 + 1, text.1));
        if self.text[text.0] != b':' || inner.is_empty() {
            self.unsupported("; expected a colon and a text");
        }
        self.plain_chars(inner);
    }

    #[track_caller]
    const fn plain_chars(&self, text: Range) {
        if self.has(text, "direction") {
            self.unsupported("; Mermaid reads 'direction' in a text as a statement");
        }
        let mut i = text.0;
        while i < text.1 {
            if matches!(self.text[i], b':' | b';' | b'%' | b'#' | b'{' | b'}' | b'<' | b'>' | b'"') {
                self.unsupported(
                    "; a text with one of :;%#{}<>\" cannot be read here: leave the character out",
                );
            }
            i += 1;
        }
    }

    #[track_caller]
    pub(in crate::kernel::witness) const fn unsupported(&self, why: &str) -> ! {
        self.at_line().text("unsupported Mermaid: '").raw(self.bytes(self.line)).text("'").text(why).fail()
    }

    /// Parses `A --> B` or `A --> B : label`.
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
            if is_in_any_case(self.bytes(name), KEYWORDS[i].as_bytes()) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns the endpoint at the start of the range (empty for `[*]`), and the rest of the range.
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
