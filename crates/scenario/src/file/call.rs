//! A call that the model asks for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id that the model gives it. Traces use it as the name of the call; a second call with the id is `call_1#2`.
    #[cfg_attr(feature = "json-schema", schemars(length(min = 1, max = 128)))]
    pub id: String,
    /// The tool. An unknown tool is a mistake of the model, which the run answers.
    pub tool: String,
    /// Its arguments. Wrong arguments are a mistake of the model too.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The text of the arguments, in place of `arguments`: for text that is no JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl Call {
    /// A call without arguments.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Call { id: id.into(), tool: tool.into(), arguments: Map::new(), raw: None }
    }

    /// The text that the model sends as arguments.
    pub(crate) fn argument_text(&self) -> String {
        match &self.raw {
            Some(raw) => raw.clone(),
            None => {
                let mut arguments = Value::Object(self.arguments.clone());
                arguments.sort_all_objects();
                arguments.to_string()
            }
        }
    }
}
