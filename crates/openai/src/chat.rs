//! What is asked.

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
///     .tool("map", "Shows a map", json!({ "type": "object" }))
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
    /// A chat with that model, which has no messages yet.
    pub fn new(model: impl Into<String>) -> Self {
        Chat {
            model: model.into(),
            messages: Vec::new(),
            tools: Vec::new(),
            more: Map::new(),
            kept: Vec::new(),
        }
    }

    /// The same, with this message, as the server wants it.
    pub fn message(mut self, message: Value) -> Self {
        self.messages.push(message);
        self
    }

    /// The same, with a message of the system.
    pub fn system(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "system", "content": content.into() }))
    }

    /// The same, with a message of the user.
    pub fn user(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "user", "content": content.into() }))
    }

    /// The same, with a message of the assistant.
    pub fn assistant(self, content: impl Into<String>) -> Self {
        self.message(json!({ "role": "assistant", "content": content.into() }))
    }

    /// The same, where the answer has begun with `checkpoint` and is to go on after it. What the model says again of it is
    /// [`Overlap`](runstate::stream::Overlap)'s to remove.
    pub fn go_on_from(self, checkpoint: &str) -> Self {
        let prompt =
            "Go on with your answer exactly where it stops. Do not repeat anything and do not comment on it.";
        self.assistant(checkpoint).user(prompt)
    }

    /// The same, with this function as a tool; `parameters` is its JSON Schema.
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

    /// The same, with this field of the request: `temperature`, `max_tokens`, `stream_options`.
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.more.insert(field.into(), value.into());
        self
    }

    /// The same, whose answer gives this field of its message and of its calls as [`StreamEvent::Extra`] and
    /// [`ToolCall::extra`]: `reasoning_details`, `extra_content`. `thinking_blocks` come whole, at the end of the answer, and so does `content`
    /// where it is a list with more than texts.
    ///
    /// [`StreamEvent::Extra`]: runstate::stream::StreamEvent::Extra
    /// [`ToolCall::extra`]: runstate::stream::ToolCall::extra
    pub fn keep(mut self, field: impl Into<String>) -> Self {
        self.kept.push(field.into());
        self
    }

    pub(crate) fn kept(&self) -> &[String] {
        &self.kept
    }

    /// The body of the request.
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
