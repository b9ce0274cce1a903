//! The rules after `state`, up to the end of the line.

use super::{Found, Lexer, Mode};
use crate::diagram::chars::{is_space, is_word, run, spaces, word};
use crate::diagram::token::Kind;

impl Lexer<'_> {
    pub(super) fn state(&mut self) -> Found {
        let rest = self.rest();
        if rest.starts_with(|c| is_space(c) && c != '\n') {
            return self.skip(run(self.text, self.at, |c| is_space(c) && c != '\n'));
        }
        if let Some(end) = self.comment() {
            return self.skip_comment(end);
        }
        if let Some((kind, start, end)) = self.ahead.mark(self.text, self.at) {
            self.pop();
            return self.take_part(Kind::Pseudo(kind), end, self.at..start);
        }
        if rest.starts_with('"') {
            self.push(Mode::StateText);
            return self.skip(self.at + 1);
        }
        if let Some(end) = self.alias() {
            self.push(Mode::StateId);
            return self.take(Kind::As, end);
        }
        if self.two_words_and_a_brace() {
            let help = "a name with spaces goes in quotes: `state \"two words\" as Id {`; a `state` line without a \
                        brace also reads on into the next line";
            return Err(self.error("a state name of a single word").with_help(help));
        }
        if rest.starts_with('\n') {
            self.pop();
            return self.skip(self.at + 1);
        }
        if rest.starts_with('{') {
            return self.open();
        }
        let end = run(self.text, self.at, |c| !is_space(c) && c != '{');
        self.take(Kind::Name, end)
    }

    /// Returns the end of `as` and of the white space after it. The word may be on a line of its own.
    fn alias(&self) -> Option<usize> {
        let end = word(self.text, spaces(self.text, self.at), "as")?;
        let after = spaces(self.text, end);
        (after > end).then_some(after)
    }

    /// Returns whether the text is `state A B {`, which is refused at once. The second word and the brace may be on the
    /// next line.
    fn two_words_and_a_brace(&mut self) -> bool {
        let first = run(self.text, self.at, is_word);
        let second = spaces(self.text, first);
        if first == self.at || second == first {
            return false;
        }
        let starts = self.text[second..].starts_with(is_word);
        starts && self.ahead.brace_elsewhere(self.text, second + 1)
    }

    /// Reads the text after the opening quote.
    pub(super) fn state_text(&mut self) -> Found {
        if self.rest().starts_with('"') {
            self.pop();
            return self.skip(self.at + 1);
        }
        let end = run(self.text, self.at, |c| c != '"');
        self.take(Kind::Quoted, end)
    }

    /// Reads the rest of the line after `as`.
    pub(super) fn state_id(&mut self) -> Found {
        let end = run(self.text, self.at, |c| c != '\n' && c != '{');
        match self.id_end(end) {
            Some(end) => {
                self.pop();
                self.take(Kind::Id, end)
            }
            None => self.skip(end),
        }
    }
}
