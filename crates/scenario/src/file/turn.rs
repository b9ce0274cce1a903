//! The script of the model.

use runstate_agent::answer::{FinishReason, Usage};
use serde::{Deserialize, Serialize};

use super::call::Call;

/// One turn of the model: a text, calls, or both, at a given speed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "json-schema", schemars(length(max = 10_000)))]
    pub calls: Vec<Call>,
    /// The tokens of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<crate::schema::Tokens>"))]
    pub usage: Option<Usage>,
    /// The finish reason. Default: follows from the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<crate::schema::Finish>"))]
    pub finish: Option<FinishReason>,
    /// The end of its stream.
    #[serde(skip_serializing_if = "super::is_default")]
    pub ends: Ending,
    /// The initial silence, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
    /// The additional silences after the first piece, after the second piece and so on, in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses_ms: Vec<u64>,
    /// The silence between two pieces, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub every_ms: u64,
    /// The number of characters of a piece of text or of arguments. Default: one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub piece: Option<usize>,
}

impl Turn {
    /// A turn with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Turn { text: Some(text.into()), ..Turn::default() }
    }

    /// A turn with these calls.
    pub fn calls(calls: Vec<Call>) -> Self {
        Turn { calls, ..Turn::default() }
    }
}

/// The end of the stream of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With a finish.
    #[default]
    Finish,
    /// It breaks off.
    Cut,
    /// With an error.
    Error(String),
    /// The model panics.
    Panic(String),
    /// It never ends.
    Never,
}
