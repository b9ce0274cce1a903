//! The effect of a repeated execution of a tool, and the proof of a durable beginning.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::events::Allow;
use super::states::ExecuteTool;
use super::{BeforeToolExecute, ExecutionRecord, ToolExecution};
use crate::kernel::Guard;

/// The effect of a repeated execution of a tool. After a crash, a call that may have run is repeated only if its tool
/// is repeatable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A repetition has no further effect: the tool only reads, or is idempotent.
    Repeatable,
    /// A repetition may repeat the effect. An unknown tool has this value.
    #[default]
    Once,
}

impl Effect {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    pub(super) fn is_once(&self) -> bool {
        *self == Effect::Once
    }
}

/// Proof of a commit that records the beginning of a call. After a crash that commit leaves the call in doubt, so
/// that the call does not execute again without a decision.
///
/// The proof fits one execution, and that execution consumes it. The commit
/// [`CallsStarted`](crate::run_flow::Starting::committed) returns it. For a call that a decision resumes, the durable
/// decision returns it ([`StartPermit::start`]).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an execution that must not run twice waits for this proof"]
pub struct Started {
    call: String,
    /// The number of the execution.
    execution: u64,
    /// The number of the flow that made the commit; 0 for none.
    flow: u64,
}

impl Started {
    /// Makes the proof for an execution of the call, only after the receipt of a commit.
    pub(in crate::lifecycle) fn of(call: String, execution: &ExecutionRecord, flow: u64) -> Self {
        Started { call, execution: execution.nonce.number(), flow }
    }

    /// The trace name of the call.
    pub fn call(&self) -> &str {
        &self.call
    }
}

/// The permit to begin one execution of a call that a decision resumed, from
/// [`execute_once`](crate::resume_tool_call::ResumeToolCall::execute_once).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the execution waits for the proof that this permit gives"]
pub struct StartPermit {
    call: String,
    flow: u64,
}

impl StartPermit {
    /// Makes the permit for an execution of the call, only after the receipt of a decision's commit.
    pub(in crate::lifecycle) fn of(call: String, flow: u64) -> Self {
        StartPermit { call, flow }
    }

    /// Exchanges the permit for the proof of that execution.
    pub fn start(self, execution: &ToolExecution<BeforeToolExecute>) -> Started {
        Started::of(self.call, execution.record(), self.flow)
    }
}

/// The reason why an execution of a tool that must not run twice does not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStarted {
    /// The proof is missing.
    Unproven {
        /// The trace name of the call.
        call: String,
    },
    /// The proof is for another execution of the call.
    OtherExecution {
        /// The trace name of the call.
        call: String,
    },
    /// Another flow than the execution's made the commit.
    OtherFlow {
        /// The trace name of the call.
        call: String,
    },
    /// The proof is for another call.
    OtherCall {
        /// The call that was begun.
        got: String,
        /// The call of the execution.
        expected: String,
    },
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotStarted::Unproven { call } => {
                write!(f, "{call} must not run twice: commit that it was started, and allow it once")
            }
            NotStarted::OtherExecution { call } => {
                write!(f, "the proof is for another execution of {call}: pass this one to `calls_started`")
            }
            NotStarted::OtherFlow { call } => {
                write!(
                    f,
                    "the proof that {call} was started is of another flow than the execution: make its record with `of`"
                )
            }
            NotStarted::OtherCall { got, expected } => {
                write!(f, "the proof is that {got} was started, where {expected} is to execute")
            }
        }
    }
}

impl Error for NotStarted {}

impl Guard<BeforeToolExecute, Allow> for ExecuteTool {
    type Error = NotStarted;
    fn check(_: &BeforeToolExecute, event: &Allow, execution: &ExecutionRecord) -> Result<(), NotStarted> {
        match &event.started {
            // A supplied result needs no execution.
            _ if event.supplied.is_some() => Ok(()),
            Some(started) if started.call != execution.call => {
                Err(NotStarted::OtherCall { got: started.call.clone(), expected: execution.call.clone() })
            }
            Some(started) if started.flow != execution.flow.number() => {
                Err(NotStarted::OtherFlow { call: execution.call.clone() })
            }
            Some(started) if started.execution != execution.nonce.number() => {
                Err(NotStarted::OtherExecution { call: execution.call.clone() })
            }
            Some(_) => Ok(()),
            None if execution.effect == Effect::Repeatable => Ok(()),
            None => Err(NotStarted::Unproven { call: execution.call.clone() }),
        }
    }
}
