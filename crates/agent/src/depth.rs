//! The nesting limit of values from outside. With it, every stored run can be read again.

use runstate::decision::Suspension;
use runstate::json::nests_deeper;
use runstate::tool_result::ToolResult;
use serde_json::Value;

/// The most levels of arguments, outputs and results. The JSON parser accepts 127 levels. A stored run uses up to 8
/// of them around a value; the rest is for the formats that contain stored runs.
pub(super) const MOST_LEVELS: usize = 96;

/// Returns whether the value nests deeper than the limit.
pub(super) fn is_too_deep(value: &Value) -> bool {
    nests_deeper(value, MOST_LEVELS)
}

/// Returns whether the parameters or the schema of a suspension nest deeper than the limit.
pub(super) fn asks_too_deep(suspension: &Suspension) -> bool {
    is_too_deep(&suspension.parameters) || suspension.response_schema.as_ref().is_some_and(is_too_deep)
}

/// The error text for arguments that nest too deep.
pub(super) fn too_deep_arguments() -> String {
    format!("the arguments nest deeper than {MOST_LEVELS} levels")
}

/// Replaces a result that nests too deep by an error. The call fails, and the model reads the error.
pub(super) fn checked(result: ToolResult) -> ToolResult {
    let (what, too_deep) = match &result {
        ToolResult::Success(output) | ToolResult::Warning { output, .. } => ("output", is_too_deep(output)),
        ToolResult::Pending(suspension) => ("suspension", asks_too_deep(suspension)),
        ToolResult::Error(_) => return result,
    };
    if !too_deep {
        return result;
    }
    ToolResult::Error(format!("the {what} of the tool nests deeper than {MOST_LEVELS} levels"))
}
