//! A compile-time reader of Markdown with a diagram, line by line.

mod statement;

use crate::kernel::check::equal_bytes;
use crate::kernel::message::Message;
pub(super) use statement::{Statement, Transition};

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
    /// The line has a `<`, so that it may open a comment. Most lines of a long document have none, and each step of the
    /// compiler on a byte counts.
    has_angle: bool,
    /// The line above, if it is text, which a line of `=` or `-` makes a heading.
    above: Range,
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
            has_angle: false,
            above: Range::EMPTY,
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
        // Local variables: this loop is most of the steps of a long document.
        let (text, mut end, mut has_angle) = (self.text, start, false);
        while end < text.len() {
            match text[end] {
                b'\n' => break,
                b'<' => has_angle = true,
                _ => {}
            }
            end += 1;
        }
        self.has_angle = has_angle;
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
        range.1 - range.0 >= n
            // Few lines come further, and a slice takes the compiler many steps.
            && self.text[range.0] == prefix.as_bytes()[0]
            && equal_bytes(self.bytes(Range(range.0, range.0 + n)), prefix.as_bytes())
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
            if let (Some(wanted), Some(heading)) = (self.heading, self.heading_text()) {
                is_below = equal_bytes(self.bytes(heading), wanted.as_bytes());
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
            if let (Some(wanted), Some(heading)) = (self.heading, self.heading_text()) {
                if equal_bytes(self.bytes(heading), wanted.as_bytes()) {
                    self.at_line().text("a second heading \"").text(wanted).text("\"").fail();
                }
                is_below = false;
            }
        }
    }

    /// Moves to the end of a block that is skipped: a fence of its own kind, at least as long, and nothing else.
    const fn skip_block(&mut self) {
        let (mark, length) = (self.text[self.line.0], self.fence_length());
        self.above = Range::EMPTY;
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

    /// The text of the heading that the line is: after `#`, or above a line of `=` or `-`.
    const fn heading_text(&mut self) -> Option<Range> {
        let above = self.above;
        self.above = Range::EMPTY;
        if self.line.is_empty() {
            return None;
        }
        match self.text[self.line.0] {
            b'#' => {}
            b'=' | b'-' if self.line.0 + self.fence_length() == self.line.1 => {
                return if above.is_empty() { None } else { Some(above) };
            }
            // An item of a list is no heading.
            b'-' | b'*' | b'+' | b'0'..=b'9' => return None,
            _ => {
                self.above = self.line;
                return None;
            }
        }
        let mut range = self.line;
        while !range.is_empty() && self.text[range.0] == b'#' {
            range.0 += 1;
        }
        while !range.is_empty() && self.text[range.1 - 1] == b'#' {
            range.1 -= 1;
        }
        Some(self.trim(range))
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
        let first = text.as_bytes()[0];
        let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
        let mut i = range.0;
        while i + text.len() <= range.1 {
            let byte = self.text[i];
            if (byte == lower || byte == upper)
                && is_in_any_case(self.bytes(Range(i, i + text.len())), text.as_bytes())
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Skips an HTML comment that the line opens and does not close. Returns whether there is one.
    const fn skip_comment(&mut self) -> bool {
        if !self.has_angle || !self.has(self.line, "<!--") || self.has(self.line, "-->") {
            return false;
        }
        self.above = Range::EMPTY;
        while self.next_line() {
            if self.has(self.line, "-->") {
                break;
            }
        }
        true
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
