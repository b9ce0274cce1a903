//! Scripted streams.

use runstate_stream::ErrorKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A stream, by the results of its factory for each attempt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Its name.
    #[serde(default)]
    #[expect(dead_code, reason = "for people who read the file")]
    pub(crate) name: Option<String>,
    /// One script for each attempt; the last one repeats.
    #[schemars(length(min = 1))]
    pub(crate) attempts: Vec<Attempt>,
}

/// The stream of one attempt.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Attempt {
    /// Its opening. Default: immediate success.
    pub(crate) open: Opening,
    /// Its steps. A script without `complete` at its end is a stream that was cut.
    pub(crate) script: Vec<Step>,
}

/// The opening of a stream.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Opening {
    /// The duration, in milliseconds.
    #[schemars(range(max = 31_536_000_000_u64))]
    pub(crate) after_ms: u64,
    /// It fails.
    pub(crate) fail: Option<Failing>,
    /// The factory panics, with this message.
    pub(crate) panic: Option<String>,
    /// It never ends.
    pub(crate) hang: bool,
}

/// One step of a script.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// A token.
    Token(String),
    /// Several tokens, at once.
    Tokens(Vec<String>),
    /// A repeated token, at once.
    Repeat(Repeated),
    /// A silence of that many milliseconds.
    Wait(#[schemars(range(max = 31_536_000_000_u64))] u64),
    /// The stream throws: it gives an error and ends.
    Throw(Failing),
    /// The stream reports an error as one of its events.
    Error(Failing),
    /// The model asks for a tool.
    Tool(Tool),
    /// A piece of the model's reasoning, which is no output.
    Reasoning(String),
    /// A sign of life without an event: a piece of a tool call, a heartbeat.
    Alive,
    /// The finish reason of the model: `stop`, `tool_calls`, `length`, `content_filter`, `unknown`, or another word.
    Finish(String),
    /// A message beside the text.
    Message(Said),
    /// A part that is no text.
    Data(Value),
    /// The progress of the model, which is no output.
    Progress(Value),
    /// The reader of the stream panics, with this message.
    Panic(String),
    /// Silence, for ever.
    Silence,
    /// The stream is complete.
    Complete,
    /// The stream ends here, without completion.
    Cut,
}

/// A repeated token.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeated {
    /// The token.
    pub(crate) token: String,
    /// The number of repetitions; at most 1,000,000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) times: u32,
}

/// A failure of a stream.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failing {
    /// Its kind.
    #[schemars(with = "KindName")]
    pub(crate) kind: ErrorKind,
    /// Its message.
    #[serde(default)]
    pub(crate) message: Option<String>,
    /// The delay that the provider requests, in milliseconds.
    #[serde(default)]
    pub(crate) retry_after_ms: Option<u64>,
    /// The causes of the failure, the nearest first.
    #[serde(default)]
    pub(crate) causes: Vec<String>,
}

/// A kind of failure.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the library's names, for the schema alone; a test compares them")]
pub(super) enum KindName {
    Network,
    Transient,
    RateLimit,
    ServerError,
    Timeout,
    Model,
    Guardrail,
    Drift,
    ZeroOutput,
    Fatal,
    Internal,
}

/// A tool that the model asks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// The provider's id of the call.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) args: Value,
}

/// A message beside the text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// The speaker.
    #[serde(default = "assistant")]
    pub(crate) role: String,
    /// The text.
    pub(crate) content: String,
}

fn assistant() -> String {
    "assistant".to_owned()
}
