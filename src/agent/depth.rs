//! How deep values from outside may nest, so that a stored run can always be read again.

use serde_json::Value;

use crate::decision::Suspension;
use crate::json::nests_deeper;
use crate::tool_result::ToolResult;

/// The most levels of arguments, outputs and results. A reader of JSON takes 127, of which a stored run has up to 8
/// around such a value; some are left for what stores it inside of its own.
pub(super) const MOST_LEVELS: usize = 96;

/// Does the value nest deeper than it may?
pub(super) fn is_too_deep(value: &Value) -> bool {
    nests_deeper(value, MOST_LEVELS)
}

/// Does what is asked for nest deeper than it may?
pub(super) fn asks_too_deep(suspension: &Suspension) -> bool {
    is_too_deep(&suspension.parameters) || suspension.response_schema.as_ref().is_some_and(is_too_deep)
}

/// Why arguments that nest too deep cannot be read.
pub(super) fn too_deep_arguments() -> String {
    format!("the arguments nest deeper than {MOST_LEVELS} levels")
}

/// A result that nests too deep is a failed call: the model reads why.
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
