//! The rules of statements with a plain value: styles, classes, scale and the two accessibility texts.

use super::{Found, Lexer, Mode};
use crate::diagram::chars::{feed, is_word, run, spaces, word, word_ends};
use crate::diagram::token::Kind;

impl Lexer<'_> {
    /// `accTitle:`, `accDescr:` and `accDescr {`.
    pub(super) fn acc(&mut self) -> Option<Found> {
        for (keyword, kind, mode) in
            [("accTitle", Kind::AccTitle, Mode::AccTitle), ("accDescr", Kind::AccDescr, Mode::AccDescr)]
        {
            let Some(end) = word(self.text, self.at, keyword) else { continue };
            let mark = spaces(self.text, end);
            let after = &self.text[mark..];
            if after.starts_with(':') {
                self.push(mode);
                return Some(self.take(kind, spaces(self.text, mark + 1)));
            }
            if mode == Mode::AccDescr && after.starts_with('{') {
                self.push(Mode::AccBlock);
                return Some(self.skip(spaces(self.text, mark + 1)));
            }
        }
        None
    }

    pub(super) fn acc_value(&mut self) -> Found {
        self.pop();
        self.take(Kind::AccValue, feed(self.text, self.at))
    }

    pub(super) fn acc_block(&mut self) -> Found {
        if self.rest().starts_with('}') {
            self.pop();
            return self.skip(self.at + 1);
        }
        self.take(Kind::AccBlock, run(self.text, self.at, |c| c != '}'))
    }

    pub(super) fn scale(&mut self) -> Found {
        let digits = run(self.text, self.at, |c| c.is_ascii_digit());
        if digits > self.at {
            return self.take(Kind::Width, digits);
        }
        let width = spaces(self.text, self.at);
        match word(self.text, width, "width") {
            Some(end) if width > self.at && word_ends(self.text, end) => {
                self.pop();
                self.skip(end)
            }
            _ => Err(self.error("a number and `width`")),
        }
    }

    pub(super) fn class_def(&mut self) -> Found {
        if let Some(end) = self.spaced("default") {
            return self.take_part(Kind::ClassDefDefault, end, self.at..end);
        }
        let end = run(self.text, self.at, is_word);
        let after = spaces(self.text, end);
        if end == self.at || after == end {
            return Err(self.error("the name of a class: letters, digits and underscores"));
        }
        self.swap(Mode::ClassDefValue);
        self.take(Kind::ClassDefId, after)
    }

    /// Reads ids separated by commas; white space may follow a comma.
    pub(super) fn class(&mut self) -> Found {
        let mut end = run(self.text, self.at, is_word);
        if end == self.at {
            return Err(self.error("the states that get the class"));
        }
        while self.text[end..].starts_with(',') {
            let next = spaces(self.text, end + 1);
            let after = run(self.text, next, is_word);
            if after == next {
                break;
            }
            end = after;
        }
        self.swap(Mode::ClassValue);
        self.take(Kind::Ids, end)
    }

    pub(super) fn style(&mut self) -> Found {
        let end = run(self.text, self.at, |c| is_word(c) || c == ',');
        let after = spaces(self.text, end);
        if end == self.at || after == end {
            return Err(self.error("the states that get the style"));
        }
        self.swap(Mode::StyleValue);
        self.take(Kind::Ids, after)
    }

    /// Reads the rest of the line.
    pub(super) fn value(&mut self) -> Found {
        self.pop();
        self.take(Kind::Value, feed(self.text, self.at))
    }
}
