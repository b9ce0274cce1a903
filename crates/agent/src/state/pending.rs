//! Open questions.

use runstate::decision::Suspension;
use runstate::tool_call::CallRecord;
use serde_json::Value;

/// A call that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// The name of the call in traces.
    pub call: &'a str,
    /// The record of the call.
    pub record: &'a CallRecord,
    /// The arguments in question: those of the model, or those of the execution in doubt.
    pub arguments: &'a Value,
    /// The suspension that the call waits on.
    pub suspension: &'a Suspension,
}
