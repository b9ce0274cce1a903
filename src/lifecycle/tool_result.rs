//! Results of tools.

use serde_json::Value;

use super::decision::Suspension;

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolResult {
    /// The tool succeeded.
    Success(Value),
    /// The tool succeeded with a warning. The call succeeds, and the runtime keeps the warning.
    Warning {
        /// The output.
        output: Value,
        /// The warning.
        warning: String,
    },
    /// The tool needs a decision to continue.
    Pending(Suspension),
    /// The tool failed. The model reads the error, and the loop continues.
    Error(String),
}
