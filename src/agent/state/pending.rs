//! What waits.

use crate::decision::Suspension;
use crate::tool_call::CallRecord;

/// A call that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// As it is named in traces.
    pub call: &'a str,
    /// What it is.
    pub record: &'a CallRecord,
    /// What it waits for.
    pub suspension: &'a Suspension,
}
