//! The JSON Schema of the scenario file.
//!
//! Types of the library without a schema are written down here once more, for the schema alone; tests compare both.
#![allow(
    dead_code,
    missing_docs,
    clippy::missing_docs_in_private_items,
    reason = "shapes for the schema, never made"
)]

use schemars::JsonSchema;

use crate::Scenario;

/// The published JSON Schema of the scenario file: indented JSON with a line end.
pub fn published() -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Scenario>();
    schema.insert("title".to_owned(), "runstate scenario".into());
    let about = "A scenario: the message of the user, a model that follows a script, tools, and the events from outside while it runs.";
    schema.insert("description".to_owned(), about.into());
    let text = serde_json::to_string_pretty(&schema).unwrap_or_else(|_| unreachable!("a schema is JSON"));
    format!("{text}\n")
}

/// The execution mode of the calls of a round.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// One by one.
    Sequential,
    /// All at once.
    Parallel,
    /// All at once, with decisions taken during execution.
    Concurrent,
}

/// The policy for waiting on suspended calls.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Policy {
    /// While any call waits.
    WaitForAll,
    /// When all calls of a round wait.
    ContinueWhenAny,
}

/// The durability level of a run.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// At each commit that the run owes.
    Commit,
    /// Once a step, with the results of its calls: a crash loses the step.
    Step,
}

/// The behaviour of the loop once the run waits.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wait {
    /// The loop returns, and a later one continues.
    Park,
    /// The loop waits.
    WaitInPlace,
}

/// The effect of a decision to resume.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Resume {
    /// The tool is executed with the arguments that the model gave.
    ReplayToolCall,
    /// The decision's result is the call's result.
    UseDecisionAsToolResult,
    /// The tool is executed with the decision's result for arguments.
    PassDecisionToTool,
}

/// The scope of a value.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScopeName {
    Run,
    Thread,
}

/// Tokens.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tokens {
    /// Tokens that the model reads.
    input_tokens: u64,
    /// Tokens that the model writes.
    output_tokens: u64,
}

/// The finish reason of the model.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Other(String),
}

/// The reason for the end of a run.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    NaturalEnd,
    BehaviorRequested,
    Stopped(Stopped),
    Cancelled,
    Blocked(String),
    Error(String),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stopped {
    /// A code: letters, digits, `_` and `-`.
    code: String,
    /// The measured value.
    #[serde(default)]
    detail: Option<String>,
}

/// A stop condition.
#[derive(Debug, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[allow(
    missing_docs,
    reason = "the fields are those of `StopConditionSpec`, and their names are in the schema"
)]
pub enum StopCondition {
    /// The maximum of steps.
    MaxRounds {
        #[schemars(range(min = 1))]
        rounds: u32,
    },
    /// The maximum time since the run started.
    Timeout {
        #[schemars(range(min = 1))]
        seconds: u64,
    },
    /// The maximum of tokens.
    TokenBudget {
        #[schemars(range(min = 1))]
        max_total: u64,
    },
    /// The maximum of consecutive failed calls.
    ConsecutiveErrors {
        #[schemars(range(min = 1))]
        max: u32,
    },
    /// The step called this tool.
    StopOnTool {
        #[schemars(length(min = 1))]
        tool_name: String,
    },
    /// The text of the answer matches this regular expression.
    ContentMatch {
        #[schemars(length(min = 1))]
        pattern: String,
    },
    /// A call was repeated within a window of that many calls.
    LoopDetection {
        #[schemars(range(min = 2, max = 1000))]
        window: u32,
    },
}
