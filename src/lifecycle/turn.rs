//! What the model answers (document 000, "LLM_CALL").

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer of the model: text, and the tool calls it asks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What it says.
    #[serde(default)]
    pub text: String,
    /// The calls it asks for. Their presence, and nothing else, decides whether there is a tool round.
    #[serde(default)]
    pub calls: Vec<CallRequest>,
}

/// A tool call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequest {
    /// The id that the model gives it.
    pub id: String,
    /// The tool it names.
    pub tool: String,
    /// The arguments it gives.
    #[serde(default)]
    pub arguments: Value,
}
