//! What executing a tool again does, and the proof that an execution may not be forgotten.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::events::Allow;
use super::states::ExecuteTool;
use super::{BeforeToolExecute, ExecutionRecord, ToolExecution};
use crate::kernel::Guard;

/// What executing a tool again does. After a crash a call that may have run is repeated only if its tool says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing new: it reads, or doing it twice is doing it once.
    Repeatable,
    /// It may do it twice. So with a tool of which nothing is known.
    #[default]
    Once,
}

impl Effect {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    pub(super) fn is_once(&self) -> bool {
        *self == Effect::Once
    }
}

/// Proof that a commit was made which says that a call was begun: a crash leaves the call in doubt, so that it is not executed
/// again unnoticed.
///
/// It fits one execution, and that execution uses it up. It is given by the commit [`CallsStarted`](crate::run_flow::Starting::committed), and, where
/// a decision resumes a call, by the durable decision
/// ([`StartPermit::start`]).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an execution that must not run twice waits for this proof"]
pub struct Started {
    call: String,
    /// The execution.
    execution: u64,
    /// The flow that made the commit; 0 for none.
    flow: u64,
}

impl Started {
    /// The proof for that execution of the call; made behind the receipt of a commit alone.
    pub(in crate::lifecycle) fn of(call: String, execution: &ExecutionRecord, flow: u64) -> Self {
        Started { call, execution: execution.nonce.number(), flow }
    }

    /// The call, as it is named in traces.
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
    /// The permit for an execution of the call; made behind the receipt of a decision's commit alone.
    pub(in crate::lifecycle) fn of(call: String, flow: u64) -> Self {
        StartPermit { call, flow }
    }

    /// Uses the permit up for that execution.
    pub fn start(self, execution: &ToolExecution<BeforeToolExecute>) -> Started {
        Started::of(self.call, execution.record(), self.flow)
    }
}

/// Why an execution whose tool must not run twice does not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStarted {
    /// There is no proof.
    Unproven {
        /// The call, as it is named in traces.
        call: String,
    },
    /// The proof is for another execution of the call.
    OtherExecution {
        /// The call, as it is named in traces.
        call: String,
    },
    /// The commit was made by another flow than the execution belongs to.
    OtherFlow {
        /// The call, as it is named in traces.
        call: String,
    },
    /// The proof is for another call.
    OtherCall {
        /// The call that was begun.
        got: String,
        /// The call that is to execute.
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
            // A result that is supplied executes nothing.
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
