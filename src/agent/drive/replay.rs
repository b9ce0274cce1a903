//! The resume gate: decisions are drained, and their calls replayed (document 000, "RESUME_TOOL_CALL").

use serde_json::Value;

use super::super::decide::{Accepted, Reply};
use super::execution::Starts;
use super::gating::{Gated, Opened, Passed};
use super::intake::Taken;
use super::{Drive, Halt};
use crate::decision::DecisionAction;
use crate::resume_tool_call::{
    Approve, Clear, ClearResolved, Close, Compare, Deny, Drained, Execute, ExecuteReplayedTool, FindNothing,
    Gate, MatchCall, Persist, Resolve, ResumeToolCall, Settle, Suspend,
};
use crate::tool_call::{AnyToolCall, CancelCause, Replay, Resume};
use crate::tool_execution::{Effect, StartPermit};

/// The passes through a gate, and how they are committed.
pub(super) struct Passes<'g> {
    gate: &'g mut Gate,
    each: bool,
}

impl<'g> Passes<'g> {
    /// Committed together, once the gate is drained.
    fn together(gate: &'g mut Gate) -> Self {
        Passes { gate, each: false }
    }

    /// Each committed by itself: those that a window lets through.
    pub(super) fn each_committed(gate: &'g mut Gate) -> Self {
        Passes { gate, each: true }
    }

    pub(super) fn again(&mut self) -> Passes<'_> {
        Passes { gate: self.gate, each: self.each }
    }

    /// Is a call replayed now?
    pub(super) fn are_under_way(&self) -> bool {
        self.gate.under_way() > 0
    }
}

impl Drive<'_, '_> {
    /// Drains a gate inside the loop: pass after pass until one finds no decision, and the calls behind those that were
    /// answered go on.
    ///
    /// # Errors
    /// When a decision could not be made durable. It is not replayed then.
    pub(super) async fn drain(&mut self, flow: &mut dyn Starts, mut gate: Gate) -> Result<Drained, Halt> {
        let mut replayed = false;
        loop {
            let mut passes = Passes::together(&mut gate);
            replayed |= self.replay_all(flow, &mut passes).await?;
            // What goes on here is committed with what was replayed here, and with nothing else.
            if !replayed || !self.go_on_beside(flow, &mut passes, false).await? {
                return self.last_look(gate);
            }
        }
    }

    /// The same at the start of an activation, where calls go on that a crash cut off, too. Says whether a call moved that was
    /// not replayed. The decision that the activation begins with is replayed first.
    ///
    /// # Errors
    /// As [`drain`](Self::drain).
    pub(super) async fn drain_at_start(
        &mut self,
        flow: &mut dyn Starts,
        mut gate: Gate,
        interrupted: bool,
    ) -> Result<(Drained, bool), Halt> {
        if self.stop.is_none()
            && let Some(taken) = self.first.take()
        {
            self.begin_replay(&mut Passes::together(&mut gate), taken).await?;
        }
        let (mut in_doubt, mut moved) = (interrupted, false);
        loop {
            let mut passes = Passes::together(&mut gate);
            self.replay_all(flow, &mut passes).await?;
            if !self.go_on_beside(flow, &mut passes, std::mem::take(&mut in_doubt)).await? {
                return Ok((self.last_look(gate)?, moved));
            }
            moved = true;
        }
    }

    /// Replays all that is decided: in sequence, or what is there and comes in meanwhile at once. Says whether there was any.
    async fn replay_all(&mut self, flow: &mut dyn Starts, passes: &mut Passes<'_>) -> Result<bool, Halt> {
        let mut any = false;
        loop {
            any |= self.take_decisions(passes).await?;
            if self.jobs.is_empty() {
                return Ok(any);
            }
            self.show_questions(flow).await?;
            let beside = self.beside(Some(passes)).await?;
            self.handle(beside, Some(passes.again())).await?;
        }
    }

