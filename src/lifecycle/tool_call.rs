//! One tool call of an agent run (document 000, "Layer 2").

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::{Decision, DecisionAction, ResumeMode, Suspension};
use super::tool_result::ToolResult;
use crate::kernel::{Enter, Guard, Observer, Record};
use crate::lifecycle;

lifecycle! {
    /// One tool call, from the model's request to a result that the model can read.
    pub mod tool_call: ToolCall(CallRecord), AnyToolCall;
    version 1;
    diagram "../../docs/lifecycles/tool-call.md";

    status ToolCallStatus {
        /// Call observed but not yet started.
        New,
        /// Call is executing.
        Running { .. },
        /// Call paused, waiting for a decision.
        Suspended { .. },
        /// Decision received, replay in progress.
        Resuming { .. },
        /// The tool gave a result.
        Succeeded { .. },
        /// The tool, or a gate before it, gave an error.
        Failed { .. },
        /// The call was given up.
        Cancelled { .. },
    }
    event ToolCallEvent {
        /// Execution begins.
        Start,
        /// The call must wait for a decision.
        Suspend { .. },
        /// A decision lets the call go on.
        Resume { .. },
        /// The call has its output.
        Succeed { .. },
        /// The call has an error for an output.
        Fail { .. },
        /// The call is given up.
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

/// What all states of a call share.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    id: String,
    tool: String,
    arguments: Value,
    key: CallKey,
    attempts: u32,
    suspensions: u32,
    #[serde(skip)]
    observer: Observer,
}

/// Where a call stands in its run. The id that the model gives may come back in a later step, its key does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallKey {
    /// The step, from 1.
    pub step: u32,
    /// The place among the calls of the step, from 0.
    pub ordinal: u32,
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.step, self.ordinal)
    }
}

impl CallRecord {
    /// The record of a call that the model asks for.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        CallRecord {
            id: id.into(),
            tool: tool.into(),
            arguments,
            key: CallKey::default(),
            attempts: 0,
            suspensions: 0,
            observer: Observer::default(),
        }
    }

    /// The same, at its place in the run.
    #[must_use]
    pub fn at(mut self, key: CallKey) -> Self {
        self.key = key;
        self
    }

    /// The same, with someone told of each transition.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The id that the model gave the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool it names.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments it gives.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Its place in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// How often its execution was begun.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How often it was suspended.
    pub fn suspensions(&self) -> u32 {
        self.suspensions
    }
}

impl Record for CallRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// The call is executing.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {}

/// The call waits for a decision on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended {
    suspension: Suspension,
}

/// A decision lets the call go on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredResuming")]
pub struct Resuming {
    suspension: Suspension,
    decision: Decision,
}

/// What is stored of a [`Resuming`] call: its decision must be one that the guard lets through.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredResuming {
    suspension: Suspension,
    decision: Decision,
}

impl TryFrom<StoredResuming> for Resuming {
    type Error = WrongDecision;

    fn try_from(stored: StoredResuming) -> Result<Self, WrongDecision> {
        resumes(&stored.suspension, &stored.decision)?;
        Ok(Resuming { suspension: stored.suspension, decision: stored.decision })
    }
}

/// The call has its output.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succeeded {
    output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The call has an error for an output.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    error: String,
}

/// The call was given up.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancelled {
    reason: String,
}

/// The call must wait for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    suspension: Suspension,
}

impl Suspend {
    /// Wait for a decision on this suspension.
    pub fn new(suspension: Suspension) -> Self {
        Suspend { suspension }
    }
}

/// A decision lets the call go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    decision: Decision,
}

impl Resume {
    /// Go on by this decision.
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
    /// Succeed with this output.
    pub fn new(output: impl Into<Value>) -> Self {
        Succeed { output: output.into(), warning: None }
    }

    /// The same, with something to know about it.
    #[must_use]
    pub fn warned(mut self, warning: impl Into<String>) -> Self {
        self.warning = Some(warning.into());
        self
    }
}

/// The call has an error for an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    error: String,
}

impl Fail {
    /// Fail with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}

/// The call is given up.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancel {
    reason: String,
}

impl Cancel {
    /// Give up for this reason: a decision's own words, `run cancelled`, `superseded`.
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into() }
    }
}

/// A decision on another suspension than the call waits for.
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

/// Does the decision let a call go on that waits for this suspension?
fn resumes(suspension: &Suspension, decision: &Decision) -> Result<(), WrongDecision> {
    let (got, expected) = (&decision.suspension_id, &suspension.id);
    let cancels = decision.action == DecisionAction::Cancel;
    if got == expected && !cancels {
        return Ok(());
    }
    Err(WrongDecision { got: got.clone(), expected: expected.clone(), cancels })
}

impl<S> Enter<S, Start> for Running {
    fn enter(_: S, _: Start, call: &mut CallRecord) -> Self {
        call.attempts += 1;
        Running {}
    }
}

impl<S> Enter<S, Suspend> for Suspended {
    fn enter(_: S, event: Suspend, call: &mut CallRecord) -> Self {
        call.suspensions += 1;
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
        Cancelled { reason: event.reason }
    }
}

impl ToolCall<Suspended> {
    /// What the call waits for.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
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
        match self.state().suspension.resume_mode {
            ResumeMode::ReplayToolCall => Replay::Execute(self.record().arguments()),
            ResumeMode::PassDecisionToTool => Replay::Execute(&self.decision().result),
            ResumeMode::UseDecisionAsToolResult => Replay::Supplied(&self.decision().result),
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
    /// Why the call was given up.
    pub fn reason(&self) -> &str {
        &self.state().reason
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
