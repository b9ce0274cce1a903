//! The lifecycle of one tool call of an agent run: its transitions, the events, and the entries into the states.

mod reading;
mod record;
mod states;

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::{Decision, DecisionAction, Suspension};
use crate::kernel::{Enter, Guard};
use crate::lifecycle;

pub use reading::{Answered, Replay};
pub use record::{CallKey, CallRecord};
pub use states::{Cancelled, Failed, Resuming, Running, Succeeded, Suspended};

lifecycle! {
    /// One tool call, from the model's request to a result that the model can read.
    pub mod tool_call: ToolCall(CallRecord), AnyToolCall;
    version 1;
    diagram "../../../docs/lifecycles/tool-call.md";

    status ToolCallStatus {
        /// The call is observed and not started.
        New,
        /// The call is executing.
        Running { .. },
        /// The call is paused and waits for a decision.
        Suspended { .. },
        /// A decision arrived; the replay is in progress.
        Resuming { .. },
        /// The tool gave a result.
        Succeeded { .. },
        /// The tool, or a gate before it, gave an error.
        Failed { .. },
        /// The call was cancelled.
        Cancelled { .. },
    }
    event ToolCallEvent {
        /// Execution begins.
        Start,
        /// The call must wait for a decision.
        Suspend { .. },
        /// A decision resumes the call.
        Resume { .. },
        /// The call has its output.
        Succeed { .. },
        /// The call has an error as its output.
        Fail { .. },
        /// The call is cancelled.
        Cancel { .. },
    }

    [*]       --> New;
    New       --> Running   : start(Start);
    New       --> Suspended : suspend(Suspend);
    Running   --> Suspended : suspend(Suspend);
    Running   --> Succeeded : succeed(Succeed);
    Running   --> Failed    : fail(Fail);
    Running   --> Cancelled : cancel(Cancel);
    Suspended --> Resuming  : resume(Resume) else WrongDecision;
    Suspended --> Cancelled : cancel(Cancel);
    Resuming  --> Running   : start(Start);
    Resuming  --> Suspended : suspend(Suspend);
    Resuming  --> Succeeded : succeed(Succeed);
    Resuming  --> Failed    : fail(Fail);
    Resuming  --> Cancelled : cancel(Cancel);
    Succeeded --> [*];
    Failed    --> [*];
    Cancelled --> [*];
}

/// The call must wait for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    suspension: Suspension,
}

impl Suspend {
    /// Suspends the call for a decision on this suspension.
    pub fn new(suspension: Suspension) -> Self {
        Suspend { suspension }
    }
}

/// A decision resumes the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    decision: Decision,
}

impl Resume {
    /// Resumes the call by this decision.
    pub fn new(decision: Decision) -> Self {
        Resume { decision }
    }
}

/// The call has its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Succeed {
    output: Value,
    warning: Option<String>,
}

impl Succeed {
    /// Makes the event with this output.
    pub fn new(output: impl Into<Value>) -> Self {
        Succeed { output: output.into(), warning: None }
    }

    /// Sets a warning. Default: none.
    #[must_use]
    pub fn warned(mut self, warning: impl Into<String>) -> Self {
        self.warning = Some(warning.into());
        self
    }
}

/// The call has an error as its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    error: String,
}

impl Fail {
    /// Makes the event with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The call is cancelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancel {
    reason: String,
    cause: CancelCause,
}

impl Cancel {
    /// Cancels for this reason: the reason of a decision, `run cancelled`, `superseded`. The cause is
    /// [`CancelCause::Other`].
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into(), cause: CancelCause::Other }
    }

    /// Sets the cause. Default: [`CancelCause::Other`].
    #[must_use]
    pub fn because(mut self, cause: CancelCause) -> Self {
        self.cause = cause;
        self
    }
}

/// The cause of a cancellation, for programs. The reason explains it to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelCause {
    /// A decision denied the call.
    Denied,
    /// No decision arrived before the expiry.
    Expired,
    /// A new user message arrived while the call waited.
    Superseded,
    /// The run ended or was cancelled.
    RunEnded,
    /// Another cause, or an unknown one.
    #[default]
    Other,
}

impl CancelCause {
    fn is_other(&self) -> bool {
        *self == CancelCause::Other
    }
}

/// The error for a decision on another suspension than the current one, or for a cancelling decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongDecision {
    got: String,
    expected: String,
    cancels: bool,
}

impl fmt::Display for WrongDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cancels {
            return f.write_str("the decision is to cancel: the call is cancelled by it, not resumed");
        }
        write!(f, "the decision is on suspension {:?}, the call waits for {:?}", self.got, self.expected)
    }
}

impl Error for WrongDecision {}

impl Guard<Suspended, Resume> for Resuming {
    type Error = WrongDecision;
    fn check(from: &Suspended, event: &Resume, _: &CallRecord) -> Result<(), WrongDecision> {
        resumes(&from.suspension, &event.decision)
    }
}

/// Checks that the decision resumes a call with this suspension.
fn resumes(suspension: &Suspension, decision: &Decision) -> Result<(), WrongDecision> {
    let (got, expected) = (&decision.suspension_id, &suspension.id);
    let cancels = decision.action == DecisionAction::Cancel;
    if got == expected && !cancels {
        return Ok(());
    }
    Err(WrongDecision { got: got.clone(), expected: expected.clone(), cancels })
}

impl Enter<New, Start> for Running {
    fn enter(_: New, _: Start, call: &mut CallRecord) -> Self {
        call.begin_attempt();
        Running { replayed: None }
    }
}

impl Enter<Resuming, Start> for Running {
    fn enter(from: Resuming, _: Start, call: &mut CallRecord) -> Self {
        call.begin_attempt();
        Running { replayed: Some(from) }
    }
}

impl Enter<New, Suspend> for Suspended {
    fn enter(_: New, event: Suspend, call: &mut CallRecord) -> Self {
        Suspended::asking(event, call)
    }
}

impl Enter<Running, Suspend> for Suspended {
    fn enter(_: Running, event: Suspend, call: &mut CallRecord) -> Self {
        // An execution in doubt has not ended. Its repetition is the same execution, under the same key.
        if event.suspension.doubted_arguments().is_some() {
            call.take_back_attempt();
        }
        Suspended::asking(event, call)
    }
}

impl Enter<Resuming, Suspend> for Suspended {
    fn enter(_: Resuming, event: Suspend, call: &mut CallRecord) -> Self {
        Suspended::asking(event, call)
    }
}

impl Suspended {
    fn asking(event: Suspend, call: &mut CallRecord) -> Self {
        call.begin_suspension();
        Suspended { suspension: event.suspension }
    }
}

impl Enter<Suspended, Resume> for Resuming {
    fn enter(from: Suspended, event: Resume, _: &mut CallRecord) -> Self {
        Resuming { suspension: from.suspension, decision: event.decision }
    }
}

impl<S> Enter<S, Succeed> for Succeeded {
    fn enter(_: S, event: Succeed, _: &mut CallRecord) -> Self {
        Succeeded { output: event.output, warning: event.warning }
    }
}

impl<S> Enter<S, Fail> for Failed {
    fn enter(_: S, event: Fail, _: &mut CallRecord) -> Self {
        Failed { error: event.error }
    }
}

impl<S> Enter<S, Cancel> for Cancelled {
    fn enter(_: S, event: Cancel, _: &mut CallRecord) -> Self {
        Cancelled { reason: event.reason, cause: event.cause }
    }
}
