//! The resume gate. It takes the decisions that have arrived, and replays their calls.

use runstate::decision::DecisionAction;
use runstate::resume_tool_call::{
    Approve, Clear, ClearResolved, Close, Compare, Deny, Drained, Execute, ExecuteReplayedTool, FindNothing,
    Gate, MatchCall, Persist, Resolve, ResumeToolCall, Settle, Suspend,
};
use runstate::tool_call::{AnyToolCall, Cancel, CancelCause, Replay, Resume};
use runstate::tool_execution::{Effect, StartPermit};
use serde_json::Value;

use super::super::decide::{Accepted, Reply};
use super::execution::Starts;
use super::gating::{Gated, Opened, Passed};
use super::intake::Taken;
use super::{Drive, Halt};

/// The passes through a gate, and their commit mode.
pub(super) struct GatePasses<'g> {
    gate: &'g mut Gate,
    each: bool,
}

impl<'g> GatePasses<'g> {
    /// Passes with one common commit, once the gate is drained.
    fn together(gate: &'g mut Gate) -> Self {
        GatePasses { gate, each: false }
    }

    /// Passes with a commit each: the passes of a window.
    pub(super) fn each_committed(gate: &'g mut Gate) -> Self {
        GatePasses { gate, each: true }
    }

    pub(super) fn again(&mut self) -> GatePasses<'_> {
        GatePasses { gate: self.gate, each: self.each }
    }

    /// Returns whether a call is being replayed.
    pub(super) fn are_under_way(&self) -> bool {
        self.gate.under_way() > 0
    }
}

impl Drive<'_, '_> {
    /// Drains a gate inside the loop. Passes follow each other until one finds no decision. The calls that waited for
    /// the replayed calls continue as well.
    ///
    /// # Errors
    /// Fails if a decision could not be made durable. It is not replayed then.
    pub(super) async fn drain(&mut self, flow: &mut dyn Starts, mut gate: Gate) -> Result<Drained, Halt> {
        let mut replayed = false;
        loop {
            let mut passes = GatePasses::together(&mut gate);
            replayed |= self.replay_all(flow, &mut passes).await?;
            // Calls that continue here are committed together with the replays of this gate only.
            if !replayed || !self.go_on_beside(flow, &mut passes, false).await? {
                return self.last_look(gate);
            }
        }
    }

    /// Drains the gate at the start of an activation. The decision that the activation begins with is replayed first.
    /// Calls that a crash interrupted continue as well. Returns whether any call moved without a replay.
    ///
    /// # Errors
    /// See [`drain`](Self::drain).
    pub(super) async fn drain_at_start(
        &mut self,
        flow: &mut dyn Starts,
        mut gate: Gate,
        interrupted: bool,
    ) -> Result<(Drained, bool), Halt> {
        if self.stop.is_none()
            && let Some(taken) = self.first.take()
        {
            self.begin_replay(&mut GatePasses::together(&mut gate), taken).await?;
        }
        let (mut in_doubt, mut moved) = (interrupted, false);
        loop {
            let mut passes = GatePasses::together(&mut gate);
            self.replay_all(flow, &mut passes).await?;
            if !self.go_on_beside(flow, &mut passes, std::mem::take(&mut in_doubt)).await? {
                return Ok((self.last_look(gate)?, moved));
            }
            moved = true;
        }
    }

