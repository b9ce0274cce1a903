//! Errors of exports.

use super::{Difference, MOST_STEPS};
use crate::Refused;
use crate::play::PlayError;

/// Why a run cannot be exported as a scenario.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// No commit of the run exists.
    #[error("nothing of the run was committed")]
    Empty,
    /// Some of its events are missing.
    #[error("event {next} is stored after event {after}; a scenario needs all events of its run")]
    Gap {
        /// The number of the last event before the gap; 0 if there is none.
        after: u64,
        /// The number of the first event after the gap.
        next: u64,
    },
    /// The run is neither over nor waiting.
    #[error("the run is under way; expected one that is over or waits")]
    Running,
    /// The run has more steps than a scenario may have.
    #[error("an event is of step {step}, and a scenario has at most {MOST_STEPS} steps")]
    Steps {
        /// The greatest number of a step.
        step: u32,
    },
    /// A call may have executed, and no decision settles the doubt.
    #[error("the call {call:?} is in doubt: its tool may have executed, and no decision says whether it did")]
    InDoubt {
        /// The call, as it is named in traces.
        call: String,
    },
    /// A decision was accepted, but is missing in the record.
    #[error("a decision on the suspension {suspension:?} was accepted, and the record does not have it")]
    NoDecision {
        /// The suspension that it answers.
        suspension: String,
    },
    /// A commit failed, so the store ended the run.
    #[error("the store ended the run, which no scenario repeats: {why}")]
    NotCommitted {
        /// The error of the commit.
        why: String,
    },
    /// A text to be redacted is a part of the replacement for one of the texts.
    #[error("text {number} cannot be replaced: it is a part of {word:?}, the word in the place of a text")]
    Word {
        /// The number of the text, from 1.
        number: usize,
        /// The word.
        word: String,
    },
    /// A text remains after the replacement: as a part of a number, in another case, or in a text that the play makes.
    #[error(
        "text {number} is still there once it is replaced: as a part of a number, in another case, or in a text that the play \
         makes"
    )]
    Left {
        /// The number of the text, from 1.
        number: usize,
    },
    /// Without the texts the scenario is invalid: one of them is a word of the format, such as `text`, or of a schema.
    #[error(
        "a text cannot be replaced, since it is a word of the scenario's format or one of its numbers: {0}"
    )]
    Format(#[source] Refused),
    /// The scenario of the record is invalid.
    #[error("the record makes no scenario: {0}")]
    Refused(#[source] Refused),
    /// The scenario cannot be played.
    #[error("the scenario cannot be played: {0}")]
    Play(#[source] PlayError),
    /// A step of the scenario never happened in its play.
    #[error("in the play of the scenario this never came about: {}", .0.join("; "))]
    Missed(Vec<String>),
    /// The run took an input in the same millisecond as other events, and no tried time of the input repeats their order.
    #[error(
        "the run took an input in millisecond {ms} of its record, and no time of it repeats the order of that millisecond: \
         {difference}"
    )]
    Order {
        /// The time since the first event, in milliseconds.
        ms: u64,
        /// The first difference of the play that repeats most of the record.
        difference: Box<Difference>,
    },
    /// The play of the scenario differs from the record.
    #[error("the scenario comes to something else than the run: {0}")]
    Differs(Box<Difference>),
}
