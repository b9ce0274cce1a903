//! What executing a tool again does, and the proof that an execution may not be forgotten.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::events::Allow;
use super::states::ExecuteTool;
use super::{BeforeToolExecute, ExecutionRecord};
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

/// Proof that it is durable that a call was begun: a crash leaves it in doubt, so that it is not executed again unnoticed.
///
/// One execution uses it up. It is given by the commit [`CallsStarted`](crate::run_flow::Starting::committed), and, where
/// a decision resumes a call, by the durable decision
/// ([`execute_once`](crate::resume_tool_call::ResumeToolCall::execute_once)).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an execution that must not run twice waits for this proof"]
pub struct Started {
    pub(super) call: String,
}

impl Started {
    /// Only what made it durable makes one.
    pub(in crate::lifecycle) fn of(call: String) -> Self {
        Started { call }
    }

    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.call
    }
}

/// A tool that must not run twice is not executed before it is durable that it was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStarted {
    /// There is no proof.
    Unproven {
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
            Some(started) if started.call == execution.call => Ok(()),
            Some(started) => {
                Err(NotStarted::OtherCall { got: started.call.clone(), expected: execution.call.clone() })
            }
            None if execution.effect == Effect::Repeatable => Ok(()),
            None => Err(NotStarted::Unproven { call: execution.call.clone() }),
        }
    }
}
