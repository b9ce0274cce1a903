//! Words that come again and again.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::stream::guardrail::text::Word;

/// How many groups of three words are looked at: those of 240 words. A circle of fifty words turns nearly five times in them.
const WINDOW: usize = 238;
/// So many groups must be there.
const LEAST: usize = 60;
/// A share is so many times as sure. Changelogs with many empty releases, and mails with long quotations, have up to 0.75.
const SURE_SHARE: f64 = 1.0 / 1.1;

/// Groups at one distance from where they came last go round from so many on. It is sure where they are so many, and so many times the distance.
const LEAST_ROUND: u64 = 12;
const SURE_ROUND: f64 = 45.0;
const TURNS: f64 = 3.5;

/// A circle within a word is shorter than so many characters.
const CIRCLE: usize = 16;
/// A run of letters and digits counts from so many on.
const LEAST_RUN: usize = 26;
/// At so many characters that go round it is sure, and at so many lines that are the same.
const SURE_LETTERS: f64 = 140.0;
const SURE_LINES: f64 = 8.5;

/// The share of groups of three words that are in the window more than once; words that go round without a number between them; a word and lines that go
/// round. Words without a letter do not count: numbers repeat.
#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    /// The last two words.
    before: [Option<u64>; 2],
    groups: VecDeque<u64>,
    counts: HashMap<u64, Seen, BuildHasherDefault<AsItIs>>,
    /// The groups so far. The last ones came before at one distance, and how many did.
    all: u64,
    distance: u64,
    round: u64,
    letters: Circles,
    lines: Lines,
}

/// A group in the window: how often, and where last.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    count: u32,
    last: u64,
}

impl Repetition {
    /// One more character. How sure it is that a word goes round, or a line comes again.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        let (round, lines) = (self.letters.char(c), self.lines.char(c));
        if round == 0 && lines == 0 {
            return 0.0;
        }
        (f64::from(round) / SURE_LETTERS).max(f64::from(lines) / SURE_LINES).min(1.0)
    }

    /// Something is left out here. It counts as one word.
    pub(super) fn left_out(&mut self, text: &str) -> f64 {
        self.letters.length = 0;
        let hash = text.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
        self.lines.line ^= hash;
        self.word(Word { hash, letters: true, at: 0 })
    }

    /// One more word. How sure it is that the text repeats itself.
    pub(super) fn word(&mut self, word: Word) -> f64 {
        // A number that grows is what changes in lists of releases, mails and steps.
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

    /// How sure it is that the last words go round.
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

/// The keys are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Not asked for keys of this type; whole all the same.
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Letters and digits that go round without an end of the word.
#[derive(Debug, Clone, Copy, Default)]
struct Circles {
    /// Of those behind the [`LEAST_RUN`] first ones.
    last: [char; CIRCLE],
    length: usize,
    /// How many are those so many places before.
    same: [u32; CIRCLE],
}

impl Circles {
    /// One more character. How many have gone round.
    #[inline]
    fn char(&mut self, c: char) -> u32 {
        if !(c.is_ascii_alphanumeric() || c.is_alphanumeric()) {
            self.length = 0;
            return 0;
        }
        self.length += 1;
        // Few words are as long.
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

/// Lines with letters, or with characters that ASCII has not, that are the same as the one before.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    line: u64,
    letters: bool,
    before: u64,
    same: u32,
}

impl Lines {
    /// One more character. How many lines were the same.
    #[inline]
    fn char(&mut self, c: char) -> u32 {
        if c != '\n' {
            self.line = (self.line ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01B3);
            self.letters |= c.is_ascii_alphabetic() || !c.is_ascii();
            return 0;
        }
        let Lines { line, letters, before, same } = *self;
        let same = if letters && line == before { same + 1 } else { 0 };
        *self = Lines { line: 0, letters: false, before: line, same };
        same
    }
}
