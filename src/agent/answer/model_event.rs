//! What a model says, piece by piece.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::ModelError;
use super::usage::Usage;

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
            ModelEvent::Usage(_) => "usage",
            ModelEvent::Finish(_) => "a finish",
            ModelEvent::Error(_) => "an error",
        }
    }
}

/// Why a model stopped, in its own words. It decides nothing: whether there is a tool round, the calls decide.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It said all.
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It came to the most tokens of an answer.
    Length,
    /// A filter of the provider cut it off.
    ContentFilter,
    /// Another word of the provider's.
    Other(String),
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other(word) => word,
        })
    }
}