    /// Commits what calls ask while others execute, so that it can be decided meanwhile: a question that is not committed is not
    /// shown.
    ///
    /// # Errors
    /// When that commit failed.
    pub(super) async fn show_questions(&mut self, flow: &mut dyn Starts) -> Result<(), Halt> {
        if self.asks && self.io.inbox.is_some() && self.stop.is_none() {
            // No state waits for it: the questions are in the next commit as well.
            drop(self.commit(flow.questions_due()).await?);
        }
        Ok(())
    }

    /// Takes the decisions that may be taken now; says whether there was any.
    pub(super) async fn take_decisions(&mut self, passes: &mut Passes<'_>) -> Result<bool, Halt> {
        let mut any = false;
        while let Some(taken) = self.next_taken(passes) {
            self.begin_replay(passes, taken).await?;
            any = true;
        }
        Ok(any)
    }

    /// Calls go on behind those that were answered; decisions are taken in meanwhile where that is so in a round. Else they
    /// wait, and are looked for once more before what waits is looked at.
    async fn go_on_beside(
        &mut self,
        flow: &mut dyn Starts,
        passes: &mut Passes<'_>,
        interrupted: bool,
    ) -> Result<bool, Halt> {
        if self.stop.is_some() {
            return Ok(false);
        }
        let meanwhile = self.takes_in_rounds().then(|| passes.again());
        self.go_on_with_round(flow, interrupted, meanwhile).await
    }

    /// The last pass through a gate, which finds nothing.
    fn last_look(&self, mut gate: Gate) -> Result<Drained, Halt> {
        let pass = gate.pass(self.observer_of_pass(&gate));
        gate.drained(pass.find_nothing(FindNothing)).map_err(|(_, _, error)| Halt::failed(error))
    }

    fn observer_of_pass(&self, gate: &Gate) -> crate::kernel::Observer {
        let (number, pass) = (gate.number(), gate.next_pass());
        self.observer("resume_tool_call", |state| format!("gate_{}.{number}.{pass}", state.flows))
    }

    /// One pass that found a decision: the decision is made durable, and its call is given up or executes.
    pub(super) async fn begin_replay(&mut self, passes: &mut Passes<'_>, taken: Taken) -> Result<(), Halt> {
        let Taken { accepted: Accepted { call, decision }, envelope } = taken;
        let observer = self.observer_of_pass(passes.gate);
        let pass = passes.gate.pass(observer);
        let pass = pass.match_call(MatchCall::new(&*self.state.calls[call].name, decision.clone()));
        self.state.decided.accept(decision.clone());
        let resumes = decision.action == DecisionAction::Resume;
        let reason = decision.reason.as_deref().unwrap_or("denied");
        let cause = if decision.is_expiry() { CancelCause::Expired } else { CancelCause::Denied };
        let cancel = self.state.cancel_of(call, (reason, cause), false);
        let resume = Resume::new(decision.clone());
        // A decision to resume moves its call before the commit, so that a crash in its replay leaves it in doubt.
        self.state.step_call(call, |machine| match machine {
            AnyToolCall::Suspended(call) if resumes => match call.resume(resume) {
                Ok(call) => call.into(),
                Err(rejected) => unreachable!("an accepted decision fits: {}", rejected.error),
            },
            AnyToolCall::Suspended(call) => call.cancel(cancel).into(),
            other => unreachable!("an accepted decision is on a suspended call, not on {}", other.status()),
        });
        let pass = pass.resolve(Resolve);
        self.unpublished.push(call);
        self.state.untold.push((call, decision));
        let receipt = match self.commit(pass.due()).await {
            Ok(receipt) => receipt,
            Err(halt) => {
                // The end of the run answers it: its commit may have the decision too.
                if let Some(inbox) = self.io.inbox.as_deref_mut() {
                    inbox.put_back(envelope);
                }
                return Err(halt);
            }
        };
        envelope.answer(Reply::Accepted);
        let pass = pass.persist(Persist::new(receipt)).map_err(|rejected| Halt::failed(rejected.error))?;
        match pass.approve(Approve) {
            Ok(pass) if self.effect_of(call) == Effect::Once => {
                let (pass, permit) = pass.execute_once();
                self.replay(passes, call, pass, Some(permit)).await
            }
            Ok(pass) => self.replay(passes, call, pass.execute(Execute), None).await,
            Err(rejected) => match rejected.machine.deny(Deny) {
                Ok(pass) => self.close_pass(passes, pass.clear(Clear)).await,
                Err(rejected) => unreachable!("a decision is to resume or to cancel: {}", rejected.error),
            },
        }
    }

