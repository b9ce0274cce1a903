//! Accessors of the states of a call, and its branch as an enum of the legal successors.

use serde_json::Value;

use super::super::decision::{Decision, ResumeMode, Suspension};
use super::super::tool_result::ToolResult;
use super::states::{Cancelled, Failed, Resuming, Running, Succeeded, Suspended};
use super::{AnyToolCall, CallRecord, CancelCause, Fail, Succeed, Suspend, ToolCall};

impl ToolCall<Suspended> {
    /// The suspension of the call.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }

    /// The arguments of the question: a decision to resume executes the tool with them, unless it brings other
    /// arguments.
    ///
    /// They are the arguments of the model. For a call in doubt they are the arguments of the execution that was cut
    /// off, which may come from a decision.
    pub fn asked_arguments(&self) -> &Value {
        self.suspension().doubted_arguments().unwrap_or_else(|| self.record().arguments())
    }
}

impl ToolCall<Resuming> {
    /// The suspension that the decision answered.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }

    /// The decision that resumes the call.
    pub fn decision(&self) -> &Decision {
        &self.state().decision
    }

    /// The arguments for the replayed execution, or the result that replaces the execution.
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(self.suspension(), self.decision(), self.record())
    }
}

impl ToolCall<Running> {
    /// The suspension and the decision of a replay; none for an execution without a decision.
    pub fn replayed(&self) -> Option<(&Suspension, &Decision)> {
        self.state().replayed.as_ref().map(|from| (&from.suspension, &from.decision))
    }
}

impl<'a> Replay<'a> {
    /// Derives the effect of a decision on a suspended call with that record.
    ///
    /// A call in doubt executes with the arguments of the execution that was cut off, unless the decision brings the
    /// result.
    pub fn new(suspension: &'a Suspension, decision: &'a Decision, record: &'a CallRecord) -> Self {
        if let Some(arguments) = suspension.doubted_arguments() {
            return match &decision.result {
                Value::Null => Replay::Execute(arguments),
                known => Replay::Supplied(known),
            };
        }
        match suspension.resume_mode {
            ResumeMode::ReplayToolCall => Replay::Execute(record.arguments()),
            ResumeMode::PassDecisionToTool => Replay::Execute(&decision.result),
            ResumeMode::UseDecisionAsToolResult => Replay::Supplied(&decision.result),
        }
    }
}

/// The effect of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Replay<'a> {
    /// The tool executes with these arguments.
    Execute(&'a Value),
    /// The call has this result; the tool does not execute.
    Supplied(&'a Value),
}

impl ToolCall<Succeeded> {
    /// The output of the tool.
    pub fn output(&self) -> &Value {
        &self.state().output
    }

    /// The warning, if any.
    pub fn warning(&self) -> Option<&str> {
        self.state().warning.as_deref()
    }
}

impl ToolCall<Failed> {
    /// The error, for the model to read.
    pub fn error(&self) -> &str {
        &self.state().error
    }
}

impl ToolCall<Cancelled> {
    /// The reason of the cancellation, for the model to read.
    pub fn reason(&self) -> &str {
        &self.state().reason
    }

    /// The cause of the cancellation, for programs.
    pub fn cause(&self) -> CancelCause {
        self.state().cause
    }
}

/// A call after the result of its tool.
#[derive(Debug)]
pub enum Answered {
    /// The call waits for a decision.
    Suspended(ToolCall<Suspended>),
    /// The call has its output.
    Succeeded(ToolCall<Succeeded>),
    /// The call has an error.
    Failed(ToolCall<Failed>),
}

impl From<Answered> for AnyToolCall {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Suspended(call) => call.into(),
            Answered::Succeeded(call) => call.into(),
            Answered::Failed(call) => call.into(),
        }
    }
}

macro_rules! answered {
    ($($State:ident),+) => { $(
        impl ToolCall<$State> {
            /// Applies the result of the tool.
            pub fn answered(self, result: ToolResult) -> Answered {
                match result {
                    ToolResult::Success(output) => Answered::Succeeded(self.succeed(Succeed::new(output))),
                    ToolResult::Warning { output, warning } => {
                        Answered::Succeeded(self.succeed(Succeed::new(output).warned(warning)))
                    }
                    ToolResult::Pending(suspension) => Answered::Suspended(self.suspend(Suspend::new(suspension))),
                    ToolResult::Error(error) => Answered::Failed(self.fail(Fail::new(error))),
                }
            }
        }
    )+ };
}
answered!(Running, Resuming);
