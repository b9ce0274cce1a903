//! The states of an execution, with their data and outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::decision::Suspension;
use super::super::tool_call::ToolCallStatus;

/// A plugin blocked the call, for this reason.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    pub(super) reason: String,
}

/// The call waits for a decision on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended {
    pub(super) suspension: Suspension,
}

/// The call has this error.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub(super) error: String,
}

/// The gate is open, possibly with a supplied result that replaces the execution.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecuteTool {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "some_value")]
    pub(super) supplied: Option<Value>,
}

/// The serde form of an optional result. It reads a supplied `null` as a result, and a plain `Option<Value>` reads it
/// as none.
mod some_value {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(deserializer).map(Some)
    }
}

/// The tool gave this result.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succeeded {
    pub(super) output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<String>,
}

/// The outcome is known.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AfterToolExecute {
    pub(super) outcome: ToolCallOutcome,
}

/// The outcome of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolCallOutcome {
    /// The call succeeded.
    Succeeded,
    /// The call failed, or was blocked.
    Failed,
    /// The call waits.
    Suspended,
}

impl ToolCallOutcome {
    /// The status of the call after this outcome.
    pub fn to_status(self) -> ToolCallStatus {
        match self {
            ToolCallOutcome::Succeeded => ToolCallStatus::Succeeded,
            ToolCallOutcome::Failed => ToolCallStatus::Failed,
            ToolCallOutcome::Suspended => ToolCallStatus::Suspended,
        }
    }
}
