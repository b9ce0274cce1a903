//! Calls that a crash left `Running` or `Resuming`. Whether their tools ran is unknown.

use std::sync::Arc;

use runstate::decision::{Decision, IN_DOUBT, Suspension};
use runstate::tool_call::{AnyToolCall, Replay, Suspend};
use runstate::tool_execution::Effect;
use serde_json::{Value, json};

use super::super::plugin::approvers;
use super::super::preview::Preview;
use super::execution::Starts;
use super::gating::{Opened, Passed};
use super::replay::GatePasses;
use super::{Drive, Halt};

/// The continuation of a call in doubt.
enum Doubt {
    /// The tool may have been executing with these arguments. On a replay, the decision is given as well.
    Executing(Value, Option<Box<Decision>>),
    /// A decision supplied the result. No tool was executed, and none will be.
    Supplied,
}

impl Drive<'_, '_> {
    /// Resolves the calls in doubt. A call that may run twice is executed again. For any other call, an approver is
    /// asked, so that no execution is repeated unnoticed. Returns whether any call was in doubt. Decisions are
    /// processed meanwhile if `passes` are given.
    pub(super) async fn settle_doubts(
        &mut self,
        flow: &mut dyn Starts,
        mut passes: Option<GatePasses<'_>>,
    ) -> Result<bool, Halt> {
        let mut found = false;
        for call in self.state.calls.open().to_vec() {
            let Some(doubt) = self.doubt(call) else { continue };
            found = true;
            match doubt {
                Doubt::Supplied => {
                    self.replay_call(call, None, None).await?;
                }
                Doubt::Executing(arguments, _) if self.effect_of(call) == Effect::Once => {
                    let preview = self.preview_in_doubt(call, &arguments).await;
                    self.ask_of(call, &arguments, preview);
                }
                Doubt::Executing(arguments, decision) => {
                    self.execute_again(call, arguments, decision).await?
                }
            }
            if !self.is_concurrent() {
                self.finish_jobs(flow, passes.as_mut().map(GatePasses::again)).await?;
            }
        }
        self.finish_jobs(flow, passes).await?;
        Ok(found)
    }

    /// The calls in doubt when an activation of an interrupted run begins.
    pub(super) fn left_in_doubt(&self) -> Vec<usize> {
        let is_executing = |call: &usize| matches!(self.doubt(*call), Some(Doubt::Executing(..)));
        self.state.calls.open().iter().copied().filter(is_executing).collect()
    }

    fn doubt(&self, call: usize) -> Option<Doubt> {
        match self.state.calls[call].machine.get() {
            AnyToolCall::Running(machine) => Some(match machine.replayed() {
                Some((suspension, decision)) => {
                    let arguments = match Replay::new(suspension, decision, machine.record()) {
                        Replay::Execute(arguments) | Replay::Supplied(arguments) => arguments.clone(),
                    };
                    Doubt::Executing(arguments, Some(Box::new(decision.clone())))
                }
                None => Doubt::Executing(machine.record().arguments().clone(), None),
            }),
            AnyToolCall::Resuming(machine) => Some(match machine.replay() {
                Replay::Execute(arguments) => {
                    Doubt::Executing(arguments.clone(), Some(Box::new(machine.decision().clone())))
                }
                Replay::Supplied(_) => Doubt::Supplied,
            }),
            AnyToolCall::New(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => None,
        }
    }

    fn ask_of(&mut self, call: usize, arguments: &Value, preview: Option<Preview>) {
        let message = format!(
            "the run was interrupted while {} may have been executing: approve (resume) to execute it again, or with a \
             result if you know what came of it; deny (cancel) to give the call up",
            self.state.calls[call].record().tool()
        );
        // The suspension has an id of its own. The call itself may have shown a question when it was interrupted, and
        // an answer to that question must not answer this one.
        let id = format!("{}/{IN_DOUBT}", self.state.suspension_id(call, ""));
        // If the execution needed several approvers, the repetition needs another one of them.
        let is_distinct = match self.state.calls[call].machine.get() {
            AnyToolCall::Running(call) => call.replayed().is_some_and(|(asked, _)| asked.distinct_actors),
            AnyToolCall::Resuming(call) => call.suspension().distinct_actors,
            AnyToolCall::New(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => false,
        };
        let is_distinct = is_distinct || {
            let name = Arc::clone(&self.state.calls[call].name);
            approvers(&self.state.decided.resumed(&self.state.id, &name)) > 1
        };
        let mut doubt =
            Suspension { distinct_actors: is_distinct, ..Suspension::in_doubt(id, message, arguments) };
        if let Some(preview) = preview {
            doubt.parameters["preview"] = json!(preview);
        }
        let suspend = Suspend::new(doubt);
        self.state.step_call(call, |machine| match machine {
            AnyToolCall::Running(call) => call.suspend(suspend).into(),
            AnyToolCall::Resuming(call) => call.suspend(suspend).into(),
            other @ (AnyToolCall::New(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_)) => other,
        });
        self.note_settled(call);
    }

    async fn execute_again(
        &mut self,
        call: usize,
        arguments: Value,
        decision: Option<Box<Decision>>,
    ) -> Result<(), Halt> {
        if matches!(self.state.calls[call].machine.get(), AnyToolCall::Resuming(_)) {
            return self.replay_call(call, None, None).await.map(|_| ());
        }
        // The gate was passed before the crash.
        match Passed::execution(self.open_execution(call)).open(None)? {
            Opened::Execute(execution) => {
                self.execute(call, execution, arguments, decision.map(|it| *it), None)
            }
            Opened::Supplied(..) => unreachable!("nothing was supplied"),
        }
        Ok(())
    }
}
