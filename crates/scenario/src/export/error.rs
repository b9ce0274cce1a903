//! Errors of exports.

use std::error::Error;
use std::fmt;

use super::{Difference, MOST_STEPS};
use crate::Refused;
use crate::play::PlayError;

/// Why a run cannot be exported as a scenario.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// No commit of the run exists.
    Empty,
    /// Some of its events are missing.
    Gap {
        /// The number of the last event before the gap; 0 if there is none.
        after: u64,
        /// The number of the first event after the gap.
        next: u64,
    },
    /// The run is neither over nor waiting.
    Running,
    /// The run has more steps than a scenario may have.
    Steps {
        /// The greatest number of a step.
        step: u32,
    },
    /// A call may have executed, and no decision settles the doubt.
    InDoubt {
        /// The call, as it is named in traces.
        call: String,
    },
    /// A decision was accepted, but is missing in the record.
    NoDecision {
        /// The suspension that it answers.
        suspension: String,
    },
    /// A commit failed, so the store ended the run.
    NotCommitted {
        /// The error of the commit.
        why: String,
    },
    /// A text to be redacted is a part of the replacement for one of the texts.
    Word {
        /// The number of the text, from 1.
        number: usize,
        /// The word.
        word: String,
    },
    /// A text remains after the replacement: as a part of a number, in another case, or in a text that the play makes.
    Left {
        /// The number of the text, from 1.
        number: usize,
    },
    /// Without the texts the scenario is invalid: one of them is a word of the format, such as `text`, or of a schema.
    Format(Box<Refused>),
    /// The scenario of the record is invalid.
    Refused(Refused),
    /// The scenario cannot be played.
    Play(PlayError),
    /// A step of the scenario never happened in its play.
    Missed(Vec<String>),
    /// The play of the scenario differs from the record.
    Differs(Box<Difference>),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Empty => f.write_str("nothing of the run was committed"),
            ExportError::Gap { after, next } => {
                write!(
                    f,
                    "event {next} is stored after event {after}; a scenario needs all events of its run"
                )
            }
            ExportError::Running => f.write_str("the run is under way; expected one that is over or waits"),
            ExportError::Steps { step } => {
                write!(f, "an event is of step {step}, and a scenario has at most {MOST_STEPS} steps")
            }
            ExportError::InDoubt { call } => write!(
                f,
                "the call {call:?} is in doubt: its tool may have executed, and no decision says whether it did"
            ),
            ExportError::NoDecision { suspension } => {
                write!(
                    f,
                    "a decision on the suspension {suspension:?} was accepted, and the record does not have it"
                )
            }
            ExportError::NotCommitted { why } => {
                write!(f, "the store ended the run, which no scenario repeats: {why}")
            }
            ExportError::Word { number, word } => {
                write!(
                    f,
                    "text {number} cannot be replaced: it is a part of {word:?}, the word in the place of a text"
                )
            }
            ExportError::Left { number } => write!(
                f,
                "text {number} is still there once it is replaced: as a part of a number, in another case, or in a text that the play makes"
            ),
            ExportError::Format(error) => {
                write!(
                    f,
                    "a text cannot be replaced, since it is a word of the scenario's format or one of its numbers: {error}"
                )
            }
            ExportError::Refused(error) => write!(f, "the record makes no scenario: {error}"),
            ExportError::Play(error) => write!(f, "the scenario cannot be played: {error}"),
            ExportError::Missed(missed) => {
                write!(f, "in the play of the scenario this never came about: {}", missed.join("; "))
            }
            ExportError::Differs(difference) => {
                write!(f, "the scenario comes to something else than the run: {difference}")
            }
        }
    }
}

impl Error for ExportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ExportError::Refused(error) => Some(error),
            ExportError::Format(error) => Some(&**error),
            ExportError::Play(error) => Some(error),
            _ => None,
        }
    }
}
