//! What a tool answers (document 000, "TOOL_CALL Sub-State Machine").

use serde_json::Value;

use super::decision::Suspension;

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolResult {
    /// It is done.
    Success(Value),
    /// It is done, and there is something to know about it. The call succeeds, and the warning is kept.
    Warning {
        /// The output.
        output: Value,
        /// What there is to know.
        warning: String,
    },
    /// It cannot go on without a decision.
    Pending(Suspension),
    /// It failed. The model reads the error, and the loop goes on.
    Error(String),
}
