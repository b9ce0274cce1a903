//! The lifecycle of one execution of one tool call, with its gate.

mod entries;
mod events;
mod reading;
mod started;
mod states;

use super::nonce::Nonce;
use super::record::record;
use super::run_flow::FlowId;
use crate::kernel::{Observer, Record};
use crate::lifecycle;

pub use events::{Allow, Block, Fail, Reject, Succeed, Suspend};
pub use started::{Effect, NotStarted, StartPermit, Started};
pub use states::{AfterToolExecute, Blocked, ExecuteTool, Failed, Succeeded, Suspended, ToolCallOutcome};

lifecycle! {
    /// One execution of one tool call: the gate before it, the tool, what follows.
    pub mod tool_execution: ToolExecution(ExecutionRecord), AnyToolExecution;
    version 1;
    diagram "../../../docs/lifecycles/tool-execution.md";

    status ToolExecutionStatus {
        /// The gate checks plugins, scope, the tool itself and its arguments.
        BeforeToolExecute,
        /// A plugin blocked the call.
        Blocked { .. },
        /// The call waits for a decision.
        Suspended { .. },
        /// The call has an error.
        Failed { .. },
        /// The gate is open: the tool executes, or a supplied result replaces the execution.
        ExecuteTool { .. },
        /// The tool gave a result.
        Succeeded { .. },
        /// The outcome is known, and plugins may inspect it.
        AfterToolExecute { .. },
    }
    event ToolExecutionEvent {
        /// A plugin blocks the call.
        Block { .. },
        /// A plugin, or the tool, needs a decision first.
        Suspend { .. },
        /// The tool is out of scope or missing, or its arguments are wrong.
        Reject { .. },
        /// The gate opens.
        Allow { .. },
        /// The tool succeeded.
        Succeed { .. },
        /// The tool failed.
        Fail { .. },
        /// The outcome is passed on.
        Conclude,
    }

    [*]               --> BeforeToolExecute;
    BeforeToolExecute --> Blocked          : block(Block);
    BeforeToolExecute --> Suspended        : suspend(Suspend);
    BeforeToolExecute --> Failed           : reject(Reject);
    BeforeToolExecute --> ExecuteTool      : allow(Allow) else NotStarted;
    ExecuteTool       --> Succeeded        : succeed(Succeed);
    ExecuteTool       --> Failed           : fail(Fail);
    ExecuteTool       --> Suspended        : suspend(Suspend);
    Succeeded         --> AfterToolExecute : conclude(Conclude);
    Failed            --> AfterToolExecute : conclude(Conclude);
    Blocked           --> AfterToolExecute : conclude(Conclude);
    Suspended         --> AfterToolExecute : conclude(Conclude);
    AfterToolExecute  --> [*];
}

record! { AnyToolExecution:
    /// The record of an execution: the data that all its states share.
    pub struct ExecutionRecord {
        call: String,
        tool: String,
        #[serde(default, skip_serializing_if = "Effect::is_once")]
        effect: Effect,
        /// The flow of the execution.
        #[serde(skip, default = "Nonce::none")]
        flow: Nonce,
        #[serde(skip)]
        nonce: Nonce,
        #[serde(skip)]
        observer: Observer,
    }
}

impl ExecutionRecord {
    /// Makes the record of an execution of a call, given by its trace name. By default the tool must not run twice,
    /// and the execution belongs to no flow: see [`of`](Self::of).
    pub fn new(call: impl Into<String>, tool: impl Into<String>) -> Self {
        let (effect, nonce, observer) = Default::default();
        ExecutionRecord { call: call.into(), tool: tool.into(), effect, flow: Nonce::none(), nonce, observer }
    }

    /// Sets the flow. Default: none. A proof that a call was begun fits only an execution of the flow that made the
    /// commit.
    #[must_use]
    pub fn of(mut self, flow: FlowId) -> Self {
        self.flow = Nonce::of(flow.0);
        self
    }

    /// Sets the effect of a repeated execution of the tool. Default: [`Effect::Once`].
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the observer of all transitions. Default: none.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Takes the id of another flow, so that events for that flow fit this one. Property tests use it to drive two
    /// machines by one list of events. Only the features `repair` and `testing` together provide it.
    #[cfg(all(feature = "repair", feature = "testing"))]
    #[doc(hidden)]
    #[must_use]
    pub fn assuming(mut self, id: FlowId) -> Self {
        (self.nonce, self.flow) = (Nonce::of(id.0), Nonce::of(id.0));
        self
    }

    /// The trace name of the call.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The effect of a repeated execution of the tool.
    pub fn effect(&self) -> Effect {
        self.effect
    }
}

#[cfg(all(feature = "repair", feature = "testing"))]
impl AnyToolExecution {
    /// As [`ExecutionRecord::assuming`].
    #[doc(hidden)]
    pub fn assume(&mut self, id: FlowId) {
        let record = self.record_mut();
        (record.nonce, record.flow) = (Nonce::of(id.0), Nonce::of(id.0));
    }
}

impl Record for ExecutionRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}
