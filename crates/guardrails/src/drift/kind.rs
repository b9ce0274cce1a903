//! Kinds of drift.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of drift of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// Repetition. Of the last 240 words, the share of groups of three words that occurred before, divided by
    /// 1.1, is the confidence. Or 45 consecutive groups repeat at one distance, over at least three and a half
    /// times that distance. Or a word repeats itself for 140 characters, or a line occurs nine times more.
    Repetition,
    /// Noise after text of words. Few of the last 160 characters belong to words, and most pairs of characters
    /// are new, as in noise or another script. Or words of four scripts alternate. Or twenty consecutive words
    /// contain no common word, or 23 of 24 words are common and twelve of them differ. Or half of the last
    /// twenty parts of a line are not words, at most one is a common word, and they are not data of one shape:
    /// after the sentence that begins the line, or from the line's beginning after lines of sentences. The
    /// numbers are for a confidence of 0.7.
    EntropySpike,
    /// Hedges, such as "perhaps" and "it might seem". One hedge in ten of the last 100 words, counted over at
    /// least 50 words, has confidence 1.
    Hedging,
}

impl DriftKind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [DriftKind; 3] = [DriftKind::Repetition, DriftKind::EntropySpike, DriftKind::Hedging];

    /// Returns the kind in its written form, such as `entropy_spike`.
    pub const fn name(self) -> &'static str {
        match self {
            DriftKind::Repetition => "repetition",
            DriftKind::EntropySpike => "entropy_spike",
            DriftKind::Hedging => "hedging",
        }
    }
}

impl fmt::Display for DriftKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Detected drift: the arguments of `onDrift`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Drift {
    /// The kinds, in the order of [`DriftKind::ALL`]; at least one.
    pub kinds: Vec<DriftKind>,
    /// The highest confidence of the kinds, from 0 to 1.
    pub confidence: f64,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the output drifts: ")?;
        for (place, kind) in self.kinds.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{kind}")?;
        }
        write!(f, " (confidence {:.2})", self.confidence)
    }
}
