//! The calls of an answer (document 003, the two phases: gates first, then execution).

use std::collections::VecDeque;

use super::super::modes::ExecutionMode;
use super::execution::Starts;
use super::intake::Beside;
use super::replay::Passes;
use super::{Drive, Halt};
use crate::resume_tool_call::Gate;
use crate::run_flow::{RunFlow, ToolRound};
use crate::termination::{FinalReason, TerminationReason};
use crate::tool_call::{AnyToolCall, ToolCallStatus};

impl Drive<'_, '_> {
    /// Gates all calls of the round, then executes those that may be.
    pub(super) async fn tool_round(&mut self, flow: &mut RunFlow<ToolRound>) -> Result<(), Halt> {
        let mut gate = self.takes_in_rounds().then(|| flow.window());
        let calls = self.state.calls.of_step(flow.record().step());
        self.run_calls(flow, calls, gate.as_mut().map(Passes::each_committed)).await?;
        self.go_on_in_window(flow, gate.as_mut()).await
    }

    /// Goes on with the calls behind those that were answered in a window, before the state that has it is left: what was
    /// replayed there has no other gate behind which they could.
    pub(super) async fn go_on_in_window(
        &mut self,
        flow: &mut dyn Starts,
        window: Option<&mut Gate>,
    ) -> Result<(), Halt> {
        let Some(gate) = window else { return Ok(()) };
        while self.stop.is_none() {
            let passes = Passes::each_committed(gate);
            if !self.go_on_with_round(flow, false, Some(passes)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Takes `New` calls through their gates, in order, and executes those that may be: in sequence until one asks for a
    /// decision (the rest stay `New`), or all at once.
    async fn run_calls(
        &mut self,
        flow: &mut dyn Starts,
        calls: impl IntoIterator<Item = usize> + Send,
        mut passes: Option<Passes<'_>>,
    ) -> Result<(), Halt> {
        let mut passed = VecDeque::new();
        let calls: Vec<usize> = calls.into_iter().collect();
        for call in calls {
            if let Some(execution) = self.gate_new_call(call).await? {
                passed.push_back((call, execution));
            }
            if self.blocks_run() {
                return Ok(());
            }
        }
        if self.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        if self.config.mode != ExecutionMode::Sequential {
            self.start_calls(flow, passed).await?;
            return self.finish_jobs(flow, passes).await;
        }
        while let Some((call, execution)) = passed.pop_front() {
            self.start_calls(flow, [(call, execution)]).await?;
            self.finish_jobs(flow, passes.as_mut().map(Passes::again)).await?;
            if self.state.status_of(call) == ToolCallStatus::Suspended || self.blocks_run() {
                break;
            }
            if self.is_cancelled() {
                return Err(Halt::Cancelled);
            }
        }
        Ok(())
    }

    /// Did a gate block the run? Nothing else executes then.
    fn blocks_run(&self) -> bool {
        matches!(self.stop.as_ref().map(FinalReason::get), Some(TerminationReason::Blocked(_)))
    }

    /// Waits until nothing executes. Decisions are taken in meanwhile if there are passes for them.
    pub(super) async fn finish_jobs(
        &mut self,
        flow: &mut dyn Starts,
        mut passes: Option<Passes<'_>>,
    ) -> Result<(), Halt> {
        while !self.jobs.is_empty() {
            self.show_questions(flow).await?;
            let held_back = passes.as_ref().is_some_and(|passes| !self.takes_decisions(passes));
            let beside = self.beside(passes.as_ref()).await?;
            self.handle(beside, passes.as_mut().map(Passes::again)).await?;
            // What waited for a replay has its turn, although nothing else executes for which this would go on.
            if let Some(passes) = passes.as_mut().filter(|_| held_back) {
                self.take_decisions(passes).await?;
            }
        }
        Ok(())
    }

    /// Takes in what happened beside something else.
    pub(super) async fn handle(&mut self, beside: Beside, passes: Option<Passes<'_>>) -> Result<(), Halt> {
        match beside {
            Beside::Progress(progress) => {
                self.tell_progress(&progress);
                Ok(())
            }
            Beside::Finished(finished) => match (self.take_result(finished).await?, passes) {
                (Some((call, pass)), Some(mut passes)) => self.end_replay(&mut passes, call, pass).await,
                (Some(_), None) => Err(Halt::failed("a replay ended behind its gate")),
                (None, _) => Ok(()),
            },
            Beside::Decision => {
                let Some(mut passes) = passes else { return Ok(()) };
                self.take_decisions(&mut passes).await.map(|_| ())
            }
        }
    }

    /// Goes on with the calls that a suspension or a crash left of rounds: those in doubt, if the run was interrupted, and
    /// those that never started. Says whether one moved. Decisions are taken in meanwhile if there are passes for them.
    ///
    /// In sequence, behind a call that asked for a decision while it executed the rest stays `New`, as in the round. So does
    /// all where the user wrote since: they moved on from that answer, and its calls are over.
    pub(super) async fn go_on_with_round(
        &mut self,
        flow: &mut dyn Starts,
        interrupted: bool,
        mut passes: Option<Passes<'_>>,
    ) -> Result<bool, Halt> {
        let mut moved = false;
        if interrupted {
            moved |= self.settle_doubts(flow, passes.as_mut().map(Passes::again)).await?;
        }
        let left = self.state.startable();
        let mut rest = left.as_slice();
        while let Some(first) = rest.first().filter(|_| !self.blocks_run()) {
            let step = self.state.calls[*first].record().key().step;
            let of_step = rest.partition_point(|call| self.state.calls[*call].record().key().step == step);
            let (calls, later) = rest.split_at(of_step);
            rest = later;
            if self.config.mode == ExecutionMode::Sequential && self.is_held_up(step) {
                continue;
            }
            self.run_calls(flow, calls.iter().copied(), passes.as_mut().map(Passes::again)).await?;
            moved |= calls.iter().any(|call| self.state.status_of(*call) != ToolCallStatus::New);
        }
        Ok(moved)
    }

    /// Does a call of the step wait that executed before it did? One that its gate suspended holds up no other.
    fn is_held_up(&self, step: u32) -> bool {
        self.state.calls.of_step(step).any(|call| match self.state.calls[call].machine.get() {
            AnyToolCall::Suspended(call) => {
                call.record().attempts() > 0 || call.suspension().doubted_arguments().is_some()
            }
            _ => false,
        })
    }
}
