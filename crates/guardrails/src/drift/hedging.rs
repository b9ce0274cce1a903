//! Text without commitment.

use std::collections::VecDeque;
use std::sync::LazyLock;

use crate::text::Phrases;

/// Size of the window, in words.
const WINDOW: u64 = 100;
/// The least number of words by which the count of hedges is divided.
const LEAST: u64 = 50;
/// One hedge in this number of words has confidence 1.
const SURE: f64 = 10.0;

/// The share of hedges among the last words.
#[derive(Debug, Clone, Default)]
pub(super) struct Hedging {
    words: u64,
    /// The numbers of the words that end the hedges of the window.
    hedges: VecDeque<u64>,
}

impl Hedging {
    /// Counts a hedge that ends with the current word.
    pub(super) fn hedge(&mut self) -> f64 {
        self.hedges.push_back(self.words);
        self.confidence()
    }

    /// Ends a word.
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

/// Phrases that weaken a statement. Most are English.
const PHRASES: &[&str] = &[
    // Words that retract a claim, or a part of it.
    "(albeit|ambiguous|apparently|arguably|certain|conceivably|likely|maybe|might|perhaps|possibly|potentially|presumably|probably|relatively|seemingly|somewhat|subjective|supposedly|varies|vary)",
    "(can't|cannot) be (certain|sure)",
    "could (be|conceivably|perhaps|possibly|well)",
    "may (also|be|have|not|or may not|play|seem|vary|want|well|wish)",
    "(appear|appears|seem|seems) (plausible|likely|reasonable|reasonably|to)",
    "(may|might|would) (appear|seem)",
    "(tend|tends) (not |)to",
    // Doubt about knowledge.
    "(difficult|hard|impossible|not easy|not possible|not really possible|too early) to (be certain|generalise|generalize|know|predict|say|tell)",
    "(easily |well |)be (mistaken|wrong)",
    "(for certain|for sure|with (any |)certainty|with confidence)",
    "(not|isn't) necessarily",
    "it (appears|depends|seems)",
    "it('s| is) (conceivable|plausible|possible)",
    "open to (debate|interpretation|question)",
    "(depend on|depending on|depends on)",
    // The writer's own view.
    "as far as (i('m| am)|i (can tell|know)|one (can|knows)|we know)",
    "as i understand it",
    "from what i can tell",
    "grain of salt",
    "i (believe|gather|guess|imagine|suppose|suspect|think)",
    "i'd (assume|guess|imagine|say|suppose)",
    "i would (assume|guess|imagine|say|suggest|suppose)",
    "i('m| am) (no expert|not (an expert|in a position to say))",
    "i('m| am) not (altogether |completely |entirely |fully |quite |totally |)(certain|sure)",
    "if i('m| am) not mistaken",
    "if i recall",
    "in my opinion",
    "my (guess|impression|understanding) is",
    "to (my|the best of my) knowledge",
    // Limits to a part, or to some cases.
    "(a host|a number) of",
    "(at least |)in (general|principle|theory)",
    "at least (for|in|not|on|or|some|to)",
    "generally (believed|considered|speaking|thought)",
    "if (any|anything|at all)",
    "in (a sense|(certain|many|some) (cases|forms|respects|ways)|some (form|sense))",
    "inclined to",
    "(more or less|roughly speaking|so to speak|sort of|kind of)",
    "on the other hand",
    "one (could|may|might)",
    "(argument|arguments) (for|on) (both|either)",
    "others",
    "reasonable people",
    "some (commentators|experts|observers|people|studies)",
    "some (may|might|would) (argue|say|suggest)",
    "to (an|some|a certain|the) (degree|extent)",
    "under (certain|some) (circumstances|conditions)",
    "(it is|it's) (important|worth) (to|noting|keeping)",
    "(keep|bear|kept) in mind",
    "worth (checking|double-checking|verifying)",
    // German, French, Spanish.
    "(eventuell|könnte|könnten|möglicherweise|unter umständen|vermutlich|vielleicht|wahrscheinlich|womöglich)",
    "(à mon avis|éventuellement|il (est possible|se peut|semble)|peut-être|possible que|pourrait|pourraient|probablement|sans doute)",
    "(a lo mejor|en cierto modo|es posible|podría|podrían|posiblemente|probablemente|puede que|quizá|quizás|tal vez)",
];
