//! What can be noticed, and what is told of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In which way an output drifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// The same words come again and again: of the last 120 words, this share stands in groups of three that came before.
    Repetition,
    /// The tone is another than at the beginning: of the last ten signs of it, so many more are formal, or casual, than of the first ten.
    /// Both sides have signs that neutral text does without. A shift of 8.5 signs is sure.
    ToneShift,
    /// Lists, headings, tables or data end in seven loose lines of prose: this share of the first eight lines is structured.
    FormatCollapse,
    /// Text turns into noise, or into another script: this share of the last 160 pairs of characters never came before; at 86 of a
    /// hundred it is sure.
    EntropySpike,
    /// Perhaps, it might possibly seem: at one hedge in ten of the last 100 words it is sure.
    Hedging,
}

impl DriftKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [DriftKind; 5] = [
        DriftKind::Repetition,
        DriftKind::ToneShift,
        DriftKind::FormatCollapse,
        DriftKind::EntropySpike,
        DriftKind::Hedging,
    ];

    /// The kind as it is written: `entropy_spike`.
    pub const fn name(self) -> &'static str {
        match self {
            DriftKind::Repetition => "repetition",
            DriftKind::ToneShift => "tone_shift",
            DriftKind::FormatCollapse => "format_collapse",
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
