//! Reading the states of a call, and its branch as a sum of the legal successors.

use serde_json::Value;

use super::super::decision::{Decision, ResumeMode, Suspension};
use super::super::tool_result::ToolResult;
use super::events::CancelCause;
use super::events::{Fail, Succeed, Suspend};
use super::states::{Cancelled, Failed, Resuming, Running, Succeeded, Suspended};
use super::{AnyToolCall, CallRecord, ToolCall};

impl ToolCall<Suspended> {
    /// What the call waits for.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }

    /// What is asked about: the arguments that a decision to resume executes the tool with, unless it brings others.
    ///
    /// Those of the model; where the call is in doubt those of the execution that was cut off, which a decision may have given.
    pub fn asked_arguments(&self) -> &Value {
        self.suspension().doubted_arguments().unwrap_or_else(|| self.record().arguments())
    }
}

impl ToolCall<Resuming> {
    /// What the call waited for.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }

    /// The decision that lets it go on.
    pub fn decision(&self) -> &Decision {
        &self.state().decision
    }

    /// The arguments that a replay executes the tool with, or the result that stands in for it (document 003, "Resume
    /// replay").
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(self.suspension(), self.decision(), self.record())
    }
}

impl ToolCall<Running> {
    /// What the call waited for and the decision by which it executes again; none where it executes as it was asked for.
    pub fn replayed(&self) -> Option<(&Suspension, &Decision)> {
        self.state().replayed.as_ref().map(|from| (&from.suspension, &from.decision))
    }
}

impl<'a> Replay<'a> {
    /// What that decision on that suspension means for the call of that record (document 003, the table of resume modes).
    ///
    /// A call in doubt goes on with the arguments of the execution that was cut off, unless the decision says what came of it.
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

/// What replaying a call means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Replay<'a> {
    /// Execute the tool with these arguments.
    Execute(&'a Value),
    /// This is the result; the tool is not executed.
    Supplied(&'a Value),
}

impl ToolCall<Succeeded> {
    /// What the tool gave.
    pub fn output(&self) -> &Value {
        &self.state().output
    }

    /// What there is to know about it.
    pub fn warning(&self) -> Option<&str> {
        self.state().warning.as_deref()
    }
}

impl ToolCall<Failed> {
    /// What went wrong, for the model to read.
    pub fn error(&self) -> &str {
        &self.state().error
    }
}

impl ToolCall<Cancelled> {
    /// Why the call was given up, for the model to read.
    pub fn reason(&self) -> &str {
        &self.state().reason
    }

    /// Why the call was given up, for programs.
    pub fn cause(&self) -> CancelCause {
        self.state().cause
    }
}

/// A call after its tool answered.
#[derive(Debug)]
pub enum Answered {
    /// It waits for a decision.
    Suspended(ToolCall<Suspended>),
    /// It has its output.
    Succeeded(ToolCall<Succeeded>),
    /// It has an error.
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
            /// Takes in what the tool answered (document 000, the labels of Layer 2).
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
