//! Text that commits itself to nothing.

use std::collections::VecDeque;
use std::sync::LazyLock;

use crate::stream::guardrail::text::Phrases;

/// How many words are looked at.
const WINDOW: u64 = 100;
/// The least number of words that a share is of.
const LEAST: u64 = 50;
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
        (self.hedges.len() as f64 * SURE / self.words.clamp(LEAST, WINDOW) as f64).min(1.0)
    }
}

pub(super) static HEDGES: LazyLock<Phrases> = LazyLock::new(|| {
    let mut phrases = Phrases::new();
    PHRASES.iter().for_each(|template| phrases.add_template(template, 0));
    phrases
});

/// Phrases that say less than they could. Most are English.
const PHRASES: &[&str] = &[
    "(apparently|arguably|conceivably|likely|maybe|might|perhaps|possibly|potentially|presumably|probably|seemingly|somewhat|supposedly)",
    "as (far as i (can tell|know)|far as i'm aware|i understand it)",
    "(at least |)in theory",
    "(can't|cannot) be (certain|sure)",
    "could (be|possibly|well)",
    "(difficult|hard) to (be certain|know|say|tell)",
    "(easily |well |)be (mistaken|wrong)",
    "(for certain|for sure|with certainty)",
    "generally (considered|speaking|thought)",
    "i (believe|guess|suppose|think)",
    "i'd (assume|guess|imagine|say|suppose)",
    "i would (assume|guess|imagine|say|suggest|suppose)",
    "i('m| am) (no expert|not (an expert|in a position to say))",
    "i('m| am) not (altogether |completely |entirely |fully |quite |totally |)(certain|sure)",
    "if i('m| am) not mistaken",
    "if i recall",
    "in (a sense|general|some cases|some ways|my opinion)",
    "it (appears|depends|seems)",
    "it('s| is) possible",
    "may (also|be|or may not|well)",
    "more or less",
    "my (guess|impression|understanding) is",
    "not necessarily",
    "(roughly speaking|so to speak|sort of|kind of|to some (degree|extent))",
    "some (may|might|would) (argue|say|suggest)",
    "to (my|the best of my) knowledge",
    "(would|may|might) (appear|seem)",
    "worth (checking|double-checking|verifying)",
    // German, French, Spanish.
    "(eventuell|könnte|könnten|möglicherweise|unter umständen|vermutlich|vielleicht|wahrscheinlich|womöglich)",
    "(à mon avis|éventuellement|il (est possible|se peut|semble)|peut-être|possible que|pourrait|pourraient|probablement|sans doute)",
    "(a lo mejor|en cierto modo|es posible|podría|podrían|posiblemente|probablemente|puede que|quizá|quizás|tal vez)",
];
