//! The resume gate: decisions are drained, and their calls replayed.

use serde_json::Value;

use super::decisions::{Accepted, Reply};
use super::doubt::{ARGUMENTS, IN_DOUBT};
use super::round::{Gated, settle};
use super::state::RunState;
use super::{Agent, CommitError, commit};
use crate::decision::DecisionAction;
use crate::resume_tool_call::{
    Approve, Clear, Close, CommitReplay, Compare, Deny, DrainDecisionChannel, Drained, Execute, FindNothing,
    GateRecord, MatchCall, Persist, Resolve, ResumeToolCall, Settle, Suspend,
};
use crate::tool_call::{AnyToolCall, Cancel, Replay, Resume, Resuming, ToolCall};
use crate::tool_execution::Allow;
use crate::tool_result::ToolResult;

impl Agent<'_> {
    /// Drains the gate: pass after pass until one finds no decision. `first` was accepted before the activation began.
    ///
    /// # Errors
    /// When a decision could not be made durable. It is not replayed then.
    pub(super) fn drain_gate(
        &mut self,
        state: &mut RunState,
        gate: GateRecord,
        mut first: Option<Accepted>,
    ) -> Result<Drained, CommitError> {
        let flow = state.flows;
        let name = |gate: &GateRecord| format!("gate_{flow}.{}.{}", gate.gate(), gate.pass());
        let observer = self.watch.observer("resume_tool_call", &name(&gate));
        let mut pass = ResumeToolCall::new(gate.observed(observer));
        loop {
            let Some(accepted) = first.take().or_else(|| state.next_accepted(self.decisions)) else {
                return Ok(pass.find_nothing(FindNothing).drained());
            };
            let done = self.replay(state, pass, accepted)?;
            let next = format!("gate_{flow}.{}.{}", done.record().gate(), done.record().pass() + 1);
            pass = done.drain_on(self.watch.observer("resume_tool_call", &next));
        }
    }

    /// One pass that found a decision.
    fn replay(
        &mut self,
        state: &mut RunState,
        pass: ResumeToolCall<DrainDecisionChannel>,
        accepted: Accepted,
    ) -> Result<ResumeToolCall<CommitReplay>, CommitError> {
        let Accepted { call, decision, incoming } = accepted;
        let pass = pass.match_call(MatchCall::new(&state.calls[call].name, decision.clone()));
        state.decisions.insert(decision.suspension_id.clone(), decision.clone());
        let resumes = decision.action == DecisionAction::Resume;
        let reason = decision.reason.clone().unwrap_or_else(|| "denied".to_owned());
        // A decision to resume moves its call before the commit, so that a crash in its replay leaves it in doubt.
        state.step_call(call, |machine| match machine {
            AnyToolCall::Suspended(call) if resumes => match call.resume(Resume::new(decision)) {
                Ok(call) => call.into(),
                Err(rejected) => unreachable!("an accepted decision fits: {}", rejected.error),
            },
            AnyToolCall::Suspended(call) => call.cancel(Cancel::new(reason)).into(),
            other => unreachable!("an accepted decision is on a suspended call, not on {}", other.status()),
        });
        let pass = pass.resolve(Resolve);
        let receipt = commit(self.committer, pass.due(), state)?;
        self.decisions.replied(&incoming, Reply::Accepted);
        let pass = pass.persist(Persist::new(receipt)).map_err(|r| CommitError::new(r.error))?;
        let pass = match pass.approve(Approve) {
            Ok(pass) => {
                let pass = pass.execute(Execute);
                self.replay_call(state, call);
                match state.calls[call].machine.get() {
                    AnyToolCall::Suspended(again) => {
                        let suspension = again.suspension().clone();
                        pass.suspend(Suspend::new(suspension)).clear(Clear)
                    }
                    settled => match pass.settle(Settle::new(settled.status())) {
                        Ok(pass) => pass,
                        Err(rejected) => unreachable!("an executed call has settled: {}", rejected.error),
                    },
                }
            }
            Err(rejected) => match rejected.machine.deny(Deny) {
                Ok(pass) => pass.clear(Clear),
                Err(rejected) => unreachable!("a decision is to resume or to cancel: {}", rejected.error),
            },
        };
        Ok(pass.compare(Compare::new(true)).close(Close))
    }

    /// Replays a `Resuming` call through the whole pipeline, gate and all (document 003, "Resume replay").
    pub(super) fn replay_call(&mut self, state: &mut RunState, call: usize) {
        let AnyToolCall::Resuming(machine) = state.calls[call].machine.get() else { return };
        let decision = machine.decision().clone();
        let replay = match replay_of(machine) {
            Replay::Execute(arguments) => Ok(arguments.clone()),
            Replay::Supplied(result) => Err(result.clone()),
        };
        let execution = self.open_execution(state, call);
        let record = state.calls[call].machine.get().record();
        let (gated, arguments) = match replay {
            Ok(arguments) => (self.gate_call(record, state, call, execution, Some(&decision)), arguments),
            Err(result) => (Gated::Open(execution.allow(Allow::supplying(result))), Value::Null),
        };
        match gated {
            Gated::Open(execution) => match execution.supplied().cloned() {
                // A supplied result settles the call where it is; only a tool that executes makes it `Running` again.
                Some(result) => {
                    let result = ToolResult::Success(result);
                    settle(state, call, &execution.answered(&result), result);
                }
                None => {
                    self.start_call(state, call);
                    self.execute_running(state, call, execution, Some((&arguments, &decision)));
                }
            },
            Gated::Closed(execution, result) => settle(state, call, &execution, result),
        }
    }
}

/// What replaying a call means. A call in doubt goes on with the arguments that its interrupted execution had.
pub(super) fn replay_of(call: &ToolCall<Resuming>) -> Replay<'_> {
    let suspension = call.suspension();
    match suspension.parameters.get(ARGUMENTS) {
        Some(arguments) if suspension.action == IN_DOUBT => Replay::Execute(arguments),
        Some(_) | None => call.replay(),
    }
}
