//! What the model answers (document 000, "LLM_CALL").

use std::fmt;

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

/// A tool call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequest {
    /// The id that the model gives it.
    pub id: String,
    /// The tool it names.
    pub tool: String,
    /// The arguments it gives; where they cannot be read, their raw text.
    #[serde(default)]
    pub arguments: Value,
    /// Why the arguments cannot be read, where they cannot. Such a call fails unexecuted, and the model reads why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl CallRequest {
    /// A call whose arguments could be read.
    ///
    /// ```
    /// use runstate::turn::CallRequest;
    /// use serde_json::json;
    ///
    /// let call = CallRequest::new("call_1", "read_file", json!({ "path": "notes.md" }));
    /// assert_eq!(call.unreadable, None);
    /// ```
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        CallRequest { id: id.into(), tool: tool.into(), arguments: arguments.into(), unreadable: None }
    }

    /// The digest of the tool and its arguments, as `sha256:` and 64 hexadecimal digits. White space and the order of keys do
    /// not count.
    ///
    /// ```
    /// use runstate::turn::CallRequest;
    /// use serde_json::json;
    ///
    /// let call = CallRequest::new("call_1", "read_file", json!({ "path": "notes.md" }));
    /// let again = CallRequest::new("call_2", "read_file", json!({ "path": "notes.md" }));
    /// assert_eq!(call.digest(), again.digest());
    /// let other = CallRequest::new("call_3", "drop_file", json!({ "path": "notes.md" }));
    /// assert_ne!(call.digest(), other.digest());
    /// ```
    pub fn digest(&self) -> String {
        crate::snapshot::digest(&[&self.tool.as_str().into(), &self.arguments])
    }
}
