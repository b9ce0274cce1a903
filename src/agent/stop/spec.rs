//! The conditions as configuration.

use serde::{Deserialize, Serialize};

/// A stop condition, as document 003 lists them ("Stop Conditions"). What is counted is counted over the whole run, all its
/// activations; reached is as much as exceeded.
///
/// ```
/// use runstate::agent::stop::StopConditionSpec;
///
/// let spec: StopConditionSpec = serde_json::from_str(r#"{ "type": "stop_on_tool", "tool_name": "submit" }"#)?;
/// assert_eq!(spec, StopConditionSpec::StopOnTool { tool_name: "submit".into() });
///
/// let error = serde_json::from_str::<StopConditionSpec>(r#"{ "type": "stop_on_tool", "name": "submit" }"#);
/// assert!(error.unwrap_err().to_string().contains("unknown field `name`"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum StopConditionSpec {
    /// So many steps were taken.
    MaxRounds {
        /// The most steps; from 1.
        rounds: u32,
    },
    /// So much time has gone by since the run started, waiting included.
    Timeout {
        /// The most seconds; from 1.
        seconds: u64,
    },
    /// So many tokens were used, read and written together.
    TokenBudget {
        /// The most tokens; from 1.
        max_total: u64,
    },
    /// So many tool calls in a row have failed, and none has succeeded since.
    ConsecutiveErrors {
        /// The most failed calls in a row; from 1.
        max: u32,
    },
    /// The step called this tool, whatever came of it.
    StopOnTool {
        /// The name of the tool.
        tool_name: String,
    },
    /// The text of the step's answer matches.
    ContentMatch {
        /// The pattern, in the language of the [`Patterns`](super::Patterns) in use. It matches anywhere in the text.
        pattern: String,
    },
    /// The step made a call, with tool and arguments, that is among the calls before it: within a window of so many calls, itself
    /// included.
    LoopDetection {
        /// The calls of the window; from 2 to 1,000.
        window: u32,
    },
}

impl StopConditionSpec {
    /// The code with which a run stops: the name of the variant as it is written in configuration.
    pub fn code(&self) -> &'static str {
        match self {
            StopConditionSpec::MaxRounds { .. } => "max_rounds",
            StopConditionSpec::Timeout { .. } => "timeout",
            StopConditionSpec::TokenBudget { .. } => "token_budget",
            StopConditionSpec::ConsecutiveErrors { .. } => "consecutive_errors",
            StopConditionSpec::StopOnTool { .. } => "stop_on_tool",
            StopConditionSpec::ContentMatch { .. } => "content_match",
            StopConditionSpec::LoopDetection { .. } => "loop_detection",
        }
    }
}
