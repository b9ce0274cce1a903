//! What the model answers (document 000, "LLM_CALL").

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// The provider's own data of the answer.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// Data of a model's provider that its next answers need and that nothing else reads: signatures of its thinking, encrypted reasoning.
/// It is stored with the answer, and the model's adapter sends it back as it came.
///
/// ```
/// use runstate::turn::Extra;
/// use serde_json::json;
///
/// let mut extra = Extra::default();
/// // An answer may give a field in pieces: texts and lists grow, and another value takes the place of the first.
/// extra.add(Extra::from_iter([("signature", json!("EjQ")), ("blocks", json!([1]))]));
/// extra.add(Extra::from_iter([("signature", json!("KMg==")), ("blocks", json!([2]))]));
/// assert_eq!(extra.fields()["signature"], "EjQKMg==");
/// assert_eq!(extra.fields()["blocks"], json!([1, 2]));
/// // An object grows field by field, and is not doubled where it comes again.
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

    /// Is there no field?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the next piece: texts and lists grow, and another value takes the place of the one before. An object gets the fields of the next
    /// one in the same way; a field of it that comes again as it is stays.
    pub fn add(&mut self, more: Extra) {
        add(&mut self.0, more.0, false);
    }

    /// Keeps the fields that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Value) -> bool) {
        self.0.retain(|field, value| keep(field, value));
    }
}

fn add(known: &mut Map<String, Value>, more: Map<String, Value>, within: bool) {
    for (field, value) in more {
        match (known.get_mut(&field), value) {
            // The objects of a call come whole, and some servers send them with each of its pieces.
            (Some(known), value) if within && *known == value => {}
            (Some(Value::String(known)), Value::String(more)) => known.push_str(&more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            // The depth is that of text which was read, which is bounded.
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
    /// The provider did not say.
    Unknown,
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
            FinishReason::Unknown => "unknown",
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
    /// The provider's own data of the call. The digest does not cover it.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
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
        CallRequest {
            id: id.into(),
            tool: tool.into(),
            arguments: arguments.into(),
            unreadable: None,
            extra: Extra::default(),
        }
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
