//! What a model says, piece by piece.

use super::super::ModelError;
use super::usage::Usage;
use crate::turn::{Extra, FinishReason};

/// A piece of a model's answer.
///
/// A stream gives any number of texts, calls, arguments and usages, then one [`Finish`](ModelEvent::Finish), then at most
/// usages; or it breaks off with one [`Error`](ModelEvent::Error).
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More of what it says.
    Text(String),
    /// A tool call begins.
    CallStart {
        /// Its number in this answer, by which its arguments name it. Calls are executed in the order of their numbers.
        index: u32,
        /// The id that the model gives it.
        id: String,
        /// The tool it names.
        tool: String,
    },
    /// More of the arguments of a call: a piece of a JSON text.
    Arguments {
        /// The number of the call.
        index: u32,
        /// The piece.
        delta: String,
    },
    /// A piece of the provider's own data, of the answer or of a call.
    Extra {
        /// The number of the call; none for the answer.
        index: Option<u32>,
        /// The piece.
        extra: Extra,
    },
    /// Tokens that were used and not told before: several add up. A provider that tells running totals wants the
    /// difference here.
    Usage(Usage),
    /// The answer is complete.
    Finish(FinishReason),
    /// There will be no answer.
    Error(ModelError),
}

impl ModelEvent {
    pub(super) fn name(&self) -> &'static str {
        match self {
            ModelEvent::Text(_) => "text",
            ModelEvent::CallStart { .. } => "a call",
            ModelEvent::Arguments { .. } => "arguments",
            ModelEvent::Extra { .. } => "extra data",
            ModelEvent::Usage(_) => "usage",
            ModelEvent::Finish(_) => "a finish",
            ModelEvent::Error(_) => "an error",
        }
    }
}
