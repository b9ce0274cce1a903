//! Repetition of words, lines and characters.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::token::hashed;
use crate::text::Word;

/// Size of the window, in groups of three words: 238 groups of 240 words. A cycle of fifty words occurs nearly
/// five times in it.
const WINDOW: usize = 238;
/// The least number of groups for a confidence by share.
const LEAST: usize = 60;
/// Factor from a share to its confidence. Changelogs with many empty releases, and mails with long quotations,
/// reach a share of 0.75.
const SURE_SHARE: f64 = 1.0 / 1.1;

/// The least number of consecutive groups that repeat at one distance. The confidence is 1 at `SURE_ROUND`
/// groups, if they also cover `TURNS` times the distance.
const LEAST_ROUND: u64 = 12;
const SURE_ROUND: f64 = 45.0;
const TURNS: f64 = 3.5;

/// Limit of the length of a cycle within a word, in characters.
const CIRCLE: usize = 16;
/// Length of a run of letters and digits, in characters, after which cycles are counted.
const LEAST_RUN: usize = 26;
/// The number of repeated characters, and of repeated lines, at which the confidence is 1.
const SURE_LETTERS: f64 = 140.0;
const SURE_LINES: f64 = 8.5;

/// Detector of repetition, by the share of groups of three words that occur in the window more than once; by
/// words that repeat without a number between them; and by repetitions within a word and of lines. Words
/// without a letter do not count, because numbers repeat in ordinary texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    /// The last two words.
    before: [Option<u64>; 2],
    groups: VecDeque<u64>,
    counts: HashMap<u64, Seen, BuildHasherDefault<AsItIs>>,
    /// The number of groups so far, the distance at which the last group repeats, and the number of consecutive
    /// groups that repeat at this distance.
    all: u64,
    distance: u64,
    round: u64,
    letters: Circles,
    lines: Lines,
}

/// A group in the window: its count, and its last position.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    count: u32,
    last: u64,
}

impl Repetition {
    /// Adds a character. Returns the confidence that a word repeats itself or that a line is repeated.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        let (round, lines) = (self.letters.char(c), self.lines.char(c));
        if round == 0 && lines == 0 {
            return 0.0;
        }
        (f64::from(round) / SURE_LETTERS).max(f64::from(lines) / SURE_LINES).min(1.0)
    }

    /// Returns how many lower-case letters may follow without repetition.
    #[inline]
    pub(super) fn quiet(&self) -> usize {
        LEAST_RUN.saturating_sub(self.letters.length)
    }

    /// Adds such letters.
    #[inline]
    pub(super) fn pass(&mut self, letters: &[u8]) {
        self.letters.length += letters.len();
        self.lines.letters = true;
        self.lines.line = letters.iter().fold(self.lines.line, |line, c| hashed(line, char::from(*c)));
    }

    /// Handles a skipped part of the text, which counts as one word.
    pub(super) fn left_out(&mut self, text: &str) -> f64 {
        self.letters.length = 0;
        let hash = text.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
        self.lines.line ^= hash;
        self.word(Word { hash, letters: true, at: 0 })
    }

    /// Adds a word. Returns the confidence that the text repeats itself.
    pub(super) fn word(&mut self, word: Word) -> f64 {
        // Lists of releases, mails and steps differ only by a growing number.
        if !word.letters {
            self.round = 0;
            return 0.0;
        }
        let [first, second] = self.before;
        self.before = [second, Some(word.hash)];
        let (Some(first), Some(second)) = (first, second) else { return 0.0 };
        let group = mix(mix(first, second), word.hash);
        self.groups.push_back(group);
        self.all += 1;
        let seen = self.counts.entry(group).or_default();
        let distance = if seen.count > 0 { self.all - seen.last } else { 0 };
        *seen = Seen { count: seen.count + 1, last: self.all };
        self.round =
            if distance > 0 && distance == self.distance { self.round + 1 } else { u64::from(distance > 0) };
        self.distance = distance;
        if self.groups.len() > WINDOW {
            self.forget_first();
        }
        self.circle().max(self.share())
    }

    /// Returns the confidence that the last words form a cycle.
    fn circle(&self) -> f64 {
        if self.round < LEAST_ROUND {
            0.0
        } else {
            (self.round as f64 / (TURNS * self.distance as f64).max(SURE_ROUND)).min(1.0)
        }
    }

    fn share(&self) -> f64 {
        if self.groups.len() < LEAST {
            return 0.0;
        }
        (1.0 - self.counts.len() as f64 / self.groups.len() as f64) * SURE_SHARE
    }

    fn forget_first(&mut self) {
        let Some(group) = self.groups.pop_front() else { return };
        if let Some(seen) = self.counts.get_mut(&group) {
            seen.count -= 1;
            if seen.count == 0 {
                self.counts.remove(&group);
            }
        }
    }
}

fn mix(left: u64, right: u64) -> u64 {
    let mixed = (left.rotate_left(29) ^ right).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}

/// Hasher for keys that are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys of this type do not call it. It is complete nevertheless.
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Repetition within a run of letters and digits.
#[derive(Debug, Clone, Copy, Default)]
struct Circles {
    /// The last characters after the first [`LEAST_RUN`] ones.
    last: [char; CIRCLE],
    length: usize,
    /// For each distance, the number of consecutive characters that equal the character at that distance.
    same: [u32; CIRCLE],
}

impl Circles {
    /// Adds a character. Returns the number of repeated characters.
    #[inline]
    fn char(&mut self, c: char) -> u32 {
        if !(c.is_ascii_alphanumeric() || c.is_alphanumeric()) {
            self.length = 0;
            return 0;
        }
        self.length += 1;
        // Few words reach this length.
        if self.length <= LEAST_RUN { 0 } else { self.turn(c, self.length - LEAST_RUN - 1) }
    }

    fn turn(&mut self, c: char, place: usize) -> u32 {
        if place == 0 {
            self.same = [0; CIRCLE];
        }
        for places in 1..CIRCLE.min(place + 1) {
            let is_same = self.last[(place - places) % CIRCLE] == c;
            self.same[places] = if is_same { self.same[places] + 1 } else { 0 };
        }
        self.last[place % CIRCLE] = c;
        self.same.iter().copied().max().unwrap_or(0)
    }
}

/// Repetition of lines. Only lines with letters, or with characters outside of ASCII, count.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    line: u64,
    letters: bool,
    before: u64,
    same: u32,
}

impl Lines {
    /// Adds a character. Returns the number of repeated lines.
    #[inline]
    fn char(&mut self, c: char) -> u32 {
        if c != '\n' {
            self.line = hashed(self.line, c);
            self.letters |= c.is_ascii_alphabetic() || !c.is_ascii();
            return 0;
        }
        let Lines { line, letters, before, same } = *self;
        let same = if letters && line == before { same + 1 } else { 0 };
        *self = Lines { line: 0, letters: false, before: line, same };
        same
    }
}
