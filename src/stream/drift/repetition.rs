//! Words that come again and again.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::stream::guardrail::text::Word;

/// How many groups of three words are looked at: those of 120 words.
const WINDOW: usize = 118;
/// So many groups must be there.
const LEAST: usize = 60;

/// The share of groups of three words that are in the window more than once. Words without a letter do not count: numbers repeat.
#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    /// The last two words.
    before: [Option<u64>; 2],
    groups: VecDeque<u64>,
    counts: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
}

impl Repetition {
    /// One more word. How sure it is that the text repeats itself.
    pub(super) fn word(&mut self, word: Word) -> f64 {
        if !word.letters {
            return 0.0;
        }
        let [first, second] = self.before;
        self.before = [second, Some(word.hash)];
        let (Some(first), Some(second)) = (first, second) else { return 0.0 };
        let group = mix(mix(first, second), word.hash);
        self.groups.push_back(group);
        *self.counts.entry(group).or_default() += 1;
        if self.groups.len() > WINDOW {
            self.forget_first();
        }
        if self.groups.len() < LEAST {
            return 0.0;
        }
        1.0 - self.counts.len() as f64 / self.groups.len() as f64
    }

    fn forget_first(&mut self) {
        let Some(group) = self.groups.pop_front() else { return };
        if let Some(count) = self.counts.get_mut(&group) {
            *count -= 1;
            if *count == 0 {
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
struct AsItIs(u64);

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
