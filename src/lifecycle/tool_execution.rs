//! One execution of one tool call, gate and all (document 000, "TOOL_CALL Sub-State Machine").

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::Suspension;
use super::tool_call::ToolCallStatus;
use super::tool_result::ToolResult;
use crate::kernel::{Enter, Observer, Record};
use crate::lifecycle;

lifecycle! {
    /// One execution of one tool call: the gate before it, the tool, what follows.
    pub mod tool_execution: ToolExecution(ExecutionRecord), AnyToolExecution;
    version 1;
    diagram "../../docs/lifecycles/tool-execution.md";

    status ToolExecutionStatus {
        /// The gate: plugins, scope, the tool itself and its arguments are looked at.
        BeforeToolExecute,
        /// A plugin blocked the call.
        Blocked { .. },
        /// The call waits for a decision.
        Suspended { .. },
        /// The call has an error.
        Failed { .. },
        /// The gate is open: the tool executes, or a supplied result stands in for it.
        ExecuteTool { .. },
        /// The tool gave a result.
        Succeeded { .. },
        /// The outcome is known, and plugins may look at it.
        AfterToolExecute { .. },
    }
    event ToolExecutionEvent {
        /// A plugin blocks the call.
        Block { .. },
        /// A plugin, or the tool, wants a decision first.
        Suspend { .. },
        /// The tool is out of scope or missing, or its arguments are wrong.
        Reject { .. },
        /// The gate opens.
        Allow { .. },
        /// The tool succeeded.
        Succeed { .. },
        /// The tool failed.
        Fail { .. },
        /// The outcome is handed on.
        Conclude,
    }

    [*]               --> BeforeToolExecute;
    BeforeToolExecute --> Blocked          : block(Block);
    BeforeToolExecute --> Suspended        : suspend(Suspend);
    BeforeToolExecute --> Failed           : reject(Reject);
    BeforeToolExecute --> ExecuteTool      : allow(Allow);
    ExecuteTool       --> Succeeded        : succeed(Succeed);
    ExecuteTool       --> Failed           : fail(Fail);
    ExecuteTool       --> Suspended        : suspend(Suspend);
    Succeeded         --> AfterToolExecute : conclude(Conclude);
    Failed            --> AfterToolExecute : conclude(Conclude);
    Blocked           --> AfterToolExecute : conclude(Conclude);
    Suspended         --> AfterToolExecute : conclude(Conclude);
    AfterToolExecute  --> [*];
}

/// What all states of an execution share.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionRecord {
    call: String,
    tool: String,
    #[serde(skip)]
    observer: Observer,
}

impl ExecutionRecord {
    /// The record of an execution of the call, as it is named in traces.
    pub fn new(call: impl Into<String>, tool: impl Into<String>) -> Self {
        ExecutionRecord { call: call.into(), tool: tool.into(), observer: Observer::default() }
    }

    /// The same, with someone told of each transition.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The tool it names.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Record for ExecutionRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// A plugin blocked the call, for this reason.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    reason: String,
}

/// The call waits for a decision on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended {
    suspension: Suspension,
}

/// The call has this error.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    error: String,
}

/// The gate is open, perhaps with a result that stands in for the tool.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecuteTool {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "some_value")]
    supplied: Option<Value>,
}

/// A supplied `null` is a result too, which plain `Option<Value>` reads as none.
mod some_value {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(deserializer).map(Some)
    }
}

/// The tool gave this result.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succeeded {
    output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The outcome is known.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AfterToolExecute {
    outcome: ToolCallOutcome,
}

/// How an execution came out (document 000, "Outcome-to-status mapping").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolCallOutcome {
    /// The call succeeded.
    Succeeded,
    /// The call failed; a blocked one too.
    Failed,
    /// The call waits.
    Suspended,
}

impl ToolCallOutcome {
    /// The status that the call has after it.
    pub fn to_status(self) -> ToolCallStatus {
        match self {
            ToolCallOutcome::Succeeded => ToolCallStatus::Succeeded,
            ToolCallOutcome::Failed => ToolCallStatus::Failed,
            ToolCallOutcome::Suspended => ToolCallStatus::Suspended,
        }
    }
}

/// A plugin blocks the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    reason: String,
}

impl Block {
    /// Block for this reason, which the model reads.
    pub fn new(reason: impl Into<String>) -> Self {
        Block { reason: reason.into() }
    }
}

/// A decision is wanted first.
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

/// The tool is out of scope or missing, or its arguments are wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Reject {
    error: String,
}

impl Reject {
    /// Reject with this error, which the model reads.
    pub fn new(error: impl Into<String>) -> Self {
        Reject { error: error.into() }
    }
}

/// The gate opens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Allow {
    supplied: Option<Value>,
}

impl Allow {
    /// The tool executes.
    pub fn execution() -> Self {
        Allow { supplied: None }
    }

    /// This result stands in for the tool: a gate set it, or a decision gives it.
    pub fn supplying(result: impl Into<Value>) -> Self {
        Allow { supplied: Some(result.into()) }
    }
}

/// The tool succeeded.
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

/// The tool failed.
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

impl Enter<BeforeToolExecute, Block> for Blocked {
    fn enter(_: BeforeToolExecute, event: Block, _: &mut ExecutionRecord) -> Self {
        Blocked { reason: event.reason }
    }
}

impl<S> Enter<S, Suspend> for Suspended {
    fn enter(_: S, event: Suspend, _: &mut ExecutionRecord) -> Self {
        Suspended { suspension: event.suspension }
    }
}

impl Enter<BeforeToolExecute, Reject> for Failed {
    fn enter(_: BeforeToolExecute, event: Reject, _: &mut ExecutionRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<ExecuteTool, Fail> for Failed {
    fn enter(_: ExecuteTool, event: Fail, _: &mut ExecutionRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<BeforeToolExecute, Allow> for ExecuteTool {
    fn enter(_: BeforeToolExecute, event: Allow, _: &mut ExecutionRecord) -> Self {
        ExecuteTool { supplied: event.supplied }
    }
}

impl Enter<ExecuteTool, Succeed> for Succeeded {
    fn enter(_: ExecuteTool, event: Succeed, _: &mut ExecutionRecord) -> Self {
        Succeeded { output: event.output, warning: event.warning }
    }
}

macro_rules! concludes {
    ($($State:ident => $Outcome:ident),+) => { $(
        impl Enter<$State, Conclude> for AfterToolExecute {
            fn enter(_: $State, _: Conclude, _: &mut ExecutionRecord) -> Self {
                AfterToolExecute { outcome: ToolCallOutcome::$Outcome }
            }
        }
    )+ };
}
// A blocked call is a failed one: the model reads an error (document 000, "Important").
concludes!(Succeeded => Succeeded, Failed => Failed, Blocked => Failed, Suspended => Suspended);

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
