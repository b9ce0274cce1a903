//! One tool call of an agent run (document 000, "Layer 2").

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{Enter, Observer, Record};
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
        Running,
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
    Suspended --> Resuming  : resume(Resume);
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
    attempts: u32,
    #[serde(skip)]
    observer: Observer,
}

impl CallRecord {
    /// The record of a call that the model asks for.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        CallRecord { id: id.into(), tool: tool.into(), arguments, attempts: 0, observer: Observer::default() }
    }

    /// The same, with someone told of each transition.
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

    /// How often execution was begun.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
}

impl Record for CallRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// A call that waits.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspended {
    why: String,
}
/// A call that goes on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Resuming {
    why: String,
    decision: Value,
}
/// A call with its output.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Succeeded {
    output: Value,
}
/// A call with its error.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    error: String,
}
/// A call given up.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancelled {
    reason: String,
}

/// Wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    why: String,
}
/// Go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    decision: Value,
}
/// Succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct Succeed {
    output: Value,
}
/// Fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    error: String,
}
/// Give up.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancel {
    reason: String,
}
impl Cancel {
    /// Give up for that reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Cancel { reason: reason.into() }
    }
}

impl<S> Enter<S, Suspend> for Suspended {
    fn enter(_: S, event: Suspend, _: &mut CallRecord) -> Self {
        Suspended { why: event.why }
    }
}
impl Enter<Suspended, Resume> for Resuming {
    fn enter(from: Suspended, event: Resume, _: &mut CallRecord) -> Self {
        Resuming { why: from.why, decision: event.decision }
    }
}
impl<S> Enter<S, Succeed> for Succeeded {
    fn enter(_: S, event: Succeed, _: &mut CallRecord) -> Self {
        Succeeded { output: event.output }
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
impl Suspend {
    /// .
    pub fn new(why: impl Into<String>) -> Self {
        Suspend { why: why.into() }
    }
}
impl Resume {
    /// .
    pub fn new(decision: impl Into<Value>) -> Self {
        Resume { decision: decision.into() }
    }
}
impl Succeed {
    /// .
    pub fn new(output: impl Into<Value>) -> Self {
        Succeed { output: output.into() }
    }
}
impl Fail {
    /// .
    pub fn new(error: impl Into<String>) -> Self {
        Fail { error: error.into() }
    }
}
