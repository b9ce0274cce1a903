//! Scripted streams.

use runstate::stream::ErrorKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A stream, as what its factory gives attempt by attempt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// What to call it.
    #[serde(default)]
    #[expect(dead_code, reason = "for people who read the file")]
    pub(crate) name: Option<String>,
    /// One script for each attempt; the last is for all further ones too.
    #[schemars(length(min = 1))]
    pub(crate) attempts: Vec<Attempt>,
}

/// What one attempt's stream does.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Attempt {
    /// How it is opened. At once, and well, without.
    pub(crate) open: Opening,
    /// What it does then, step by step. A script that just stops is a stream that is cut: it ends without `complete`.
    pub(crate) script: Vec<Step>,
}

/// How a stream is opened.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Opening {
    /// How long it takes, in milliseconds.
    #[schemars(range(max = 31_536_000_000_u64))]
    pub(crate) after_ms: u64,
    /// It fails.
    pub(crate) fail: Option<Failing>,
    /// What opens it panics, with this message.
    pub(crate) panic: Option<String>,
    /// It never comes to an end.
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
    /// A token again and again, at once.
    Repeat(Repeated),
    /// Nothing for so many milliseconds.
    Wait(#[schemars(range(max = 31_536_000_000_u64))] u64),
    /// The stream throws: it gives an error and ends.
    Throw(Failing),
    /// The stream reports an error as one of its events.
    Error(Failing),
    /// The model asks for a tool.
    Tool(Tool),
    /// A piece of the model's reasoning; no output.
    Reasoning(String),
    /// A sign of life that is no event: a piece of a tool call, a heartbeat.
    Alive,
    /// The reason for which the model stopped: `stop`, `tool_calls`, `length`, `content_filter`, `unknown`, or another word.
    Finish(String),
    /// A message beside the text.
    Message(Said),
    /// A part that is no text.
    Data(Value),
    /// How far the model is; no output.
    Progress(Value),
    /// What reads the stream panics, with this message.
    Panic(String),
    /// Nothing any more, for ever.
    Silence,
    /// The stream says that it is whole.
    Complete,
    /// The stream ends here, without saying so.
    Cut,
}

/// A token again and again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeated {
    /// The token.
    pub(crate) token: String,
    /// How often; at most 1,000,000.
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
    /// What it says.
    #[serde(default)]
    pub(crate) message: Option<String>,
    /// How long the provider wants to be left alone, in milliseconds.
    #[serde(default)]
    pub(crate) retry_after_ms: Option<u64>,
    /// What made it fail, from the nearest cause on.
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
    /// Who says it.
    #[serde(default = "assistant")]
    pub(crate) role: String,
    /// What is said.
    pub(crate) content: String,
}

fn assistant() -> String {
    "assistant".to_owned()
}
