//! Reading the states of an execution, and taking in what its tool answered.

use serde_json::Value;

use super::super::decision::Suspension;
use super::super::tool_result::ToolResult;
use super::events::{Fail, Succeed, Suspend};
use super::states::{AfterToolExecute, Blocked, ExecuteTool, Failed, Succeeded, Suspended, ToolCallOutcome};
use super::{Conclude, ToolExecution};

impl ToolExecution<ExecuteTool> {
    /// The result that stands in for the tool, if one was supplied.
    pub fn supplied(&self) -> Option<&Value> {
        self.state().supplied.as_ref()
    }

    /// Takes in what the tool answered and concludes.
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
    /// Why the call was blocked.
    pub fn reason(&self) -> &str {
        &self.state().reason
    }
}

impl ToolExecution<Suspended> {
    /// What the call waits for.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }
}

impl ToolExecution<Failed> {
    /// What went wrong.
    pub fn error(&self) -> &str {
        &self.state().error
    }
}

impl ToolExecution<Succeeded> {
    /// What the tool gave.
    pub fn output(&self) -> &Value {
        &self.state().output
    }

    /// What there is to know about it.
    pub fn warning(&self) -> Option<&str> {
        self.state().warning.as_deref()
    }
}

impl ToolExecution<AfterToolExecute> {
    /// How it came out.
    pub fn outcome(&self) -> ToolCallOutcome {
        self.state().outcome
    }
}
