//! The rules after `note`.

use super::{Found, Lexer, Mode};
use crate::diagram::chars::{entity, feed, is_space, run, spaces, word, word_ends};
use crate::diagram::model::NoteSide;
use crate::diagram::token::Kind;

impl Lexer<'_> {
    pub(super) fn note(&mut self) -> Found {
        for (words, side) in [("left of", NoteSide::Left), ("right of", NoteSide::Right)] {
            if let Some(end) = self.bounded(words) {
                self.swap(Mode::NoteId);
                return self.take(Kind::Side(side), end);
            }
        }
        if self.rest().starts_with('"') {
            self.swap(Mode::Floating);
            return self.skip(self.at + 1);
        }
        Err(self.error("`left of`, `right of` or a text in double quotes"))
    }

    pub(super) fn note_id(&mut self) -> Found {
        let start = spaces(self.text, self.at);
        let end = run(self.text, start, |c| !is_space(c) && c != ':' && c != '-');
        if end == start {
            return Err(self.error("the state that the note is about"));
        }
        match self.id_end(end) {
            Some(end) => {
                self.swap(Mode::NoteText);
                self.take(Kind::Id, end)
            }
            None => self.skip(end),
        }
    }

    pub(super) fn note_text(&mut self) -> Found {
        if let Some(end) = self.note_line() {
            self.pop();
            // The first two characters are dropped, whatever their values.
            let cut = self.rest().char_indices().nth(2).map_or(end, |(length, _)| self.at + length);
            return self.take_part(Kind::NoteText, end, cut.min(end)..end);
        }
        let Some(end) = self.end_note() else {
            let help = "`: text` on the same line, or lines of text and a line `end note`";
            return Err(self.error("the text of the note").with_help(help));
        };
        self.pop();
        self.take_part(Kind::NoteText, end, self.at..end - "end note".len())
    }

    /// Returns the end of `: text`: a colon, a semicolon or the end of the line.
    fn note_line(&self) -> Option<usize> {
        let text = self.text;
        let start = word(text, spaces(text, self.at), ":")?;
        let mut end = start;
        while let Some(c) = text[end..].chars().next() {
            end = match c {
                ':' | '\n' | ';' => break,
                '#' => entity(text, end).unwrap_or(end + 1),
                c => end + c.len_utf8(),
            };
        }
        (end > start).then_some(end)
    }

    /// Returns the end of the first `end note` at the beginning of a line.
    fn end_note(&self) -> Option<usize> {
        let text = self.text;
        let mut from = self.at;
        loop {
            let length = text[from..].bytes().position(|byte| byte.eq_ignore_ascii_case(&b'e'))?;
            let here = from + length;
            from = here + 1;
            let Some(end) = word(text, here, "end note") else { continue };
            let before = text[self.at..here].trim_end_matches(|c| is_space(c) && c != '\n');
            if word_ends(text, end) && before.ends_with('\n') {
                return Some(end);
            }
        }
    }

    pub(super) fn floating(&mut self) -> Found {
        if let Some(end) = word(self.text, spaces(self.text, self.at), "as") {
            self.swap(Mode::FloatingId);
            return self.take(Kind::As, spaces(self.text, end));
        }
        if self.rest().starts_with('"') {
            return self.skip(self.at + 1);
        }
        let end = run(self.text, self.at, |c| c != '"');
        self.take(Kind::NoteText, end)
    }

    pub(super) fn floating_id(&mut self) -> Found {
        let end = feed(self.text, self.at);
        match self.id_end(end) {
            Some(end) => {
                self.pop();
                self.take(Kind::Id, end)
            }
            None => self.skip(end),
        }
    }
}
