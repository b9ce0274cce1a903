//! What can be noticed, and what is told of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In which way an output drifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// The same words come again and again: of the last 240 words, a share stands in groups of three that came before; at all of them
    /// it is sure. Or 45 of these groups come at one distance from where they came last, and three and a half times the distance at least. Or a word goes round in itself for 140 characters, or a line comes eight times more.
    Repetition,
    /// After text of words: of the last 160 characters few are of words, and most pairs never came before, as in noise or another
    /// script; or words of four scripts stand in turns; or twenty words in a row are without one of those that sentences have, or
    /// 23 of 24 are such words and twelve of them differ. Or half of the last twenty parts of a line are no words, at most one is a common one, and they are no
    /// data of one shape: behind the sentence with which the line begins, or from its beginning behind lines of sentences.
    EntropySpike,
    /// Perhaps, it might possibly seem: at one hedge in ten of the last 100 words, and of 50 at least, it is sure.
    Hedging,
}

impl DriftKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [DriftKind; 3] = [DriftKind::Repetition, DriftKind::EntropySpike, DriftKind::Hedging];

    /// The kind as it is written: `entropy_spike`.
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

/// What was noticed: the arguments of `onDrift` (document 002, "Callback Signatures").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Drift {
    /// In which ways, in the order of [`DriftKind::ALL`]; at least one.
    pub kinds: Vec<DriftKind>,
    /// How sure it is, from 0 to 1: that of the surest kind.
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
