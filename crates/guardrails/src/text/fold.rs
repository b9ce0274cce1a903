//! Folding of text for comparison.

use crate::zero_output::is_ignorable;

/// Folds text for comparison: case, the kind and amount of white space, typographic apostrophes and quotes, and
/// invisible characters.
///
/// Case is folded by Unicode's lower case, character by character, independently of the language. Composed
/// letters are not normalised: a phrase matches only in its own composition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fold {
    spaced: bool,
}

impl Fold {
    /// Folds the next character. Passes on no character, one, or several.
    #[inline]
    pub(crate) fn char(&mut self, c: char, mut to: impl FnMut(char)) {
        if c.is_ascii_alphanumeric() {
            self.spaced = false;
            return to(c.to_ascii_lowercase());
        }
        if c.is_whitespace() {
            if !self.spaced {
                to(' ');
            }
            self.spaced = true;
            return;
        }
        if c.is_ascii() {
            self.spaced = false;
            return to(c);
        }
        if is_ignorable(c) {
            return;
        }
        self.spaced = false;
        match c {
            '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2BC}' | '\u{FF07}' => to('\''),
            '\u{201C}' | '\u{201D}' | '\u{201F}' | '\u{FF02}' => to('"'),
            _ => c.to_lowercase().for_each(to),
        }
    }

    /// Notes that other code read letters and digits of ASCII and spaces, and whether the last one was a space.
    #[inline]
    pub(crate) fn pass(&mut self, spaced: bool) {
        self.spaced = spaced;
    }

    /// Folds a whole text, and removes white space at its ends.
    pub(crate) fn text(text: &str) -> String {
        let mut fold = Fold::default();
        let mut folded = String::with_capacity(text.len());
        for c in text.trim().chars() {
            fold.char(c, |c| folded.push(c));
        }
        folded
    }
}
