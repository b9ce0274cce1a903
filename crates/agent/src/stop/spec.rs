//! Configuration of stop conditions.

use serde::{Deserialize, Serialize};

/// A stop condition. Counts cover the whole run, over all its activations. A limit counts as reached at equality.
///
/// ```
/// use runstate_agent::stop::StopConditionSpec;
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
    /// The run has taken this many steps.
    MaxRounds {
        /// The most steps; at least 1.
        rounds: u32,
    },
    /// This much time has passed since the start of the run, including waits.
    Timeout {
        /// The time in seconds; at least 1.
        seconds: u64,
    },
    /// The run has used this many tokens, read and written together.
    TokenBudget {
        /// The most tokens; at least 1.
        max_total: u64,
    },
    /// This many consecutive tool calls have failed.
    ConsecutiveErrors {
        /// The most consecutive failed calls; at least 1.
        max: u32,
    },
    /// The step called this tool, whatever the outcome was.
    StopOnTool {
        /// The name of the tool.
        tool_name: String,
    },
    /// The text of the step's answer matches a pattern.
    ContentMatch {
        /// The pattern, in the current [`Patterns`](super::Patterns) language. It matches anywhere in the text.
        pattern: String,
    },
    /// The step repeated an earlier call: the tool and the arguments are equal, and both calls are within the window.
    LoopDetection {
        /// The size of the window in calls, the repeated call included; from 2 to 1,000.
        window: u32,
    },
}

impl StopConditionSpec {
    /// The code of the termination reason. It is the name of the variant in configuration.
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
