//! What waits.

use serde_json::Value;

use crate::decision::Suspension;
use crate::tool_call::CallRecord;

/// A call that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// As it is named in traces.
    pub call: &'a str,
    /// What it is.
    pub record: &'a CallRecord,
    /// What is asked about: the model's arguments, or those of the execution that is in doubt.
    pub arguments: &'a Value,
    /// What it waits for.
    pub suspension: &'a Suspension,
}
