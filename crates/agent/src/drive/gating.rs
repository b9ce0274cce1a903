//! The gate of a call, before its tool executes.

use std::sync::Arc;

use runstate::decision::Decision;
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate::tool_execution::{
    AfterToolExecute, Allow, BeforeToolExecute, Block, Conclude, Effect, ExecuteTool, ExecutionRecord,
    Reject, Started, Suspend as SuspendExecution, ToolExecution,
};
use runstate::tool_result::ToolResult;
use serde_json::Value;

use super::super::config::Config;
use super::super::depth::{MOST_LEVELS, asks_too_deep, is_too_deep};
use super::super::plugin::{GateCall, Phase, PreviewedBy, Verdict};
use super::super::preview::Preview;
use super::{Drive, Halt};

/// The facts of a call for plugins and previews. These cannot borrow the state, because concurrent executions change it.
struct Facts {
    name: Arc<str>,
    id: String,
    key: CallKey,
    number: u32,
    /// The decisions to resume the call so far.
    decisions: Vec<Decision>,
}

impl Facts {
    fn at_gate<'a>(
        &'a self,
        config: &'a Config,
        tool: &'a str,
        arguments: &'a Value,
        decisions: &'a [&'a Decision],
    ) -> GateCall<'a> {
        GateCall {
            name: &self.name,
            id: &self.id,
            key: self.key,
            tool,
            arguments,
            decision: None,
            decisions,
            number: self.number,
            is_replaced: false,
            previewed_by: PreviewedBy(config.tools.get(tool).map(|(tool, _)| &**tool)),
        }
    }
}

/// The outcome of a call's gate.
pub(super) enum Gated {
    /// The tool may execute, or a result was supplied.
    Passed(Passed),
    /// The call waits, or failed. The execution is over, with this result.
    Closed(ToolExecution<AfterToolExecute>, ToolResult),
}

/// An execution that passed its gate. It opens the gate when it begins. For a tool that must not run twice, it needs
/// proof of a durable start.
pub(super) struct Passed {
    pub(super) execution: ToolExecution<BeforeToolExecute>,
    supplied: Option<Value>,
}

/// An execution that has begun.
pub(super) enum Opened {
    /// The tool executes.
    Execute(ToolExecution<ExecuteTool>),
    /// The result was supplied.
    Supplied(ToolExecution<ExecuteTool>, Value),
}

impl Passed {
    pub(super) fn execution(execution: ToolExecution<BeforeToolExecute>) -> Self {
        Passed { execution, supplied: None }
    }

    pub(super) fn supplied(execution: ToolExecution<BeforeToolExecute>, result: Value) -> Self {
        Passed { execution, supplied: Some(result) }
    }

    /// Returns whether the tool executes.
    pub(super) fn executes(&self) -> bool {
        self.supplied.is_none()
    }

    /// Returns whether the start must be durable before the execution.
    pub(super) fn is_once(&self) -> bool {
        self.executes() && self.execution.record().effect() == Effect::Once
    }

    /// Opens the gate.
    pub(super) fn open(self, started: Option<Started>) -> Result<Opened, Halt> {
        let Passed { execution, supplied } = self;
        let allow = match (&supplied, started) {
            (Some(result), _) => Allow::supplying(result.clone()),
            (None, Some(started)) => Allow::once(started),
            (None, None) => Allow::execution(),
        };
        let open = execution.allow(allow).map_err(|rejected| Halt::failed(rejected.error))?;
        Ok(match supplied {
            Some(result) => Opened::Supplied(open, result),
            None => Opened::Execute(open),
        })
    }
}

impl Gated {
    fn refused(execution: ToolExecution<BeforeToolExecute>, error: String) -> Self {
        let execution = execution.reject(Reject::new(&error)).conclude(Conclude);
        Gated::Closed(execution, ToolResult::Error(error))
    }
}

impl Drive<'_, '_> {
    /// Takes a `New` call through its gate. Returns the execution if it may proceed.
    pub(super) async fn gate_new_call(&mut self, call: usize) -> Result<Option<Passed>, Halt> {
        if self.state.status_of(call) != ToolCallStatus::New {
            return Ok(None);
        }
        let execution = self.open_execution(call);
        let gated = match self.unfit_request(call) {
            Some(error) => Gated::refused(execution, error),
            None => {
                let arguments = self.state.calls[call].record().arguments().clone();
                self.gate_call(call, execution, &arguments, None).await?
            }
        };
        match gated {
            Gated::Passed(passed) => Ok(Some(passed)),
            Gated::Closed(execution, result) => {
                self.settle(call, &execution, result).await?;
                Ok(None)
            }
        }
    }

    pub(super) fn open_execution(&mut self, call: usize) -> ToolExecution<BeforeToolExecute> {
        let number = self.state.calls.begin_execution(call);
        let observer =
            self.observer("tool_execution", |state| format!("{}.{number}", state.calls[call].name));
        let effect = self.effect_of(call);
        let call = &self.state.calls[call];
        let mut record = ExecutionRecord::new(&*call.name, call.record().tool()).with_effect(effect);
        if let Some(flow) = self.flow {
            record = record.of(flow);
        }
        ToolExecution::new(record.observed(observer))
    }

