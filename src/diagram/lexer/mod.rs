//! The lexer: it splits the prepared text into tokens.
//!
//! The meaning of a character depends on the text before it: the rules after `note left of` differ from the rules
//! after `state`. Therefore the lexer has a stack of modes. Each mode has a few rules, tried in order; the first
//! match decides. The look-ahead scans a line at most once, so a long line costs no more per byte than a short one.

mod ahead;
mod body;
mod note;
mod state;
mod text;

use std::ops::Range;

use super::chars::{self, trim};
use super::error::SyntaxError;
use super::model::Text;
use super::prepare::Prepared;
use super::token::{Kind, Token, quoted};
use ahead::Ahead;
pub(super) use ahead::is_mark;

/// The mode of the lexer, which selects its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Outside all composite states.
    Top,
    /// Inside a composite state.
    Body,
    State,
    StateText,
    StateId,
    Scale,
    AccTitle,
    AccDescr,
    AccBlock,
    ClassDef,
    ClassDefValue,
    Class,
    ClassValue,
    Style,
    StyleValue,
    Note,
    NoteId,
    NoteText,
    Floating,
    FloatingId,
}

pub(super) struct Lexer<'s> {
    source: &'s str,
    prepared: &'s Prepared,
    text: &'s str,
    at: usize,
    modes: Vec<Mode>,
    /// Whether the end was reported.
    done: bool,
    ahead: Ahead,
    pub(super) comments: Vec<Text>,
}

/// A token, or none where the rule only skipped text.
type Found = Result<Option<Token>, SyntaxError>;

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str, prepared: &'s Prepared) -> Self {
        Self {
            source,
            prepared,
            text: &prepared.text,
            at: 0,
            modes: vec![Mode::Top],
            done: false,
            ahead: Ahead::default(),
            comments: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> Result<Token, SyntaxError> {
        loop {
            if self.at == self.text.len() {
                return Ok(self.at_end());
            }
            let found = match self.mode() {
                Mode::Top => self.top(),
                Mode::Body => self.body(),
                Mode::State => self.state(),
                Mode::StateText => self.state_text(),
                Mode::StateId => self.state_id(),
                Mode::Scale => self.scale(),
                Mode::AccTitle | Mode::AccDescr => self.acc_value(),
                Mode::AccBlock => self.acc_block(),
                Mode::ClassDef => self.class_def(),
                Mode::Class => self.class(),
                Mode::Style => self.style(),
                Mode::ClassDefValue | Mode::ClassValue | Mode::StyleValue => self.value(),
                Mode::Note => self.note(),
                Mode::NoteId => self.note_id(),
                Mode::NoteText => self.note_text(),
                Mode::Floating => self.floating(),
                Mode::FloatingId => self.floating_id(),
            }?;
            if let Some(token) = found {
                return Ok(token);
            }
        }
    }

    /// Handles the end of the text. A mode that accepts an empty value takes it once.
    fn at_end(&mut self) -> Token {
        let end = self.text.len();
        let kind = match self.mode() {
            _ if self.done => Kind::End,
            Mode::Top => Kind::Newline,
            Mode::StateText => Kind::Quoted,
            Mode::StateId | Mode::FloatingId => Kind::Id,
            Mode::AccTitle | Mode::AccDescr => Kind::AccValue,
            Mode::AccBlock => Kind::AccBlock,
            Mode::ClassDefValue | Mode::ClassValue | Mode::StyleValue => Kind::Value,
            Mode::Floating => Kind::NoteText,
            _ => Kind::End,
        };
        self.done = true;
        Token { kind, whole: end..end, text: end..end }
    }

    fn mode(&self) -> Mode {
        self.modes.last().copied().unwrap_or(Mode::Top)
    }

    fn push(&mut self, mode: Mode) {
        self.modes.push(mode);
    }

    /// Leaves the mode; the outermost mode stays.
    fn pop(&mut self) {
        if self.modes.len() > 1 {
            self.modes.pop();
        }
    }

    fn swap(&mut self, mode: Mode) {
        self.pop();
        self.push(mode);
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn skip(&mut self, end: usize) -> Found {
        self.at = end;
        Ok(None)
    }

    /// Makes a token from here to `end`.
    fn take(&mut self, kind: Kind, end: usize) -> Found {
        let whole = self.at..end;
        self.take_part(kind, end, whole)
    }

    /// Makes a token from here to `end`; its significant part is `part`, trimmed.
    fn take_part(&mut self, kind: Kind, end: usize, part: Range<usize>) -> Found {
        let raw = &self.text[part.clone()];
        let front = raw.len() - raw.trim_start_matches(chars::is_space).len();
        let length = trim(raw).len();
        let text = part.start + front..part.start + front + length;
        let whole = self.at..end;
        self.at = end;
        Ok(Some(Token { kind, whole, text }))
    }

    /// Returns the end of `word` and of the mandatory white space after it.
    fn spaced(&self, word: &str) -> Option<usize> {
        let end = chars::word(self.text, self.at, word)?;
        let after = chars::spaces(self.text, end);
        (after > end).then_some(after)
    }

    /// Returns the end of `word` if no letter, digit or underscore follows.
    fn bounded(&self, word: &str) -> Option<usize> {
        let end = chars::word(self.text, self.at, word)?;
        chars::word_ends(self.text, end).then_some(end)
    }

    /// Returns the end of a comment that begins here.
    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        let hash = rest.starts_with('#') && chars::entity(self.text, self.at).is_none();
        let percent = rest.starts_with("%%") && !rest.starts_with("%%{");
        (hash || percent).then(|| chars::feed(self.text, self.at))
    }

    fn skip_comment(&mut self, end: usize) -> Found {
        let mark = if self.rest().starts_with('#') { 1 } else { 2 };
        let text = trim(&self.text[self.at + mark..end]).to_owned();
        self.comments.push(Text { text, span: self.prepared.span(self.at..end) });
        self.skip(end)
    }

    /// Returns the end of an id: `end`, or an earlier `%%`. A leading `%%` leaves no id: `None`.
    fn id_end(&self, end: usize) -> Option<usize> {
        match self.text[self.at..end].find("%%") {
            Some(0) => None,
            Some(before) => Some(self.at + before),
            None => Some(end),
        }
    }

    fn error(&self, expected: &str) -> SyntaxError {
        let rest = self.rest();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let shown = chars::run(rest, first, |c| !chars::is_space(c));
        let got = match rest.chars().next() {
            Some('\n') => "the end of the line".to_owned(),
            Some(_) => quoted(&rest[..shown]),
            None => "the end of the diagram".to_owned(),
        };
        let span = self.prepared.span(self.at..self.at + first);
        SyntaxError::new(self.source, span, expected, got)
    }
}
