//! Start, execution and results of calls.

use std::sync::Arc;

use runstate::checkpoint::Due;
use runstate::decision::Decision;
use runstate::resume_tool_call::{ExecuteReplayedTool, ResumeToolCall};
use runstate::run_flow::{
    LlmCall, ResumeAfterTool, ResumeReplay0, ResumeToolCall as GateBeforeStep, RunFlow, Starting, ToolRound,
};
use runstate::tool_call::{AnyToolCall, Start, Suspend, ToolCallStatus};
use runstate::tool_execution::{AfterToolExecute, BeforeToolExecute, Effect, ExecuteTool, ToolExecution};
use runstate::tool_result::ToolResult;
use serde_json::Value;

use super::super::plugin::{ExecutedCall, Phase, foreign_word};
use super::super::tool::{Shared, ToolContext};
use super::gating::{Opened, Passed};
use super::jobs::{Finished, Job};
use super::{Drive, Halt};

/// A state of the flow in which calls start.
pub(super) trait Starts: Send {
    /// Begins executions of tools that must not run twice.
    fn starting(&mut self, executions: &[&ToolExecution<BeforeToolExecute>]) -> Starting;

    /// The commit of questions that calls ask while other calls execute.
    fn questions_due(&mut self) -> Due;
}

macro_rules! starts {
    ($($State:ident),+) => { $(
        impl Starts for RunFlow<$State> {
            fn starting(&mut self, executions: &[&ToolExecution<BeforeToolExecute>]) -> Starting {
                self.calls_started(executions.iter().copied())
            }

            fn questions_due(&mut self) -> Due {
                RunFlow::<$State>::questions_due(self)
            }
        }
    )+ };
}
starts!(ToolRound, ResumeReplay0, GateBeforeStep, LlmCall, ResumeAfterTool);

impl Drive<'_, '_> {
    /// Starts `New` calls that passed their gates. If a tool must not run twice, its start is made durable before the
    /// first of these tools executes.
    ///
    /// # Errors
    /// Fails if that commit fails. None of these calls was executed then.
    pub(super) async fn start_calls(
        &mut self,
        flow: &mut dyn Starts,
        passed: impl IntoIterator<Item = (usize, Passed)> + Send,
    ) -> Result<(), Halt> {
        let passed: Vec<_> = passed.into_iter().collect();
        for (call, passed) in &passed {
            // A call with a result from its gate starts only together with that result. If it were found `Running`
            // after a crash, its tool would be executed.
            if passed.executes() {
                self.start_call(*call);
            }
        }
        let once: Vec<_> = passed
            .iter()
            .filter(|(_, passed)| passed.is_once())
            .map(|(_, passed)| &passed.execution)
            .collect();
        let mut started = Vec::new();
        if !once.is_empty() {
            let starting = flow.starting(&once);
            drop(once);
            let receipt = self.commit(starting.due()).await?;
            started = starting.committed(receipt).map_err(|(_, wrong)| Halt::failed(wrong))?;
        }
        let mut started = started.into_iter();
        for (call, passed) in passed {
            let proof = if passed.is_once() { started.next() } else { None };
            match passed.open(proof)? {
                Opened::Supplied(execution, result) => self.supply(call, execution, result).await?,
                Opened::Execute(execution) => {
                    let arguments = self.state.calls[call].record().arguments().clone();
                    self.execute(call, execution, arguments, None, None);
                }
            }
        }
        Ok(())
    }

    pub(super) fn effect_of(&self, call: usize) -> Effect {
        self.config.tools.effect(self.state.calls[call].record().tool())
    }

    pub(super) fn start_call(&mut self, call: usize) {
        self.state.step_call(call, |machine| match machine {
            AnyToolCall::New(call) => call.start(Start).into(),
            AnyToolCall::Resuming(call) => call.start(Start).into(),
            other @ (AnyToolCall::Running(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_)) => other,
        });
    }

