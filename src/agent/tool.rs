//! What can be called.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::decision::Decision;
use crate::tool_call::CallRecord;
use crate::tool_execution::{ExecuteTool, ToolExecution};
use crate::tool_result::ToolResult;

/// A tool.
pub trait Tool {
    /// The name by which the model calls it.
    fn name(&self) -> &str;

    /// May it run twice? After a crash, a call that may have run is repeated only if its tool says so.
    fn effect(&self) -> Effect {
        Effect::Once
    }

    /// Executes it. A panic is a failed call, and so is a result that nests deeper than 96 levels.
    fn call(&mut self, input: &ToolInput<'_>) -> ToolResult;
}

/// What executing a tool again does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing new: it reads, or doing it twice is doing it once.
    Repeatable,
    /// It may do it twice.
    Once,
}

/// What a tool is executed with. Only an execution whose gate is open makes one.
#[derive(Debug)]
pub struct ToolInput<'a> {
    run: &'a str,
    call: &'a str,
    attempt: u32,
    arguments: &'a Value,
    decision: Option<&'a Decision>,
}

impl<'a> ToolInput<'a> {
    pub(super) fn new(
        run: &'a str,
        execution: &'a ToolExecution<ExecuteTool>,
        record: &CallRecord,
        arguments: &'a Value,
        decision: Option<&'a Decision>,
    ) -> Self {
        ToolInput { run, call: execution.record().call(), attempt: record.attempts(), arguments, decision }
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        self.run
    }

    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        self.call
    }

    /// What the tool is called with: the model's arguments, or a decision's result in their place.
    pub fn arguments(&self) -> &Value {
        self.arguments
    }

    /// The decision that let the call go on, on a replay.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision
    }

    /// The same for the same execution, in this process or after a crash: `run/call/attempt`.
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}/{}", self.run, self.call, self.attempt)
    }
}

/// Executes the tool, with a panic turned into an error.
pub(super) fn execute(tool: &mut dyn Tool, input: &ToolInput<'_>) -> ToolResult {
    match catch_unwind(AssertUnwindSafe(|| tool.call(input))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            ToolResult::Error(format!(
                "the tool panicked: {}",
                text.as_deref().unwrap_or("without a message")
            ))
        }
    }
}
