//! The calls of an answer: gated, executed, replayed.

use serde_json::Value;

use super::depth::{MOST_LEVELS, checked, is_too_deep};
use super::gate::Verdict;
use super::state::RunState;
use super::tool::{Effect, ToolInput, execute};
use super::{Agent, CommitError, commit};
use crate::checkpoint::{Due, Receipt, WrongReceipt};
use crate::decision::{Decision, Suspension};
use crate::run_flow::{CallOutcome, ResumeAfterTool, ResumeReplay0, RunFlow, ToolRound};
use crate::tool_call::{AnyToolCall, CallRecord, Start, Suspend, ToolCallStatus};
use crate::tool_execution::{
    AfterToolExecute, Allow, BeforeToolExecute, Block, Conclude, ExecuteTool, ExecutionRecord, Reject,
    Suspend as SuspendExecution, ToolExecution,
};
use crate::tool_result::ToolResult;

/// A state of the flow in which calls start.
pub(super) trait Starts {
    /// The commit that is due before a tool executes that must not run twice.
    fn calls_started(&mut self) -> Due;
    /// Takes the receipt for it.
    fn started(&self, due: Due, receipt: &Receipt) -> Result<(), WrongReceipt>;
}

macro_rules! starts {
    ($($State:ident),+) => { $(
        impl Starts for RunFlow<$State> {
            fn calls_started(&mut self) -> Due {
                self.calls_started()
            }

            fn started(&self, due: Due, receipt: &Receipt) -> Result<(), WrongReceipt> {
                self.started(due, receipt)
            }
        }
    )+ };
}
starts!(ToolRound, ResumeReplay0, ResumeAfterTool);

/// What the gate made of a call.
pub(super) enum Gated {
    /// Its tool may execute, with the execution whose gate is open.
    Open(ToolExecution<ExecuteTool>),
    /// It waits, or has an error: the execution is over, with this result.
    Closed(ToolExecution<AfterToolExecute>, ToolResult),
}

impl Gated {
    fn refused(execution: ToolExecution<BeforeToolExecute>, error: String) -> Self {
        let execution = execution.reject(Reject::new(&error)).conclude(Conclude);
        Gated::Closed(execution, ToolResult::Error(error))
    }
}

