//! Events of a model's answer stream.

use runstate::turn::{Extra, FinishReason};

use super::super::ModelError;
use super::usage::Usage;

/// One event of a model's answer.
///
/// A stream gives any number of texts, calls, arguments and usages, and then one [`Finish`](ModelEvent::Finish). Only
/// usages may follow the finish. Instead of the finish, one [`Error`](ModelEvent::Error) may end the stream early.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The next piece of the text.
    Text(String),
    /// A tool call begins.
    CallStart {
        /// The index of the call in this answer. Arguments refer to the call by its index. Calls are executed in
        /// index order.
        index: u32,
        /// The id that the model gives the call.
        id: String,
        /// The name of the tool.
        tool: String,
    },
    /// The next piece of a call's arguments, which are one JSON text.
    Arguments {
        /// The index of the call.
        index: u32,
        /// The piece.
        delta: String,
    },
    /// A piece of the provider's own data, for the answer or for a call.
    Extra {
        /// The index of the call; `None` for the answer.
        index: Option<u32>,
        /// The piece.
        extra: Extra,
    },
    /// Tokens used and not reported before. Several usages add up. An adapter for a provider with running totals
    /// reports the differences.
    Usage(Usage),
    /// The answer is complete.
    Finish(FinishReason),
    /// The stream failed. No answer follows.
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
