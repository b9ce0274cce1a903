//! Accessors of the states of an execution, and the transition for a tool's result.

use serde_json::Value;

use super::super::decision::Suspension;
use super::super::tool_result::ToolResult;
use super::events::{Fail, Succeed, Suspend};
use super::states::{AfterToolExecute, Blocked, ExecuteTool, Failed, Succeeded, Suspended, ToolCallOutcome};
use super::{Conclude, ToolExecution};

impl ToolExecution<ExecuteTool> {
    /// The supplied result that replaces the execution, if any.
    pub fn supplied(&self) -> Option<&Value> {
        self.state().supplied.as_ref()
    }

    /// Applies the result of the tool and concludes.
    pub fn answered(self, result: &ToolResult) -> ToolExecution<AfterToolExecute> {
        match result {
            ToolResult::Success(output) => self.succeed(Succeed::new(output.clone())).conclude(Conclude),
            ToolResult::Warning { output, warning } => {
                self.succeed(Succeed::new(output.clone()).warned(warning)).conclude(Conclude)
            }
            ToolResult::Pending(suspension) => {
                self.suspend(Suspend::new(suspension.clone())).conclude(Conclude)
            }
            ToolResult::Error(error) => self.fail(Fail::new(error)).conclude(Conclude),
        }
    }
}

impl ToolExecution<Blocked> {
    /// The reason of the block.
    pub fn reason(&self) -> &str {
        &self.state().reason
    }
}

impl ToolExecution<Suspended> {
    /// The suspension of the call.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }
}

impl ToolExecution<Failed> {
    /// The error.
    pub fn error(&self) -> &str {
        &self.state().error
    }
}

impl ToolExecution<Succeeded> {
    /// The output of the tool.
    pub fn output(&self) -> &Value {
        &self.state().output
    }

    /// The warning, if any.
    pub fn warning(&self) -> Option<&str> {
        self.state().warning.as_deref()
    }
}

impl ToolExecution<AfterToolExecute> {
    /// The outcome.
    pub fn outcome(&self) -> ToolCallOutcome {
        self.state().outcome
    }
}
