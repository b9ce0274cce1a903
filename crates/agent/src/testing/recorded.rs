//! The form of a cassette.

use runstate::decision::Suspension;
use runstate::tool_result::ToolResult;
use runstate::turn::{Extra, FinishReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{ModelEvent, Usage};
use crate::{InferenceRequest, Message, ModelError, Preview};

/// The version of the form.
pub(super) const VERSION: u32 = 1;

/// The content of a cassette.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) answers: Vec<Answer>,
    #[serde(default)]
    pub(super) results: Vec<Recorded>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) previews: Vec<Previewed>,
}

impl Default for Tape {
    fn default() -> Self {
        Tape { version: VERSION, answers: Vec::new(), results: Vec::new(), previews: Vec::new() }
    }
}

/// An answer of a model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) request: Asked,
    pub(super) events: Vec<Event>,
}

/// The parts of a request, as digests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The number of answers before the request.
    pub(super) answers: usize,
    pub(super) system: String,
    pub(super) messages: String,
    pub(super) tools: String,
    pub(super) parameters: String,
}

/// The digits of a digest that tell requests of one test apart.
const DIGITS: usize = 16;

/// The digest of a part of a request, whatever the order of its keys.
fn digest(value: &impl Serialize) -> String {
    let digest = runstate::decision::digest(&serde_json::to_value(value).unwrap_or_default());
    digest.rsplit(':').next().unwrap_or_default().chars().take(DIGITS).collect()
}

impl Asked {
    pub(super) fn of(request: &InferenceRequest) -> Self {
        let messages: Vec<Value> = request
            .history
            .iter()
            .map(|message| match message {
                Message::Open(open) => Value::from(open.id()),
                message => serde_json::to_value(message).unwrap_or_default(),
            })
            .collect();
        let tools: Vec<_> =
            request.tools.iter().map(|tool| (tool.name(), tool.description(), tool.schema())).collect();
        Asked {
            answers: super::script::answers(request),
            system: digest(&request.system),
            messages: digest(&messages),
            tools: digest(&tools),
            parameters: digest(&request.parameters),
        }
    }

    /// The names of the parts in which two requests differ.
    pub(super) fn differences(&self, other: &Asked) -> Vec<&'static str> {
        let parts = [
            ("the system prompt", self.system == other.system),
            ("the messages", self.messages == other.messages),
            ("the tools", self.tools == other.tools),
            ("the parameters", self.parameters == other.parameters),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

/// An event of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    Text(String),
    CallStart {
        index: u32,
        id: String,
        tool: String,
    },
    Arguments {
        index: u32,
        delta: String,
    },
    Extra {
        index: Option<u32>,
        extra: Extra,
    },
    Usage(Usage),
    Finish(FinishReason),
    /// The text of an error.
    Error(String),
}

impl From<&ModelEvent> for Event {
    fn from(event: &ModelEvent) -> Self {
        match event {
            ModelEvent::Text(text) => Event::Text(text.clone()),
            ModelEvent::CallStart { index, id, tool } => {
                Event::CallStart { index: *index, id: id.clone(), tool: tool.clone() }
            }
            ModelEvent::Arguments { index, delta } => {
                Event::Arguments { index: *index, delta: delta.clone() }
            }
            ModelEvent::Extra { index, extra } => Event::Extra { index: *index, extra: extra.clone() },
            ModelEvent::Usage(usage) => Event::Usage(*usage),
            ModelEvent::Finish(reason) => Event::Finish(reason.clone()),
            ModelEvent::Error(ModelError(cause)) => Event::Error(cause.to_string()),
        }
    }
}

impl From<Event> for ModelEvent {
    fn from(event: Event) -> Self {
        match event {
            Event::Text(text) => ModelEvent::Text(text),
            Event::CallStart { index, id, tool } => ModelEvent::CallStart { index, id, tool },
            Event::Arguments { index, delta } => ModelEvent::Arguments { index, delta },
            Event::Extra { index, extra } => ModelEvent::Extra { index, extra },
            Event::Usage(usage) => ModelEvent::Usage(usage),
            Event::Finish(reason) => ModelEvent::Finish(reason),
            Event::Error(cause) => ModelEvent::Error(ModelError::new(cause)),
        }
    }
}

/// A result of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) call: Called,
    pub(super) result: Outcome,
}

/// A call of a tool. A call that is asked about executes again behind the decision, as another attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) attempt: u32,
    /// The result of the decision that the call waited for.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) decided: Value,
}

/// A preview of a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Previewed {
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// The number of decisions about the call before the preview.
    pub(super) decisions: usize,
    pub(super) preview: Option<Preview>,
}

impl Previewed {
    /// Whether both are about one call, at one of its questions.
    pub(super) fn is_of(&self, other: &Previewed) -> bool {
        self.tool == other.tool && self.arguments == other.arguments && self.decisions == other.decisions
    }
}

/// The result of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Success(Value),
    Warning { output: Value, warning: String },
    Pending(Box<Suspension>),
    Error(String),
}

impl From<&ToolResult> for Outcome {
    fn from(result: &ToolResult) -> Self {
        match result.clone() {
            ToolResult::Success(output) => Outcome::Success(output),
            ToolResult::Warning { output, warning } => Outcome::Warning { output, warning },
            ToolResult::Pending(suspension) => Outcome::Pending(Box::new(suspension)),
            ToolResult::Error(error) => Outcome::Error(error),
        }
    }
}

impl From<Outcome> for ToolResult {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success(output) => ToolResult::Success(output),
            Outcome::Warning { output, warning } => ToolResult::Warning { output, warning },
            Outcome::Pending(suspension) => ToolResult::Pending(*suspension),
            Outcome::Error(error) => ToolResult::Error(error),
        }
    }
}