    /// Takes an execution through its gate. `arguments` are the arguments for the tool.
    pub(super) async fn gate_call(
        &mut self,
        call: usize,
        execution: ToolExecution<BeforeToolExecute>,
        arguments: &Value,
        decision: Option<&Decision>,
    ) -> Result<Gated, Halt> {
        if let Some(error) = self.unfit_call(call, arguments) {
            return Ok(Gated::refused(execution, error));
        }
        let verdict = self.verdict(call, execution.record().tool(), arguments, decision).await?;
        Ok(match verdict {
            Verdict::Allow => Gated::Passed(Passed::execution(execution)),
            Verdict::SetResult(result) if is_too_deep(&result) => {
                let error = format!("the result of the gate nests deeper than {MOST_LEVELS} levels");
                Gated::refused(execution, error)
            }
            Verdict::SetResult(result) => Gated::Passed(Passed::supplied(execution, result)),
            Verdict::Suspend(suspension) if asks_too_deep(&suspension) => {
                let error = format!("the question of the gate nests deeper than {MOST_LEVELS} levels");
                Gated::refused(execution, error)
            }
            Verdict::Suspend(mut suspension) => {
                suspension.id = self.state.suspension_id(call, &suspension.id);
                let execution =
                    execution.suspend(SuspendExecution::new(suspension.clone())).conclude(Conclude);
                Gated::Closed(execution, ToolResult::Pending(suspension))
            }
            Verdict::Block(reason) => {
                let execution = execution.block(Block::new(&reason)).conclude(Conclude);
                Gated::Closed(execution, ToolResult::Error(reason))
            }
            Verdict::BlockRun(reason) => {
                let execution = execution.block(Block::new(&reason)).conclude(Conclude);
                if let Ok(stop) = FinalReason::try_from(TerminationReason::Blocked(reason.clone())) {
                    self.stop = Some(stop);
                }
                Gated::Closed(execution, ToolResult::Error(reason))
            }
        })
    }

    async fn verdict(
        &mut self,
        call: usize,
        tool: &str,
        arguments: &Value,
        decision: Option<&Decision>,
    ) -> Result<Verdict, Halt> {
        let config = self.config;
        if config.plugins_of(Phase::BeforeToolExecute).next().is_none() {
            return Ok(Verdict::Allow);
        }
        let is_replaced = decision.is_some() && arguments != self.state.calls[call].record().arguments();
        let facts = self.facts(call);
        let decisions: Vec<_> = facts.decisions.iter().collect();
        let call = GateCall { decision, is_replaced, ..facts.at_gate(config, tool, arguments, &decisions) };
        self.before_tool_execute(facts.key.step, &call).await
    }

    /// The effect that a call in doubt would have now, for its approver.
    pub(super) async fn preview_in_doubt(&mut self, call: usize, arguments: &Value) -> Option<Preview> {
        let (config, tool) = (self.config, self.state.calls[call].record().tool().to_owned());
        let is_replaced = arguments != self.state.calls[call].record().arguments();
        let facts = self.facts(call);
        let decisions: Vec<_> = facts.decisions.iter().collect();
        let call = GateCall { is_replaced, ..facts.at_gate(config, &tool, arguments, &decisions) };
        call.preview().await.map(|preview| preview.shortened())
    }

    fn facts(&self, call: usize) -> Facts {
        let called = &self.state.calls[call];
        Facts {
            name: Arc::clone(&called.name),
            id: called.record().id().to_owned(),
            key: called.record().key(),
            number: called.number,
            decisions: match called.record().suspensions() {
                0 => Vec::new(),
                _ => self.state.decided.resumed(&self.state.id, &called.name),
            },
        }
    }

    /// The reason why a call from the model cannot be executed.
    fn unfit_request(&self, call: usize) -> Option<String> {
        let record = self.state.calls[call].record();
        let key = record.key();
        let first = self.state.calls.of_step(key.step).start;
        // The second of two calls of one answer that have one id is refused; the first is unaffected. An id that names its
        // call alone has none before it.
        let reused = *self.state.calls[call].name != *record.id();
        if reused && (first..call).any(|earlier| self.state.calls[earlier].record().id() == record.id()) {
            return Some("an earlier call of this answer has the same id; give each call its own".to_owned());
        }
        let why = self.state.unreadable(call)?;
        Some(format!("the arguments cannot be read: {why}"))
    }

    /// The reason why the tool cannot be called with the arguments.
    fn unfit_call(&self, call: usize, arguments: &Value) -> Option<String> {
        let name = self.state.calls[call].record().tool();
        let Some((_, spec)) = self.config.tools.get(name) else {
            // The message does not name withheld tools either. The tools offered in an earlier step are unknown.
            let is_of_this_step = self.state.calls[call].record().key().step == self.state.steps;
            let offered = |tool: &str| is_of_this_step && self.state.offer.has(tool);
            return Some(format!("there is no tool {name:?}; there is {}", self.config.tools.names(offered)));
        };
        if self.state.withholds(call) {
            return Some(format!("the tool {name:?} is not offered in this step"));
        }
        let fits = self.config.schemas.check(spec.schema()?, arguments);
        fits.err().map(|why| format!("the arguments do not fit the tool's schema: {why}"))
    }
}
