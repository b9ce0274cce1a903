//! Division of text into words.

use super::{Fold, is_word, stands_alone};

/// The longest word, in characters. A longer run counts as several words, so that text without ends of words is
/// compared, too.
const LONGEST: u32 = 32;

/// A complete word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// Words with equal folded text have equal hashes.
    pub(crate) hash: u64,
    /// Whether it has a letter.
    pub(crate) letters: bool,
    /// Its beginning, in bytes of the text.
    pub(crate) at: usize,
}

/// Divides text into words: runs of letters, digits and underscores, with the apostrophes within. A character
/// of a script without spaces is a word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    fold: Fold,
    word: Option<Word>,
    chars: u32,
}

impl Words {
    /// Reads the text's next character, at byte `at`. Reports each word once its end is certain.
    #[inline]
    pub(crate) fn char(&mut self, c: char, at: usize, mut ended: impl FnMut(Word)) {
        // Most characters are lower-case letters within a word.
        if c.is_ascii_lowercase() && self.quiet() > 0 {
            return self.pass(&[c as u8]);
        }
        let mut fold = self.fold;
        fold.char(c, |c| self.step(c, at, &mut ended));
        self.fold = fold;
    }

    /// Returns how many lower-case letters may follow within the word; 0 outside of a word.
    #[inline]
    pub(crate) fn quiet(&self) -> usize {
        if self.word.is_some() { (LONGEST - 1 - self.chars) as usize } else { 0 }
    }

    /// Adds such letters to the word.
    #[inline]
    pub(crate) fn pass(&mut self, letters: &[u8]) {
        if let Some(word) = &mut self.word {
            self.fold.pass(false);
            word.hash = letters.iter().fold(word.hash, |hash, c| mix(hash, char::from(*c)));
            word.letters = true;
            self.chars += letters.len() as u32;
        }
    }

    #[inline]
    fn step(&mut self, c: char, at: usize, ended: &mut impl FnMut(Word)) {
        if stands_alone(c) && c.is_alphanumeric() {
            self.end(ended);
            let letters = c.is_alphabetic();
            ended(Word { hash: mix(SEED, c), letters, at });
        } else if is_word(c) || (c == '\'' && self.word.is_some()) {
            let begun = Word { hash: SEED, letters: false, at };
            let word = self.word.get_or_insert(begun);
            word.hash = mix(word.hash, c);
            word.letters |= c.is_alphabetic();
            self.chars += 1;
            if self.chars == LONGEST {
                self.end(ended);
            }
        } else {
            self.end(ended);
        }
    }

    #[inline]
    fn end(&mut self, ended: &mut impl FnMut(Word)) {
        self.chars = 0;
        if let Some(word) = self.word.take() {
            ended(word);
        }
    }

    /// Returns the word that the end of the text completes.
    pub(crate) fn last(&self) -> Option<Word> {
        self.word
    }
}

const SEED: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a over characters. Words that were built to collide only make their own output repetitive.
#[inline]
fn mix(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01B3)
}
