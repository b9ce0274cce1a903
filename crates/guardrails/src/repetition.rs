//! Text that repeats itself.

use super::text::{Word, Words};
use super::{Guardrail, OutputFacts, Violation};

/// Longest unit, in words.
const LONGEST: usize = 64;
/// Least length of all copies of a unit together, in words.
const LEAST_WORDS: usize = 16;
/// Least number of consecutive copies of a unit.
const COPIES: usize = 4;

/// Rule: the output does not repeat itself.
///
/// A repetition is a unit of up to 64 words that occurs at least 4 times in a row, with at least 16 words in
/// all. Case and the characters between the words are ignored. A unit needs a letter: a column of zeros is not
/// a repetition.
///
/// ```
/// use runstate_guardrails::{Guardrail, Repetition};
///
/// let mut rule = Repetition::new();
/// let mut so_far = String::new();
/// let found = (0..100).find_map(|_| {
///     so_far.push_str("I will try again. ");
///     rule.streaming("I will try again. ", &so_far)
/// });
/// assert_eq!(found.unwrap().at, Some(65), "the fourth word of the fourth copy");
/// ```
#[derive(Debug, Clone)]
pub struct Repetition {
    words: Words,
    loops: Loops,
    seen: usize,
    found: Option<usize>,
}

impl Repetition {
    const NAME: &'static str = "repetition";

    /// Creates the rule.
    pub fn new() -> Self {
        Repetition { words: Words::default(), loops: Loops::new(), seen: 0, found: None }
    }

    fn violation(at: usize) -> Violation {
        Violation::error(Self::NAME, "the output repeats itself: the same words come over and over").at(at)
    }
}

impl Default for Repetition {
    fn default() -> Self {
        Self::new()
    }
}

impl Guardrail for Repetition {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        if self.found.is_some() {
            return None;
        }
        let Repetition { words, loops, found, .. } = self;
        for (within, c) in delta.char_indices() {
            words.char(c, self.seen + within, |word| {
                if loops.word(word) && found.is_none() {
                    *found = Some(word.at);
                }
            });
        }
        self.seen += delta.len();
        self.found.map(Self::violation)
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        let last = || self.words.last().filter(|word| self.loops.clone().word(*word)).map(|word| word.at);
        self.found.or_else(last).map(Self::violation).into_iter().collect()
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

/// For each length of a unit, the number of consecutive words that equal the word one unit before them.
///
/// Only earlier words that equal the new word matter, and usually there are none. A chain through the last
/// words finds them. It begins in the bucket of the new word, so that other words cost nothing.
#[derive(Debug, Clone)]
struct Loops {
    /// The hashes of the last words, in a ring.
    last: [u64; LONGEST],
    /// For each of the last words, the previous word in its bucket; for each bucket, its last word. Both are
    /// numbers from 1; 0 stands for none.
    links: [usize; LONGEST],
    heads: [usize; BUCKETS],
    runs: [Run; LONGEST],
    words: usize,
    /// Words since the last word with a letter.
    unlettered: usize,
}

/// A run of words that equal the word one unit before them.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    length: usize,
    /// The number of its last word. The run ends when a later word does not continue it.
    last: usize,
}

const BUCKETS: usize = 256;

impl Loops {
    fn new() -> Self {
        Loops {
            last: [0; LONGEST],
            links: [0; LONGEST],
            heads: [0; BUCKETS],
            runs: [Run::default(); LONGEST],
            words: 0,
            unlettered: 0,
        }
    }

    /// Adds a word. Returns whether the text ends with enough copies of a unit.
    fn word(&mut self, word: Word) -> bool {
        self.unlettered = if word.letters { 0 } else { self.unlettered.saturating_add(1) };
        let number = self.words + 1;
        let head = &mut self.heads[bucket(word.hash)];
        let mut before = std::mem::replace(head, number);
        let (place, first) = (number % LONGEST, before);
        let mut looping = false;
        while before > 0 && number - before <= LONGEST {
            let unit = number - before;
            if self.last[before % LONGEST] == word.hash {
                let run = &mut self.runs[unit - 1];
                run.length = if run.last == self.words { run.length + 1 } else { 1 };
                run.last = number;
                looping |= run.length + unit >= LEAST_WORDS.max(COPIES * unit) && self.unlettered < unit;
            }
            before = self.links[before % LONGEST];
        }
        self.last[place] = word.hash;
        self.links[place] = first;
        self.words = number;
        looping
    }
}

/// Folds all bits of the hash into a bucket.
fn bucket(hash: u64) -> usize {
    let folded = hash ^ (hash >> 32);
    usize::from(u8::try_from((folded ^ (folded >> 8)) & 0xFF).unwrap_or_default())
}
