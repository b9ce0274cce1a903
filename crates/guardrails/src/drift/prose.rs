//! A text without its code and quotations.

use crate::text::Scope;

/// Filter that passes prose, without code and quotations. Text after an opening mark is held back until the
/// mark is closed, or until it proves to be ordinary text.
#[derive(Debug, Clone)]
pub(super) struct Prose {
    scope: Scope,
    part: Part,
    held: String,
}

/// A piece of a text.
#[derive(Debug)]
pub(super) enum Piece<'t> {
    Prose(&'t str),
    /// Code within a line, or a quotation.
    LeftOut(&'t str),
}

/// The context of the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Prose,
    /// In code or in a quotation, provided that the mark is closed later.
    Open,
    Hidden,
}

impl Prose {
    pub(super) fn new() -> Self {
        Prose { scope: Scope::new(), part: Part::Prose, held: String::new() }
    }

    /// Reads the next part of the text. Passes on its prose, the text held back, and the code and quotations
    /// within lines.
    pub(super) fn read(&mut self, delta: &str, mut piece: impl FnMut(Piece<'_>)) {
        // Start of the prose that was not passed on yet.
        let (mut from, mut at) = (0, 0);
        while at < delta.len() {
            let quiet = self.quiet(&delta[at..]);
            if quiet > 0 {
                if self.part == Part::Open {
                    self.held.push_str(&delta[at..at + quiet]);
                }
                at += quiet;
                continue;
            }
            let Some(c) = delta[at..].chars().next() else { break };
            let (mut is_over, mut is_text) = (false, false);
            let context = self.scope.char(c, |_, text| {
                (is_over, is_text) = (true, is_text || text);
            });
            let part = if context.hidden {
                Part::Hidden
            } else if context.is_open() {
                Part::Open
            } else {
                Part::Prose
            };
            if self.part == Part::Prose && part != Part::Prose {
                piece(Piece::Prose(&delta[from..at]));
            }
            if is_over {
                piece(if is_text { Piece::Prose(&self.held) } else { Piece::LeftOut(&self.held) });
                self.held.clear();
            }
            if self.part != Part::Prose && part == Part::Prose {
                from = at;
            }
            if part == Part::Open {
                self.held.push(c);
            }
            self.part = part;
            at += c.len_utf8();
        }
        if self.part == Part::Prose {
            piece(Piece::Prose(&delta[from..]));
        }
    }

    /// Skips letters and spaces that cannot change the context. Returns their number in bytes.
    fn quiet(&mut self, text: &str) -> usize {
        let most = self.scope.quiet();
        if most == 0 {
            return 0;
        }
        let is_quiet = |c: &u8| c.is_ascii_lowercase() || *c == b' ';
        let quiet = text.bytes().take(most).take_while(is_quiet).count();
        self.scope.pass(&text[..quiet]);
        quiet
    }
}
