//! Text that commits itself to nothing.

use std::collections::VecDeque;

/// How many words are looked at.
const WINDOW: u64 = 100;
/// So many words must be there.
const LEAST: u64 = 60;
/// At one hedge in so many words it is sure.
const SURE: f64 = 10.0;

/// The share of hedges among the last words.
#[derive(Debug, Clone, Default)]
pub(super) struct Hedging {
    words: u64,
    /// Which words the hedges of the window end with, by number.
    hedges: VecDeque<u64>,
}

impl Hedging {
    /// The word that is being read ends a hedge.
    pub(super) fn hedge(&mut self) -> f64 {
        self.hedges.push_back(self.words);
        self.confidence()
    }

    /// A word has ended.
    #[inline]
    pub(super) fn word(&mut self) -> f64 {
        self.words += 1;
        while self.hedges.front().is_some_and(|hedge| hedge + WINDOW < self.words) {
            self.hedges.pop_front();
        }
        self.confidence()
    }

    fn confidence(&self) -> f64 {
        if self.words < LEAST {
            return 0.0;
        }
        (self.hedges.len() as f64 * SURE / self.words.min(WINDOW) as f64).min(1.0)
    }
}