    /// Replays all decided calls: one by one, or concurrently, with decisions that arrive meanwhile. Returns whether
    /// any call was replayed.
    async fn replay_all(&mut self, flow: &mut dyn Starts, passes: &mut GatePasses<'_>) -> Result<bool, Halt> {
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

    /// Commits questions while other calls execute, so that approvers can answer meanwhile. An uncommitted question
    /// is not shown.
    ///
    /// # Errors
    /// Fails if that commit fails.
    pub(super) async fn show_questions(&mut self, flow: &mut dyn Starts) -> Result<(), Halt> {
        if self.asks && self.io.inbox.is_some() && self.stop.is_none() {
            // No state needs this receipt: the next commit contains the questions as well.
            drop(self.commit(flow.questions_due()).await?);
        }
        Ok(())
    }

    /// Processes the decisions that may be processed now. Returns whether any decision was processed.
    pub(super) async fn take_decisions(&mut self, passes: &mut GatePasses<'_>) -> Result<bool, Halt> {
        let mut any = false;
        while let Some(taken) = self.next_taken(passes) {
            self.begin_replay(passes, taken).await?;
            any = true;
        }
        Ok(any)
    }

    /// Continues the calls that waited for the replayed calls. If the loop processes decisions during rounds, it does
    /// so meanwhile. Otherwise the decisions wait, and the gate looks for them once more before the run waits.
    async fn go_on_beside(
        &mut self,
        flow: &mut dyn Starts,
        passes: &mut GatePasses<'_>,
        interrupted: bool,
    ) -> Result<bool, Halt> {
        if self.stop.is_some() {
            return Ok(false);
        }
        let meanwhile = self.takes_in_rounds().then(|| passes.again());
        self.go_on_with_round(flow, interrupted, meanwhile).await
    }

    /// The last pass through a gate, which finds no decision.
    fn last_look(&self, mut gate: Gate) -> Result<Drained, Halt> {
        let pass = gate.pass(self.observer_of_pass(&gate));
        gate.drained(pass.find_nothing(FindNothing)).map_err(|(_, _, error)| Halt::failed(error))
    }

    fn observer_of_pass(&self, gate: &Gate) -> runstate::kernel::Observer {
        let (number, pass) = (gate.number(), gate.next_pass());
        self.observer("resume_tool_call", |state| format!("gate_{}.{number}.{pass}", state.flows))
    }

    /// Begins a pass for a decision. The decision is made durable, and its call is cancelled or replayed.
    pub(super) async fn begin_replay(
        &mut self,
        passes: &mut GatePasses<'_>,
        taken: Taken,
    ) -> Result<(), Halt> {
        let Taken { accepted: Accepted { call, decision }, envelope } = taken;
        let observer = self.observer_of_pass(passes.gate);
        let pass = passes.gate.pass(observer);
        let pass = pass.match_call(MatchCall::new(&*self.state.calls[call].name, decision.clone()));
        self.state.decided.accept(decision.clone());
        let resumes = decision.action == DecisionAction::Resume;
        let reason = self.state.reason_of(call, decision.reason.as_deref().unwrap_or("denied"), false);
        let cause = if decision.is_expiry() { CancelCause::Expired } else { CancelCause::Denied };
        let resume = Resume::new(decision.clone());
        // A decision to resume moves its call before the commit, so that a crash during the replay leaves the call in
        // doubt.
        self.state.step_call(call, |machine| match machine {
            AnyToolCall::Suspended(call) if resumes => match call.resume(resume) {
                Ok(call) => call.into(),
                Err(rejected) => unreachable!("an accepted decision fits: {}", rejected.error),
            },
            AnyToolCall::Suspended(call) => call.cancel(Cancel::new(reason).because(cause)).into(),
            other @ (AnyToolCall::New(_)
            | AnyToolCall::Running(_)
            | AnyToolCall::Resuming(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_)) => {
                unreachable!("an accepted decision is on a suspended call, not on {}", other.status())
            }
        });
        let pass = pass.resolve(Resolve);
        self.unpublished.push(call);
        self.state.untold.push((call, decision));
        let receipt = match self.commit(pass.due()).await {
            Ok(receipt) => receipt,
            Err(halt) => {
                // The commit of the run's end may still include the decision, so the reply comes then.
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

    /// Replays a `Resuming` call through all phases, including its gate.
    async fn replay(
        &mut self,
        passes: &mut GatePasses<'_>,
        call: usize,
        pass: ResumeToolCall<ExecuteReplayedTool>,
        permit: Option<StartPermit>,
    ) -> Result<(), Halt> {
        match self.replay_call(call, Some(pass), permit).await? {
            Some(pass) => self.end_replay(passes, call, pass).await,
            None => Ok(()),
        }
    }

    /// Replays a call. A call in doubt has no pass. Returns the pass once the call has settled; otherwise the pass
    /// travels with the execution.
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
                // A supplied result settles the call in its current state. The call becomes `Running` again only if
                // its tool executes.
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

    /// Ends the replay of a call that has settled or waits again.
    pub(super) async fn end_replay(
        &mut self,
        passes: &mut GatePasses<'_>,
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
        passes: &mut GatePasses<'_>,
        pass: ResumeToolCall<ClearResolved>,
    ) -> Result<(), Halt> {
        let changed = self.apply_patches()?;
        let pass = pass.compare(Compare::new(changed)).close(Close);
        if passes.each {
            // A pass of a window has no later gate commit, so it is committed by itself.
            let receipt = self.commit(pass.due()).await?;
            return passes.gate.rejoin_committed(pass, &receipt).map_err(|(_, error)| Halt::failed(error));
        }
        passes.gate.rejoin(pass).map_err(|(_, error)| Halt::failed(error))
    }
}
