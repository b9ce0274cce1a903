//! The JSON Schema of the scenario file.
//!
//! Types of the library that have no schema of their own are written down here once more, for the schema alone; that both say
//! the same is held by tests.
#![allow(
    dead_code,
    missing_docs,
    clippy::missing_docs_in_private_items,
    reason = "shapes for the schema, never made"
)]

use schemars::JsonSchema;

use crate::Scenario;

/// The JSON Schema of the scenario file, as it is published: indented JSON with a line end.
pub fn published() -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Scenario>();
    schema.insert("title".to_owned(), "runstate scenario".into());
    let about = "A scenario: what the user says, a model that follows a script, tools, and what comes from outside while it runs.";
    schema.insert("description".to_owned(), about.into());
    let text = serde_json::to_string_pretty(&schema).unwrap_or_else(|_| unreachable!("a schema is JSON"));
    format!("{text}\n")
}

/// How the calls of a round are executed.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// One by one.
    Sequential,
    /// All at once.
    Parallel,
    /// All at once, and decisions are taken in meanwhile.
    Concurrent,
}

/// When an activation waits for calls that are suspended.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Policy {
    /// As long as any call waits.
    WaitForAll,
    /// When all calls of a round wait.
    ContinueWhenAny,
}

/// How often a run is made durable.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// At each commit that the run owes.
    Commit,
    /// Once a step, with the results of its calls: a crash loses the step.
    Step,
}

/// What happens once it waits.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wait {
    /// The loop returns, and a later one goes on.
    Park,
    /// The loop waits.
    WaitInPlace,
}

/// What a decision to resume does.
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

/// What a value belongs to.
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

/// Why the model says that it stops.
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

/// Why a run ends.
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
    /// What was measured.
    #[serde(default)]
    detail: Option<String>,
}

/// A stop condition.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StopCondition {
    /// So many steps were taken.
    MaxRounds {
        #[schemars(range(min = 1))]
        rounds: u32,
    },
    /// So much time has gone by since the run started.
    Timeout {
        #[schemars(range(min = 1))]
        seconds: u64,
    },
    /// So many tokens were used.
    TokenBudget {
        #[schemars(range(min = 1))]
        max_total: u64,
    },
    /// So many calls in a row have failed.
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
    /// A call was made again, within a window of so many calls.
    LoopDetection {
        #[schemars(range(min = 2, max = 1000))]
        window: u32,
    },
}
