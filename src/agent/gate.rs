//! What looks at a call before its tool executes (document 000, "BeforeToolExecute").

use serde_json::Value;

use crate::decision::Decision;
use crate::tool_call::CallRecord;

/// Looks at each call before its tool executes, on a replay again.
pub trait Gate {
    /// What shall become of the call? `decision` is the one that lets it go on, on a replay.
    fn check(&self, call: &CallRecord, decision: Option<&Decision>) -> Verdict;
}

/// What becomes of a call at its gate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Its tool executes.
    Allow,
    /// It waits for a decision; `action` is a word for programs, `message` asks a person.
    Suspend {
        /// What is asked for, as a word: `approve`.
        action: String,
        /// What is asked for, for a person.
        message: String,
    },
    /// It fails with this error, and the loop goes on.
    Block(String),
    /// It has this result; its tool is not executed.
    SetResult(Value),
}

/// Lets every call through.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Gate for AllowAll {
    fn check(&self, _: &CallRecord, _: Option<&Decision>) -> Verdict {
        Verdict::Allow
    }
}
