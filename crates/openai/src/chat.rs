//! Requests for chat completions.

use serde_json::{Map, Value, json};

/// A request for a chat completion.
///
/// ```
/// use runstate_openai::Chat;
/// use serde_json::json;
///
/// let chat = Chat::new("gpt-5")
///     .system("Answer in one word.")
///     .user("Which river flows through Vienna?")
///     .tool("map", "Shows a map", json!({ "type": "object", "properties": {} }))
///     .with("temperature", 0);
/// let body = chat.body();
/// assert_eq!(body["messages"][1]["content"], "Which river flows through Vienna?");
/// assert_eq!(body["stream"], true);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    model: String,
    messages: Vec<Value>,
    tools: Vec<Value>,
    more: Map<String, Value>,
    kept: Vec<String>,
}

impl Chat {
    /// Creates a chat with a model, without messages.
    pub fn new(model: impl Into<String>) -> Self {
        Chat {
            model: model.into(),
            messages: Vec::new(),
            tools: Vec::new(),
            more: Map::new(),
            kept: Vec::new(),
        }
    }

    /// Adds a message, in the form that the server expects.
    pub fn message(mut self, message: Value) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds a message of the system.
    pub fn system(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "system", "content": content.into() }))
    }

    /// Adds a message of the user.
    pub fn user(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "user", "content": content.into() }))
    }

    /// Adds a message of the assistant.
    pub fn assistant(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "assistant", "content": content.into() }))
    }

    /// Asks for a continuation of an answer that began with `checkpoint`.
    /// [`Overlap`](runstate_stream::Overlap) removes text of the checkpoint that the model repeats.
    pub fn go_on_from(self, checkpoint: &str) -> Self {
        let prompt =
            "Go on with your answer exactly where it stops. Do not repeat anything and do not comment on it.";
        self.assistant(checkpoint).user(prompt)
    }

    /// Adds a function as a tool. `parameters` is its JSON Schema. Servers refuse a schema of an object without
    /// `properties`.
    pub fn tool(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
    ) -> Self {
        let function =
            json!({ "name": name.into(), "description": description.into(), "parameters": parameters });
        self.tools.push(json!({ "type": "function", "function": function }));
        self
    }

    /// Sets a field of the request, such as `temperature`, `max_tokens` or `stream_options`.
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.more.insert(field.into(), value.into());
        self
    }

    /// Keeps a field of the answer's message and of its calls, such as `reasoning_details` or `extra_content`:
    /// the answer reports it as [`StreamEvent::Extra`] and [`ToolCall::extra`]. `thinking_blocks` are reported
    /// complete, at the end of the answer. So is `content` if it is a list with other parts than texts.
    ///
    /// [`StreamEvent::Extra`]: runstate_stream::StreamEvent::Extra
    /// [`ToolCall::extra`]: runstate_stream::ToolCall::extra
    pub fn keep(mut self, field: impl Into<String>) -> Self {
        self.kept.push(field.into());
        self
    }

    /// Returns the number of calls in the messages.
    pub(crate) fn calls(&self) -> usize {
        self.messages.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).sum()
    }

    pub(crate) fn kept(&self) -> &[String] {
        &self.kept
    }

    /// Returns the body of the request.
    pub fn body(&self) -> Value {
        let mut body = self.more.clone();
        body.insert("model".to_owned(), self.model.clone().into());
        body.insert("messages".to_owned(), self.messages.clone().into());
        if !self.tools.is_empty() {
            body.insert("tools".to_owned(), self.tools.clone().into());
        }
        body.insert("stream".to_owned(), true.into());
        Value::Object(body)
    }
}
