//! Text that goes round in circles.

use super::text::{Word, Words};
use super::{Guardrail, OutputFacts, Violation};

/// The longest unit that is looked for, in words.
const LONGEST: usize = 64;
/// So many words must be repetition, however short the unit.
const LEAST_WORDS: usize = 16;
/// So many copies of the unit must follow one another.
const COPIES: usize = 4;

/// The output must not say the same thing over and over.
///
/// It does where a unit of up to 64 words comes 4 times in a row or more, and at least 16 words long altogether. Case and what
/// stands between the words make no difference. A unit has a letter somewhere: a column of zeros is no repetition.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, Repetition};
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

    /// The rule.
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

/// For each length of a unit, how many words in a row are the word that stands so far before them.
///
/// Only the words that are the same as the new one matter, and mostly there are none: they are found by a chain through the last
/// words that begins in the new one's bucket, so that nothing is done for the others.
#[derive(Debug, Clone)]
struct Loops {
    /// The last words, in a ring.
    last: [u64; LONGEST],
    /// For each of them the word before it in its bucket, and for each bucket its last word: by number, from 1, and 0 for none.
    links: [usize; LONGEST],
    heads: [usize; BUCKETS],
    runs: [Run; LONGEST],
    words: usize,
    /// Words since the last one that has a letter.
    unlettered: usize,
}

/// Words in a row that are the word that stands so far before them.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    length: usize,
    /// The number of the last of them: behind another one the run is over.
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

    /// One more word. Does the text end with a unit often enough?
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

/// Some bits of the hash, all of which have a say.
fn bucket(hash: u64) -> usize {
    let folded = hash ^ (hash >> 32);
    usize::from(u8::try_from((folded ^ (folded >> 8)) & 0xFF).unwrap_or_default())
}
