//! The rules outside of composite states, and the slightly different rules inside.

use super::{Found, Lexer, Mode};
use crate::diagram::chars::{entity, feed, is_space, run, spaces, word};
use crate::diagram::model::Header;
use crate::diagram::token::Kind;

impl Lexer<'_> {
    pub(super) fn top(&mut self) -> Found {
        for (keyword, kind) in [("click", Kind::Click), ("href", Kind::Href)] {
            if let Some(end) = self.bounded(keyword) {
                return self.take(kind, end);
            }
        }
        if let Some(inner) = self.rest().strip_prefix('"')
            && let Some(length) = inner.find('"')
        {
            let inside = self.at + 1..self.at + 1 + length;
            return self.take_part(Kind::String, self.at + length + 2, inside);
        }
        if let Some(end) = self.bounded("default") {
            return self.take(Kind::Default, end);
        }
        if let Some((direction, start, name_end)) = self.ahead.direction(self.text, self.at) {
            let end = feed(self.text, name_end);
            return self.take_part(Kind::Direction(direction), end, start..name_end);
        }
        let rest = self.rest();
        if rest.starts_with('\n') {
            return self.take(Kind::Newline, run(self.text, self.at, |c| c == '\n'));
        }
        if rest.starts_with(is_space) {
            return self.skip(spaces(self.text, self.at));
        }
        if let Some(end) = self.comment() {
            return self.skip_comment(end);
        }
        if let Some(end) = self.spaced("scale") {
            self.push(Mode::Scale);
            return self.take(Kind::Scale, end);
        }
        if let Some(found) = self.acc() {
            return found;
        }
        if let Some(found) = self.statement_keyword() {
            return found;
        }
        if rest.starts_with('{') {
            return self.open();
        }
        if let Some(end) = self.spaced("note") {
            self.push(Mode::Note);
            return self.take(Kind::Note, end);
        }
        if let Some(end) = self.spaced("stateDiagram") {
            return self.take(Kind::Header(Header::StateDiagram), end);
        }
        if let Some(end) = self.spaced("stateDiagram-v2") {
            return self.take(Kind::Header(Header::StateDiagramV2), end);
        }
        if let Some(end) = self.bounded("hide empty description") {
            return self.take(Kind::HideEmpty, end);
        }
        if let Some(found) = self.relation() {
            return found;
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        self.take(Kind::Unknown, self.at + first)
    }

    pub(super) fn body(&mut self) -> Found {
        let rest = self.rest();
        if rest.starts_with(is_space) {
            return self.skip(spaces(self.text, self.at));
        }
        if let Some(end) = self.comment() {
            return self.skip_comment(end);
        }
        if let Some(found) = self.statement_keyword() {
            return found;
        }
        if let Some((direction, start, name_end)) = self.ahead.direction(self.text, self.at) {
            let end = feed(self.text, name_end);
            return self.take_part(Kind::Direction(direction), end, start..name_end);
        }
        if rest.starts_with('}') {
            self.pop();
            return self.take(Kind::Close, self.at + 1);
        }
        if let Some(end) = self.spaced("note") {
            self.push(Mode::Note);
            return self.take(Kind::Note, end);
        }
        if let Some(found) = self.relation() {
            return found;
        }
        if rest.starts_with("--") {
            return self.take(Kind::Divider, self.at + 2);
        }
        Err(self.error("a state, a transition or `}`"))
    }

    pub(super) fn open(&mut self) -> Found {
        self.swap(Mode::Body);
        self.take(Kind::Open, self.at + 1)
    }

    fn statement_keyword(&mut self) -> Option<Found> {
        let keywords = [
            ("classDef", Kind::ClassDef, Mode::ClassDef),
            ("class", Kind::Class, Mode::Class),
            ("style", Kind::Style, Mode::Style),
        ];
        for (keyword, kind, mode) in keywords {
            if let Some(end) = self.spaced(keyword) {
                self.push(mode);
                return Some(self.take(kind, end));
            }
        }
        let end = self.spaced("state")?;
        self.push(Mode::State);
        Some(self.skip(end))
    }

    /// Reads the tokens of transitions and descriptions.
    fn relation(&mut self) -> Option<Found> {
        let rest = self.rest();
        if rest.starts_with("[*]") {
            return Some(self.take(Kind::Point, self.at + 3));
        }
        let id = |c: char| !(is_space(c) || matches!(c, ':' | '-' | '{'));
        let end = run(self.text, self.at, id);
        if end > self.at {
            return Some(match self.id_end(end) {
                Some(end) => self.take(Kind::Id, end),
                None => self.skip(end),
            });
        }
        if let Some(end) = self.label() {
            let inside = self.at + 1..end;
            return Some(self.take_part(Kind::Label, end, inside));
        }
        if rest.starts_with("-->") {
            return Some(self.take(Kind::Arrow, self.at + 3));
        }
        rest.starts_with(":::").then(|| self.take(Kind::ClassMark, self.at + 3))
    }

    /// Returns the end of a label: `:` and the text after it, up to a semicolon, the end of the line or two colons in
    /// a row.
    fn label(&self) -> Option<usize> {
        let text = self.text;
        let start = word(text, self.at, ":")?;
        let mut end = start;
        while let Some(c) = text[end..].chars().next() {
            let next = match c {
                '\n' | ';' => break,
                ':' => {
                    let after = text[end + 1..].chars().next();
                    match after {
                        None | Some(':' | '\n' | ';') => break,
                        Some('#') => entity(text, end + 1).unwrap_or(end + 2),
                        Some(c) => end + 1 + c.len_utf8(),
                    }
                }
                '#' => entity(text, end).unwrap_or(end + 1),
                c => end + c.len_utf8(),
            };
            end = next;
        }
        (end > start).then_some(end)
    }
}
