//! Answers of the model.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One answer of the model: its text and its tool calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The text.
    #[serde(default)]
    pub text: String,
    /// The tool calls. A tool round follows exactly when there are any.
    #[serde(default)]
    pub calls: Vec<CallRequest>,
    /// The provider's own data of the answer.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// Opaque data of a model's provider that its next answers need: signatures of its thinking, encrypted reasoning.
/// Only the provider reads it. The runtime stores it with the answer, and the model's adapter sends it back
/// unchanged.
///
/// ```
/// use runstate::turn::Extra;
/// use serde_json::json;
///
/// let mut extra = Extra::default();
/// // An answer may give a field in pieces: texts and lists are appended, any other value replaces the earlier.
/// extra.add(Extra::from_iter([("signature", json!("EjQ")), ("blocks", json!([1]))]));
/// extra.add(Extra::from_iter([("signature", json!("KMg==")), ("blocks", json!([2]))]));
/// assert_eq!(extra.fields()["signature"], "EjQKMg==");
/// assert_eq!(extra.fields()["blocks"], json!([1, 2]));
/// // An object grows field by field. A repeated equal field is not duplicated.
/// for piece in [json!({"key": "AbC="}), json!({"key": "AbC="}), json!({"model": 2})] {
///     extra.add(Extra::from_iter([("google", piece)]));
/// }
/// assert_eq!(extra.fields()["google"], json!({"key": "AbC=", "model": 2}));
/// assert!(extra.fields().get("other").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Extra(Map<String, Value>);

impl Extra {
    /// The fields, by their names at the provider.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the next piece: texts and lists are appended, and any other value replaces the earlier one. Objects are
    /// merged field by field in this way; inside an object, a repeated equal field is left unchanged.
    pub fn add(&mut self, more: Extra) {
        add(&mut self.0, more.0, false);
    }

    /// Keeps the fields for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Value) -> bool) {
        self.0.retain(|field, value| keep(field, value));
    }
}

fn add(known: &mut Map<String, Value>, more: Map<String, Value>, within: bool) {
    for (field, value) in more {
        match (known.get_mut(&field), value) {
            // The objects of a call arrive complete, and some servers repeat them in each piece.
            (Some(known), value) if within && *known == value => {}
            (Some(Value::String(known)), Value::String(more)) => known.push_str(&more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            // The depth is bounded, because the reader of the text bounds it.
            (Some(Value::Object(known)), Value::Object(more)) => add(known, more, true),
            (_, value) => _ = known.insert(field, value),
        }
    }
}

impl<F: Into<String>> FromIterator<(F, Value)> for Extra {
    fn from_iter<I: IntoIterator<Item = (F, Value)>>(fields: I) -> Self {
        Extra(fields.into_iter().map(|(field, value)| (field.into(), value)).collect())
    }
}

/// The reason why a model stopped, as it reports it. The runtime does not act on it: the calls decide whether a tool
/// round follows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The answer reached the maximum number of tokens.
    Length,
    /// A filter of the provider cut it off.
    ContentFilter,
    /// The provider gave no reason.
    Unknown,
    /// Another reason of the provider.
    Other(String),
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Unknown => "unknown",
            FinishReason::Other(word) => word,
        })
    }
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequest {
    /// The id that the model assigned.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments; their raw text where it cannot be parsed.
    #[serde(default)]
    pub arguments: Value,
    /// The parse error of the arguments, if any. Such a call fails without an execution, and the model reads the
    /// error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The provider's own data of the call. The digest does not cover it.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl CallRequest {
    /// Makes a call with parsed arguments.
    ///
    /// ```
    /// use runstate::turn::CallRequest;
    /// use serde_json::json;
    ///
    /// let call = CallRequest::new("call_1", "read_file", json!({ "path": "notes.md" }));
    /// assert_eq!(call.unreadable, None);
    /// ```
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        CallRequest {
            id: id.into(),
            tool: tool.into(),
            arguments: arguments.into(),
            unreadable: None,
            extra: Extra::default(),
        }
    }

    /// Computes the digest of the tool and its arguments, as `sha256:` and 64 hexadecimal digits. White space and the
    /// order of keys do not count.
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
