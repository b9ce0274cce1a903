//! A call that the model asks for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id that the model gives it. In traces the call is named so; its second life, if the model uses the id again, is
    /// `call_1#2`.
    #[cfg_attr(feature = "json-schema", schemars(length(min = 1, max = 128)))]
    pub id: String,
    /// The tool. A tool that does not exist is a mistake of the model, which the run answers.
    pub tool: String,
    /// Its arguments. Wrong ones are a mistake of the model too.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The text that the model gives for arguments, in their place: for text that is no JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl Call {
    /// A call without arguments.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Call { id: id.into(), tool: tool.into(), arguments: Map::new(), raw: None }
    }

    /// What the model says for arguments.
    pub(crate) fn argument_text(&self) -> String {
        match &self.raw {
            Some(raw) => raw.clone(),
            None => Value::Object(self.arguments.clone()).to_string(),
        }
    }
}
