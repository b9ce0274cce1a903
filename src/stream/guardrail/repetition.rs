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
#[derive(Debug, Clone)]
struct Loops {
    /// The last words, in a ring.
    last: [u64; LONGEST],
    runs: [usize; LONGEST],
    words: usize,
    /// Words since the last one that has a letter.
    unlettered: usize,
}

impl Loops {
    fn new() -> Self {
        Loops { last: [0; LONGEST], runs: [0; LONGEST], words: 0, unlettered: 0 }
    }

    /// One more word. Does the text end with a unit often enough?
    fn word(&mut self, word: Word) -> bool {
        self.unlettered = if word.letters { 0 } else { self.unlettered.saturating_add(1) };
        let mut looping = false;
        for (shorter, run) in self.runs.iter_mut().enumerate().take(self.words) {
            let unit = shorter + 1;
            let before = self.last[self.words.wrapping_sub(unit) % LONGEST];
            *run = if before == word.hash { *run + 1 } else { 0 };
            looping |= *run + unit >= LEAST_WORDS.max(COPIES * unit) && self.unlettered < unit;
        }
        self.last[self.words % LONGEST] = word.hash;
        self.words += 1;
        looping
    }
}
