//! The calls of an answer: first all gates, then the executions.

use std::collections::VecDeque;

use runstate::resume_tool_call::Gate;
use runstate::run_flow::{RunFlow, ToolRound};
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::ToolCallStatus;

use super::super::modes::ExecutionMode;
use super::execution::Starts;
use super::intake::LoopEvent;
use super::replay::GatePasses;
use super::{Drive, Halt};

impl Drive<'_, '_> {
    /// Takes all calls of the round through their gates, then executes the permitted ones.
    pub(super) async fn tool_round(&mut self, flow: &mut RunFlow<ToolRound>) -> Result<(), Halt> {
        let mut gate = self.takes_in_rounds().then(|| flow.window());
        let calls = self.state.calls.of_step(flow.record().step());
        self.run_calls(flow, calls, gate.as_mut().map(GatePasses::each_committed)).await?;
        self.go_on_in_window(flow, gate.as_mut()).await
    }

    /// Continues the calls that waited for calls replayed in a window. This comes before the flow leaves the window's
    /// state, because no later gate would continue them.
    pub(super) async fn go_on_in_window(
        &mut self,
        flow: &mut dyn Starts,
        window: Option<&mut Gate>,
    ) -> Result<(), Halt> {
        let Some(gate) = window else { return Ok(()) };
        while self.stop.is_none() {
            let passes = GatePasses::each_committed(gate);
            if !self.go_on_with_round(flow, false, Some(passes)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Takes `New` calls through their gates, in order, and executes the permitted ones. In sequential mode, the
    /// first call that asks for a decision stops the others, which stay `New`. In the other modes, the calls execute
    /// concurrently.
    async fn run_calls(
        &mut self,
        flow: &mut dyn Starts,
        calls: impl IntoIterator<Item = usize> + Send,
        mut passes: Option<GatePasses<'_>>,
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
            self.finish_jobs(flow, passes.as_mut().map(GatePasses::again)).await?;
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

    /// Waits until no tool executes. Decisions are processed meanwhile if `passes` are given.
    pub(super) async fn finish_jobs(
        &mut self,
        flow: &mut dyn Starts,
        mut passes: Option<GatePasses<'_>>,
    ) -> Result<(), Halt> {
        while !self.jobs.is_empty() {
            self.show_questions(flow).await?;
            let held_back = passes.as_ref().is_some_and(|passes| !self.takes_decisions(passes));
            let beside = self.beside(passes.as_ref()).await?;
            self.handle(beside, passes.as_mut().map(GatePasses::again)).await?;
            // A decision may have waited for the replay that has just ended. It is processed even if no further tool
            // executes.
            if let Some(passes) = passes.as_mut().filter(|_| held_back) {
                self.take_decisions(passes).await?;
            }
        }
        Ok(())
    }

    /// Processes a concurrent event.
    pub(super) async fn handle(
        &mut self,
        beside: LoopEvent,
        passes: Option<GatePasses<'_>>,
    ) -> Result<(), Halt> {
        match beside {
            LoopEvent::Progress(progress) => {
                self.tell_progress(&progress);
                Ok(())
            }
            LoopEvent::Finished(finished) => match (self.take_result(finished).await?, passes) {
                (Some((call, pass)), Some(mut passes)) => self.end_replay(&mut passes, call, pass).await,
                (Some(_), None) => Err(Halt::failed("a replay ended after its gate")),
                (None, _) => Ok(()),
            },
            LoopEvent::Decision => {
                let Some(mut passes) = passes else { return Ok(()) };
                self.take_decisions(&mut passes).await.map(|_| ())
            }
        }
    }

    /// Continues the calls that a suspension or a crash left unfinished: the calls in doubt, if the run was
    /// interrupted, and the calls that never started. Returns whether a call moved. Decisions are processed meanwhile
    /// if `passes` are given.
    ///
    /// In sequential mode, the calls after a call that asked during its execution stay `New`, as in the round. After
    /// a new message of the user, the calls of the earlier answer stay `New` for good.
    pub(super) async fn go_on_with_round(
        &mut self,
        flow: &mut dyn Starts,
        interrupted: bool,
        mut passes: Option<GatePasses<'_>>,
    ) -> Result<bool, Halt> {
        let mut moved = false;
        if interrupted {
            moved |= self.settle_doubts(flow, passes.as_mut().map(GatePasses::again)).await?;
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
            self.run_calls(flow, calls.iter().copied(), passes.as_mut().map(GatePasses::again)).await?;
            moved |= calls.iter().any(|call| self.state.status_of(*call) != ToolCallStatus::New);
        }
        Ok(moved)
    }

    /// Returns whether a call of the step waits after it executed. A call that was suspended at its gate stops no
    /// other call.
    fn is_held_up(&self, step: u32) -> bool {
        self.state
            .calls
            .of_step(step)
            .filter_map(|call| self.state.calls[call].suspended())
            .any(|call| call.record().attempts() > 0 || call.suspension().doubted_arguments().is_some())
    }
}
