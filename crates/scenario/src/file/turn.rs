//! What the model says.

use runstate::agent::answer::{FinishReason, Usage};
use serde::{Deserialize, Serialize};

use super::call::Call;

/// One turn of the model: a text, calls, or both, said at its own pace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "json-schema", schemars(length(max = 10_000)))]
    pub calls: Vec<Call>,
    /// The tokens it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<crate::schema::Tokens>"))]
    pub usage: Option<Usage>,
    /// Why it says that it stops; by default what its calls decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<crate::schema::Finish>"))]
    pub finish: Option<FinishReason>,
    /// How its stream ends.
    #[serde(skip_serializing_if = "super::is_default")]
    pub ends: Ending,
    /// How long it is silent first, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
    /// How much longer it is silent behind its first piece, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub pause_ms: u64,
    /// How long it is silent between two pieces, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub every_ms: u64,
    /// How many characters a piece of text or of arguments has; without this they come whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub piece: Option<usize>,
}

impl Turn {
    /// It says this.
    pub fn text(text: impl Into<String>) -> Self {
        Turn { text: Some(text.into()), ..Turn::default() }
    }

    /// It asks for these.
    pub fn calls(calls: Vec<Call>) -> Self {
        Turn { calls, ..Turn::default() }
    }
}

/// How the stream of a turn ends.
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
    /// Never.
    Never,
}
