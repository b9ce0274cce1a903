//! A compile-time reader of the plain part of a state diagram, line by line.

use crate::kernel::check::equal_bytes;
use crate::kernel::message::Message;

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
pub(super) struct Transition {
    pub(super) from: Range,
    pub(super) to: Range,
    pub(super) label: Range,
}

pub(super) enum Statement {
    Nothing,
    /// A state that is described, or has a note.
    Mention(Range),
    Transition(Transition),
}

#[derive(Clone, Copy)]
pub(super) struct Range(usize, usize);

impl Range {
    pub(super) const EMPTY: Range = Range(0, 0);

    pub(super) const fn is_empty(self) -> bool {
        self.0 == self.1
    }
}

/// A cursor over the lines of the file.
pub(super) struct Reader<'a> {
    text: &'a [u8],
    file: &'a str,
    /// The current line, without white space around it.
    line: Range,
    /// The number of the current line, from 1.
    number: usize,
    /// The offset of the next line.
    next: usize,
    header: bool,
    /// The offset of the first line of the block.
    begin: usize,
    /// The text is the diagram itself, without Markdown.
    is_bare: bool,
    /// The heading above the block; none for the one block of a file.
    heading: Option<&'a str>,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a [u8], file: &'a str, heading: Option<&'a str>) -> Self {
        let is_bare = ends_with(file, ".mmd") || ends_with(file, ".mermaid");
        // A mark of the byte order is no part of the text.
        let text = match text.split_first_chunk::<3>() {
            Some(([0xef, 0xbb, 0xbf], rest)) => rest,
            _ => text,
        };
        Reader {
            text,
            file,
            line: Range(0, 0),
            number: 0,
            next: 0,
            header: false,
            begin: 0,
            is_bare,
            heading,
        }
    }

    pub(super) const fn bytes(&self, range: Range) -> &'a [u8] {
        self.text.split_at(range.1).0.split_at(range.0).1
    }

    pub(super) const fn at_file(&self) -> Message {
        Message::new().text(self.file).text(": ")
    }

    pub(super) const fn at_line(&self) -> Message {
        Message::new().text(self.file).text(":").number(self.number).text(": ")
    }

    pub(super) const fn with_edge(&self, message: Message, t: Transition) -> Message {
        let message = message.raw(self.bytes(t.from)).text(" --> ").raw(self.bytes(t.to));
        if t.label.is_empty() { message } else { message.text(" : ").raw(self.bytes(t.label)) }
    }

    /// Moves to the next line of the file; false at its end.
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

    /// Moves to the fence that opens the Mermaid block: below the heading, if there is one. A file of a diagram alone
    /// has no fence.
    #[track_caller]
    pub(super) const fn find_block(&mut self) {
        if self.is_bare {
            if self.heading.is_some() {
                self.at_file().text("a file of a diagram alone has no heading").fail();
            }
            return;
        }
        let mut is_below = self.heading.is_none();
        let mut is_known = is_below;
        while self.next_line() {
            if self.skip_comment() {
                continue;
            }
            if self.opens_fence() && !(is_below && self.opens_block()) {
                self.skip_block();
                continue;
            }
            if self.opens_block() {
                if !self.starts_with(self.line, "```mermaid") {
                    self.at_line().text("write the fence as ```mermaid").fail();
                }
                self.begin = self.next;
                return;
            }
            if let (Some(wanted), true) = (self.heading, self.is_heading()) {
                is_below = equal_bytes(self.bytes(self.heading_text()), wanted.as_bytes());
                is_known |= is_below;
            }
        }
        match self.heading {
            Some(heading) if !is_known => {
                self.at_file().text("no heading \"").text(heading).text("\"").fail()
            }
            Some(heading) => self
                .at_file()
                .text("no ```mermaid block below the heading \"")
                .text(heading)
                .text("\"")
                .fail(),
            None => self.at_file().text("no ```mermaid block").fail(),
        }
    }

    /// Refuses a second block: in the file, or below the heading.
    #[track_caller]
    pub(super) const fn no_second_block(&mut self) {
        if self.is_bare {
            return;
        }
        // Below the heading; without one the whole file is.
        let mut is_below = true;
        while self.next_line() {
            if self.skip_comment() {
                continue;
            }
            if self.opens_fence() && !(is_below && self.opens_block()) {
                self.skip_block();
                continue;
            }
            if self.opens_block() {
                let at = self.at_line().text("a second ```mermaid block; ");
                match self.heading {
                    Some(_) => at.text("there is one below the heading of a lifecycle").fail(),
                    None => at
                        .text(
                            "the file of a lifecycle has one, or its definition names the `heading` above it",
                        )
                        .fail(),
                }
            }
            if let (Some(wanted), true) = (self.heading, self.is_heading()) {
                if equal_bytes(self.bytes(self.heading_text()), wanted.as_bytes()) {
                    self.at_line().text("a second heading \"").text(wanted).text("\"").fail();
                }
                is_below = false;
            }
        }
    }

    /// Moves to the end of a block that is skipped: a fence of its own kind, at least as long, and nothing else.
    const fn skip_block(&mut self) {
        let (mark, length) = (self.text[self.line.0], self.fence_length());
        while self.next_line() {
            let is_fence = !self.line.is_empty() && self.text[self.line.0] == mark;
            if is_fence && self.fence_length() >= length && self.line.0 + self.fence_length() == self.line.1 {
                return;
            }
        }
    }

    const fn opens_fence(&self) -> bool {
        self.starts_with(self.line, "```") || self.starts_with(self.line, "~~~")
    }

    /// The length of the run of one character at the beginning of the line.
    const fn fence_length(&self) -> usize {
        let mut end = self.line.0;
        while end < self.line.1 && self.text[end] == self.text[self.line.0] {
            end += 1;
        }
        end - self.line.0
    }

    const fn is_heading(&self) -> bool {
        self.starts_with(self.line, "#")
    }

    /// The text of a heading, without its marks.
    const fn heading_text(&self) -> Range {
        let mut range = self.line;
        while !range.is_empty() && self.text[range.0] == b'#' {
            range.0 += 1;
        }
        while !range.is_empty() && self.text[range.1 - 1] == b'#' {
            range.1 -= 1;
        }
        self.trim(range)
    }

    /// Returns whether the line opens a Mermaid block, with any kind of Markdown fence.
    const fn opens_block(&self) -> bool {
        if !self.opens_fence() {
            return false;
        }
        let language = self.trim(Range(self.line.0 + self.fence_length(), self.line.1));
        let after = language.0 + "mermaid".len();
        self.starts_with(language, "mermaid") && (after == language.1 || !is_name_byte(self.text[after]))
    }

    /// Moves to the next line of the block; false at its end.
    #[track_caller]
    pub(super) const fn next_in_block(&mut self) -> bool {
        if !self.next_line() {
            if self.is_bare {
                return false;
            }
            self.at_file().text("the ```mermaid block has no end").fail();
        }
        let mut i = self.line.0;
        while i < self.line.1 {
            // Mermaid ends the line here; an editor may not.
            if self.text[i] == b'\r' {
                self.at_line().text("a carriage return within the line").fail();
            }
            i += 1;
        }
        // Mermaid removes a directive wherever it stands, with the lines up to its end.
        if self.has(self.line, "%%{") {
            self.unsupported("");
        }
        if self.is_bare || !self.starts_with(self.line, "```") {
            return true;
        }
        // Another line of backticks is a part of the block for Markdown.
        if self.line.0 + self.fence_length() != self.line.1 {
            self.unsupported("; the block ends with a line of backticks alone");
        }
        false
    }

    /// Returns whether a range has a text, in any case of its letters.
    const fn has(&self, range: Range, text: &str) -> bool {
        let mut i = range.0;
        while i + text.len() <= range.1 {
            if is_in_any_case(self.bytes(Range(i, i + text.len())), text.as_bytes()) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Skips an HTML comment that the line opens and does not close. Returns whether there is one.
    const fn skip_comment(&mut self) -> bool {
        if !self.has(self.line, "<!--") || self.has(self.line, "-->") {
            return false;
        }
        while self.next_line() {
            if self.has(self.line, "-->") {
                break;
            }
        }
        true
    }

    #[track_caller]
    pub(super) const fn statement(&mut self) -> Statement {
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
    pub(super) const fn unsupported(&self, why: &str) -> ! {
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

/// `<[u8]>::eq_ignore_ascii_case`, which is const from 1.89 on.
const fn is_in_any_case(text: &[u8], word: &[u8]) -> bool {
    let mut i = 0;
    while i < word.len() {
        if text.len() != word.len() || !text[i].eq_ignore_ascii_case(&word[i]) {
            return false;
        }
        i += 1;
    }
    text.is_empty() == word.is_empty()
}

const fn ends_with(text: &str, end: &str) -> bool {
    let (text, end) = (text.as_bytes(), end.as_bytes());
    text.len() >= end.len() && equal_bytes(text.split_at(text.len() - end.len()).1, end)
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
