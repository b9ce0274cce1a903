//! Calls that a crash left `Running` or `Resuming`: whether their tools ran is not known.

use std::sync::Arc;

use serde_json::Value;

use super::super::plugin::approvers;
use super::execution::Starts;
use super::gating::{Opened, Passed};
use super::replay::Passes;
use super::{Drive, Halt};
use crate::decision::{Decision, IN_DOUBT, Suspension};
use crate::tool_call::{AnyToolCall, Replay, Suspend};
use crate::tool_execution::Effect;

/// How a call in doubt goes on.
enum Doubt {
    /// Its tool may have been executing, with these arguments and, on a replay, by this decision.
    Executing(Value, Option<Box<Decision>>),
    /// A decision was its result: no tool was executed, and none is.
    Supplied,
}

impl Drive<'_, '_> {
    /// Settles the calls in doubt. One that may run twice does; of any other a person is asked, so that nothing is executed
    /// twice in silence. Says whether there were any. Decisions are taken in meanwhile if there are passes for them.
    pub(super) async fn settle_doubts(
        &mut self,
        flow: &mut dyn Starts,
        mut passes: Option<Passes<'_>>,
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
                    self.ask_of(call, &arguments);
                }
                Doubt::Executing(arguments, decision) => {
                    self.execute_again(call, arguments, decision).await?
                }
            }
            if !self.is_concurrent() {
                self.finish_jobs(flow, passes.as_mut().map(Passes::again)).await?;
            }
        }
        self.finish_jobs(flow, passes).await?;
        Ok(found)
    }

    /// The calls of which it is not known whether their tools ran, when an activation of an interrupted run begins.
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

    fn ask_of(&mut self, call: usize, arguments: &Value) {
        let message = format!(
            "the run was interrupted while {} may have been executing: approve (resume) to execute it again, or with a \
             result if you know what came of it; deny (cancel) to give the call up",
            self.state.calls[call].record().tool()
        );
        // A name of its own: what the call itself was about to ask when it was interrupted may have been shown to somebody,
        // and an answer to that is none to this.
        let id = format!("{}/{IN_DOUBT}", self.state.suspension_id(call, ""));
        // What took several people to execute takes another one of them to execute again.
        let is_distinct = match self.state.calls[call].machine.get() {
            AnyToolCall::Running(call) => call.replayed().is_some_and(|(asked, _)| asked.distinct_actors),
            AnyToolCall::Resuming(call) => call.suspension().distinct_actors,
            _ => false,
        };
        let is_distinct = is_distinct || {
            let name = Arc::clone(&self.state.calls[call].name);
            approvers(&self.state.decided.resumed(&self.state.id, &name)) > 1
        };
        let doubt =
            Suspension { distinct_actors: is_distinct, ..Suspension::in_doubt(id, message, arguments) };
        let suspend = Suspend::new(doubt);
        self.state.step_call(call, |machine| match machine {
            AnyToolCall::Running(call) => call.suspend(suspend).into(),
            AnyToolCall::Resuming(call) => call.suspend(suspend).into(),
            other => other,
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
        // Its gate was passed before the crash.
        match Passed::execution(self.open_execution(call)).open(None)? {
            Opened::Execute(execution) => {
                self.execute(call, execution, arguments, decision.map(|it| *it), None)
            }
            Opened::Supplied(..) => unreachable!("nothing was supplied"),
        }
        Ok(())
    }
}