    /// Replays a `Resuming` call through the whole pipeline, gate and all (document 003, "Resume replay").
    async fn replay(
        &mut self,
        passes: &mut Passes<'_>,
        call: usize,
        pass: ResumeToolCall<ExecuteReplayedTool>,
        permit: Option<StartPermit>,
    ) -> Result<(), Halt> {
        match self.replay_call(call, Some(pass), permit).await? {
            Some(pass) => self.end_replay(passes, call, pass).await,
            None => Ok(()),
        }
    }

    /// The same without a pass, for a call in doubt. Gives the pass back when the call has settled; else it travels with
    /// the tool that executes.
    pub(super) async fn replay_call(
        &mut self,
        call: usize,
        pass: Option<ResumeToolCall<ExecuteReplayedTool>>,
        permit: Option<StartPermit>,
    ) -> Result<Option<ResumeToolCall<ExecuteReplayedTool>>, Halt> {
        let AnyToolCall::Resuming(machine) = self.state.calls[call].machine.get() else { return Ok(pass) };
        let decision = machine.decision().clone();
        let replay = match machine.replay() {
            Replay::Execute(arguments) => Ok(arguments.clone()),
            Replay::Supplied(result) => Err(result.clone()),
        };
        let execution = self.open_execution(call);
        let started = permit.map(|permit| permit.start(&execution));
        let (gated, arguments) = match replay {
            Ok(arguments) => {
                let gated = self.gate_call(call, execution, &arguments, Some(&decision)).await?;
                (gated, arguments)
            }
            Err(result) => (Gated::Passed(Passed::supplied(execution, result)), Value::Null),
        };
        match gated {
            Gated::Passed(passed) => match passed.open(started)? {
                // A supplied result settles the call where it is; only a tool that executes makes it `Running` again.
                Opened::Supplied(execution, result) => {
                    self.supply(call, execution, result).await?;
                    Ok(pass)
                }
                Opened::Execute(execution) => {
                    self.start_call(call);
                    self.execute(call, execution, arguments, Some(decision), pass);
                    Ok(None)
                }
            },
            Gated::Closed(execution, result) => {
                self.settle(call, &execution, result).await?;
                Ok(pass)
            }
        }
    }

    /// The replayed call has settled, or waits again.
    pub(super) async fn end_replay(
        &mut self,
        passes: &mut Passes<'_>,
        call: usize,
        pass: ResumeToolCall<ExecuteReplayedTool>,
    ) -> Result<(), Halt> {
        let pass = match self.state.calls[call].machine.get() {
            AnyToolCall::Suspended(again) => {
                pass.suspend(Suspend::new(again.suspension().clone())).clear(Clear)
            }
            settled => match pass.settle(Settle::new(settled.status())) {
                Ok(pass) => pass,
                Err(rejected) => unreachable!("an executed call has settled: {}", rejected.error),
            },
        };
        self.close_pass(passes, pass).await
    }

    async fn close_pass(
        &mut self,
        passes: &mut Passes<'_>,
        pass: ResumeToolCall<ClearResolved>,
    ) -> Result<(), Halt> {
        let changed = self.apply_patches()?;
        let pass = pass.compare(Compare::new(changed)).close(Close);
        if passes.each {
            // A window's pass has no gate behind it whose commit would hold what it did.
            let receipt = self.commit(pass.due()).await?;
            return passes.gate.rejoin_committed(pass, &receipt).map_err(|(_, error)| Halt::failed(error));
        }
        passes.gate.rejoin(pass).map_err(|(_, error)| Halt::failed(error))
    }
}