impl Agent<'_> {
    /// Gates all calls of the round, then executes those that may be (document 003, the two phases), until one asks for
    /// a decision; the rest stay `New` and are executed after the resume.
    ///
    /// # Errors
    /// When a commit before an execution failed. Nothing of that call was executed.
    pub(super) fn tool_round(
        &mut self,
        state: &mut RunState,
        flow: &mut RunFlow<ToolRound>,
    ) -> Result<Vec<CallOutcome>, CommitError> {
        let calls = state.range_of_step(flow.record().step());
        let opened: Vec<_> = calls.clone().map(|call| (call, self.gate_new_call(state, call))).collect();
        for (call, execution) in opened {
            let Some(execution) = execution else { continue };
            if (self.cancelled)() {
                break;
            }
            self.begin_call(state, flow, call, execution)?;
            if state.status_of(call) == ToolCallStatus::Suspended {
                break;
            }
        }
        Ok(state.calls[calls]
            .iter()
            .map(|call| CallOutcome { call: call.name.clone(), status: call.machine.get().status() })
            .collect())
    }

    /// Starts a `New` call whose gate is open, and executes it. That a tool was started which must not run twice is
    /// durable before it executes.
    ///
    /// # Errors
    /// When that commit failed. Nothing was executed.
    pub(super) fn begin_call(
        &mut self,
        state: &mut RunState,
        flow: &mut dyn Starts,
        call: usize,
        execution: ToolExecution<ExecuteTool>,
    ) -> Result<(), CommitError> {
        self.start_call(state, call);
        if execution.supplied().is_none() && self.effect_of(state, call) == Effect::Once {
            let due = flow.calls_started();
            let receipt = commit(self.committer, due, state)?;
            flow.started(due, &receipt).map_err(CommitError::new)?;
        }
        self.execute_running(state, call, execution, None);
        Ok(())
    }

    /// Takes a `New` call through its gate; gives the execution back when it may execute.
    pub(super) fn gate_new_call(
        &mut self,
        state: &mut RunState,
        call: usize,
    ) -> Option<ToolExecution<ExecuteTool>> {
        if state.status_of(call) != ToolCallStatus::New {
            return None;
        }
        let twin = has_earlier_twin(state, call);
        let execution = self.open_execution(state, call);
        let gated = if twin {
            let error = "an earlier call of this answer has the same id; give each call its own".to_owned();
            Gated::refused(execution, error)
        } else {
            self.gate_call(state.calls[call].machine.get().record(), state, call, execution, None)
        };
        match gated {
            Gated::Open(execution) => Some(execution),
            Gated::Closed(execution, result) => {
                settle(state, call, &execution, result);
                None
            }
        }
    }

    pub(super) fn open_execution(
        &self,
        state: &mut RunState,
        call: usize,
    ) -> ToolExecution<BeforeToolExecute> {
        let call = &mut state.calls[call];
        call.executions += 1;
        let observer = self.watch.observer("tool_execution", &format!("{}.{}", call.name, call.executions));
        let tool = call.machine.get().record().tool();
        ToolExecution::new(ExecutionRecord::new(&call.name, tool).observed(observer))
    }

    pub(super) fn gate_call(
        &self,
        record: &CallRecord,
        state: &RunState,
        call: usize,
        execution: ToolExecution<BeforeToolExecute>,
        decision: Option<&Decision>,
    ) -> Gated {
        if !self.tools.iter().any(|tool| tool.name() == record.tool()) {
            let known: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
            let error = format!("there is no tool {:?}; there is {}", record.tool(), known.join(", "));
            return Gated::refused(execution, error);
        }
        match self.gate.check(record, decision) {
            Verdict::Allow => Gated::Open(execution.allow(Allow::execution())),
            Verdict::SetResult(result) if is_too_deep(&result) => {
                let error = format!("the result of the gate nests deeper than {MOST_LEVELS} levels");
                Gated::refused(execution, error)
            }
            Verdict::SetResult(result) => Gated::Open(execution.allow(Allow::supplying(result))),
            Verdict::Block(reason) => {
                let execution = execution.block(Block::new(&reason)).conclude(Conclude);
                Gated::Closed(execution, ToolResult::Error(reason))
            }
            Verdict::Suspend { action, message } => {
                let suspension = Suspension::new(state.suspension_id(call, None), action, message);
                let execution =
                    execution.suspend(SuspendExecution::new(suspension.clone())).conclude(Conclude);
                Gated::Closed(execution, ToolResult::Pending(suspension))
            }
        }
    }

    pub(super) fn effect_of(&self, state: &RunState, call: usize) -> Effect {
        let name = state.calls[call].machine.get().record().tool();
        self.tools.iter().find(|tool| tool.name() == name).map_or(Effect::Once, |tool| tool.effect())
    }

    pub(super) fn start_call(&mut self, state: &mut RunState, call: usize) {
        state.step_call(call, |machine| match machine {
            AnyToolCall::New(call) => call.start(Start).into(),
            AnyToolCall::Resuming(call) => call.start(Start).into(),
            other => other,
        });
    }

    /// Executes the tool of a `Running` call, and takes in what it answers.
    pub(super) fn execute_running(
        &mut self,
        state: &mut RunState,
        call: usize,
        execution: ToolExecution<ExecuteTool>,
        replaced: Option<(&Value, &Decision)>,
    ) {
        let mut result = match execution.supplied() {
            Some(supplied) => ToolResult::Success(supplied.clone()),
            None => {
                let record = state.calls[call].machine.get().record();
                let arguments = replaced.map_or(record.arguments(), |(arguments, _)| arguments);
                let decision = replaced.map(|(_, decision)| decision);
                let input = ToolInput::new(state.id(), &execution, record, arguments, decision);
                match self.tools.iter_mut().find(|tool| tool.name() == record.tool()) {
                    Some(tool) => checked(execute(tool.as_mut(), &input)),
                    None => ToolResult::Error(format!("there is no tool {:?}", record.tool())),
                }
            }
        };
        if let ToolResult::Pending(suspension) = &mut result {
            suspension.id = state.suspension_id(call, Some(std::mem::take(&mut suspension.id)));
        }
        settle(state, call, &execution.answered(&result), result);
    }
}

/// Takes a call to where its execution came out (document 000, "Outcome-to-status mapping").
pub(super) fn settle(
    state: &mut RunState,
    call: usize,
    execution: &ToolExecution<AfterToolExecute>,
    result: ToolResult,
) {
    state.step_call(call, |machine| match (machine, result) {
        (AnyToolCall::New(call), ToolResult::Pending(suspension)) => {
            call.suspend(Suspend::new(suspension)).into()
        }
        // No edge leads from `New` to `Failed`: the call is started, and fails unexecuted.
        (AnyToolCall::New(call), result) => call.start(Start).answered(result).into(),
        (AnyToolCall::Running(call), result) => call.answered(result).into(),
        (AnyToolCall::Resuming(call), result) => call.answered(result).into(),
        (settled, _) => settled,
    });
    debug_assert_eq!(state.status_of(call), execution.outcome().to_status());
}

/// The second of two calls of one answer that have one id is refused; the first is unaffected.
fn has_earlier_twin(state: &RunState, call: usize) -> bool {
    let record = state.calls[call].machine.get().record();
    let earlier = state.range_of_step(record.key().step).start..call;
    state.calls[earlier].iter().any(|earlier| earlier.machine.get().record().id() == record.id())
}