    /// Executes the tool of a `Running` call, concurrently with other executions.
    pub(super) fn execute(
        &mut self,
        call: usize,
        execution: ToolExecution<ExecuteTool>,
        arguments: Value,
        decision: Option<Decision>,
        replay: Option<ResumeToolCall<ExecuteReplayedTool>>,
    ) {
        let view = self.state.view_of_round();
        let called = &self.state.calls[call];
        let record = called.record();
        let Some((tool, _)) = self.config.tools.get(record.tool()) else {
            unreachable!("a gate opens only for tools that there are");
        };
        let question = match called.machine.get() {
            AnyToolCall::Running(running) => running.replayed().map(|(question, _)| question.clone()),
            _ => None,
        };
        let shared = Shared {
            scope: &self.config.scope,
            run: &self.state.id,
            thread: &self.state.thread.id,
            cancelled: &self.io.cancelled,
            progress: &self.progress,
            view,
            question,
        };
        let name = Arc::clone(&called.name);
        let cx = ToolContext::new(&execution, shared, name, record, arguments, decision);
        self.jobs.start(Job { call, execution, replay }, Arc::clone(tool), cx);
    }

    /// Settles a call with a supplied result instead of an execution.
    pub(super) async fn supply(
        &mut self,
        call: usize,
        execution: ToolExecution<ExecuteTool>,
        result: Value,
    ) -> Result<(), Halt> {
        let result = ToolResult::Success(result);
        self.settle(call, &execution.answered(&result), result).await
    }

    /// Records the result of a tool. Returns the pass that replayed the call, if the call was a replay.
    pub(super) async fn take_result(
        &mut self,
        finished: Finished,
    ) -> Result<Option<(usize, ResumeToolCall<ExecuteReplayedTool>)>, Halt> {
        let Finished { job: Job { call, execution, replay }, mut result, patches } = finished;
        self.tell_progressed();
        if let ToolResult::Pending(suspension) = &mut result {
            suspension.id = self.state.suspension_id(call, foreign_word(&suspension.id));
        }
        self.state.written(call, patches);
        self.settle(call, &execution.answered(&result), result).await?;
        Ok(replay.map(|pass| (call, pass)))
    }

    /// Moves a call to the state for the outcome of its execution.
    pub(super) async fn settle(
        &mut self,
        call: usize,
        execution: &ToolExecution<AfterToolExecute>,
        result: ToolResult,
    ) -> Result<(), Halt> {
        let asks = self.config.plugins_of(Phase::AfterToolExecute).next().is_some();
        let seen = asks.then(|| result.clone());
        self.state.step_call(call, |machine| match (machine, result) {
            (AnyToolCall::New(call), ToolResult::Pending(suspension)) => {
                call.suspend(Suspend::new(suspension)).into()
            }
            // `New` has no transition to `Failed`: the call is started, and fails without an execution.
            (AnyToolCall::New(call), result) => call.start(Start).answered(result).into(),
            (AnyToolCall::Running(call), result) => call.answered(result).into(),
            (AnyToolCall::Resuming(call), result) => call.answered(result).into(),
            (settled, _) => settled,
        });
        debug_assert_eq!(self.state.status_of(call), execution.outcome().to_status());
        self.note_settled(call);
        if let Some(result) = seen {
            let called = &self.state.calls[call];
            let (name, step) = (Arc::clone(&called.name), called.record().key().step);
            let output = match &result {
                ToolResult::Success(output) | ToolResult::Warning { output, .. } => Ok(output),
                ToolResult::Pending(suspension) => Err(suspension.message.as_str()),
                ToolResult::Error(error) => Err(error.as_str()),
            };
            let (tool, outcome) = (execution.record().tool(), execution.outcome());
            let executed = ExecutedCall { name: &name, tool, outcome, output };
            self.after_tool_execute(step, &executed).await?;
        }
        Ok(())
    }

    /// Counts and emits a call that waits or has ended. The next commit publishes it.
    pub(super) fn note_settled(&mut self, call: usize) {
        let called = self.state.calls[call].machine.get();
        match called {
            AnyToolCall::Succeeded(done) => self.state.counters.result(done.record().tool(), false),
            AnyToolCall::Failed(done) => self.state.counters.result(done.record().tool(), true),
            AnyToolCall::New(_)
            | AnyToolCall::Running(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Resuming(_)
            | AnyToolCall::Cancelled(_) => {}
        }
        self.tell_settled(call);
        // Without a committer no commit will follow, so the call is published immediately.
        if self.io.committer.is_none() && self.is_open {
            return self.publish(&[call], &[]);
        }
        self.asks |= self.state.status_of(call) == ToolCallStatus::Suspended;
        self.unpublished.push(call);
    }
}
