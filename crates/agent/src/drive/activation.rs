//! One activation, from `RunStart` to `CommitFinished`.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

use runstate::resume_tool_call::{Drained, GatePassed};
use runstate::run::{AnyRun, Finish, RunStatus};
use runstate::run_flow::{
    Accept, AfterAssistant, AfterReplay0, AfterTools, Begin, CallOutcome, Close, Commit, Complete,
    FlowRecord, LoopTop, OpenGate, Pass, Prepared, Replay, Respond, RunEnd, RunFlow, RunStart, SkipReplay,
    Stop, ToolRound, WindUp,
};
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::ToolCallStatus;

use super::super::event::EventKind;
use super::super::history::Message;
use super::super::modes::SuspensionPolicy;
use super::super::tool::ToolSpec;
use super::exit::{CanCancel, CanFail, OrEnd, admitted};
use super::{ActivationError, Drive, Halt, Outcome};

/// The position of an activation between the parts of this driver.
enum At {
    Step(RunFlow<LoopTop>),
    Round(RunFlow<ToolRound>),
}

/// An open question of a call, numbered within the call.
#[derive(PartialEq, Eq)]
struct Asked {
    call: usize,
    suspension: u32,
}

/// Requests the end of the activation if a stop was requested. The first requested reason counts.
macro_rules! stop_if_asked {
    ($drive:expr, $flow:expr) => {
        if let Some(reason) = $drive.stop.clone() {
            $flow.request_stop(reason);
        }
    };
}

impl Drive<'_, '_> {
    /// Drives one activation of a run that is `Running`.
    pub(super) async fn activate(&mut self) -> Result<Outcome, ActivationError> {
        self.state.flows += 1;
        let interrupted = std::mem::replace(&mut self.state.interrupted, true);
        self.reset();
        self.in_doubt = if interrupted { self.left_in_doubt() } else { Vec::new() };
        let AnyRun::Running(run) = self.state.run.get() else {
            let (status, hint) = (self.state.run.get().status(), "an activation is of a running run");
            return Err(ActivationError::NotStartable { status, hint });
        };
        let observer = self.observer("run_flow", |state| format!("activation_{}", state.flows));
        let flow = RunFlow::new(FlowRecord::new(run, self.state.steps).observed(observer));
        self.flow = Some(flow.record().flow_id());
        self.tell(|drive| EventKind::RunStarted { steps: drive.state.steps });
        let mut at = self.begin(flow, interrupted).await;
        loop {
            at = match at {
                Continue(At::Step(flow)) => self.step(flow).await,
                Continue(At::Round(flow)) => self.round(flow).await,
                Break(flow) => return self.end(flow).await,
            };
        }
    }

    /// Drives the flow from its start into the loop, or back to waiting.
    async fn begin(&mut self, flow: RunFlow<RunStart>, interrupted: bool) -> OrEnd<At> {
        let started = self.run_start().await;
        let flow = flow.unless_failed(started)?.begin(Begin);
        let committed = self.commit(flow.due()).await;
        let (flow, receipt) = flow.with_receipt(committed)?;
        let mut flow = admitted(flow.commit(Commit::new(receipt)))?;
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        // A crash may have come after the last answer, or after the last permitted step, and before the end of the
        // run.
        let is_over = interrupted && self.had_ended();
        if is_over {
            // From here, only a stop condition on the text of the answer takes precedence over the natural end.
            self.stop = None;
            let asked = self.ask_to_stop(true);
            (flow, ()) = flow.unless_halted(asked)?;
            self.stop.get_or_insert(FinalReason::NATURAL_END);
        }
        // Under `WaitForAll` this list is not needed. Without it, the waiting calls are not scanned again for each of
        // many decisions.
        let asked_before = match self.config.policy {
            SuspensionPolicy::WaitForAll => Vec::new(),
            SuspensionPolicy::ContinueWhenAny => self.asked(),
        };
        let gate = flow.gate();
        let drained = self.drain_at_start(&mut flow, gate, interrupted).await;
        let (mut flow, (drained, moved)) = flow.unless_halted(drained)?;
        // Stop conditions are evaluated at the end of a step. A crash may have cut the calls of the step off, so
        // these continue first.
        if interrupted && !is_over {
            let asked = self.ask_to_stop(false);
            (flow, ()) = flow.unless_halted(asked)?;
        }
        stop_if_asked!(self, flow);
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        let waiting = self.to_wait_for_at_start(interrupted, &asked_before);
        match drained {
            Drained::Nothing(nothing) if !moved && waiting.is_empty() => {
                Continue(At::Step(admitted(flow.skip_replay(SkipReplay::new(nothing)))?))
            }
            drained => {
                let flow = admitted(flow.replay(Replay::new(drained)))?;
                let committed = self.commit(flow.due()).await;
                let (flow, receipt) = flow.with_receipt(committed)?;
                self.forget_patches();
                match flow.committed(receipt, waiting) {
                    Ok(AfterReplay0::LoopTop(flow)) => Continue(At::Step(flow)),
                    Ok(AfterReplay0::Suspended(flow)) => Break(flow.wind_up(WindUp)),
                    Err((flow, unmet)) => Break(flow.failed(unmet)),
                }
            }
        }
    }

    /// Drives one step: the gate, the model call, the answer.
    async fn step(&mut self, flow: RunFlow<LoopTop>) -> OrEnd<At> {
        let mut flow = flow.open_gate(OpenGate);
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        stop_if_asked!(self, flow);
        // A run with a requested stop replays nothing more.
        let gate = match flow.pass_to_stop() {
            Ok(gate) => gate,
            Err(_not_stopping) => {
                let gate = flow.gate();
                let drained = self.drain(&mut flow, gate).await;
                let (kept, drained) = flow.unless_halted(drained)?;
                let passed = self.commit_drained(drained).await;
                let (kept, gate) = kept.unless_halted(passed)?;
                flow = kept;
                gate
            }
        };
        stop_if_asked!(self, flow);
        let flow = admitted(flow.pass(Pass::new(gate)))?;
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        if let Some(reason) = flow.record().stopping().cloned() {
            return Break(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let prepared = self.prepare(flow.record().step() + 1).await;
        let (flow, request) = flow.unless_halted(prepared)?;
        if let Some(reason) = self.stop.clone() {
            return Break(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let mut flow = match flow.prepared() {
            Prepared::LlmCall(flow) => flow,
            Prepared::Terminate(flow) => return Break(flow.wind_up(WindUp)),
        };
        let chosen = self.chosen_for(&request);
        let answer = self.infer(&mut flow, request).await;
        let (flow, answer) = flow.unless_halted(answer)?;
        let (usage, turn) = (answer.usage, answer.turn);
        let mut flow = flow.respond(Respond::new(turn));
        let changed = self.after_inference(flow.record().step(), || flow.turn_mut(), &usage).await;
        let mut flow = flow.unless_failed(changed)?.accept(Accept);
        let has_calls = !flow.turn().calls.is_empty();
        self.take_in(flow.record().step(), chosen.as_deref(), flow.turn());
        let ends_here = !has_calls || self.stop.is_some();
        if ends_here {
            let ended = self.step_end(flow.record().step()).await;
            flow = flow.unless_failed(ended)?;
            // An answer without calls ends the run only if no call waits (A1); else it goes on, and all conditions count.
            let ends_the_run = !has_calls && self.state.calls.suspended_count() == 0;
            let asked = self.ask_to_stop(ends_the_run);
            flow = flow.unless_failed(asked)?;
        }
        let committed = self.commit(flow.due()).await;
        let (flow, receipt) = flow.with_receipt(committed)?;
        let waiting = if has_calls { Vec::new() } else { self.state.waiting() };
        match flow.committed(receipt, self.stop.clone(), waiting) {
            Ok(AfterAssistant::ToolRound(flow)) => Continue(At::Round(flow)),
            Ok(AfterAssistant::NaturalEnd(flow)) => Break(flow.wind_up(WindUp)),
            Ok(AfterAssistant::Terminate(flow)) => Break(flow.wind_up(WindUp)),
            Err((flow, unmet)) => Break(flow.failed(unmet)),
        }
    }

    /// Drives the calls of an answer, their commit and the gate after it.
    async fn round(&mut self, mut flow: RunFlow<ToolRound>) -> OrEnd<At> {
        let step = flow.record().step();
        let executed = self.tool_round(&mut flow).await;
        let (mut flow, ()) = flow.unless_halted(executed)?;
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        stop_if_asked!(self, flow);
        let calls = self.state.calls.of_step(step);
        let outcomes = calls.clone().map(|call| {
            let call = &self.state.calls[call];
            CallOutcome { call: call.name.to_string(), status: call.status() }
        });
        let outcomes = outcomes.collect();
        let flow = admitted(flow.complete(Complete::new(outcomes)))?;
        let committed = self.commit(flow.due()).await;
        let (flow, receipt) = flow.with_receipt(committed)?;
        self.forget_patches();
        let mut flow = admitted(flow.commit(Commit::new(receipt)))?;
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        let gate = flow.gate();
        let drained = self.drain(&mut flow, gate).await;
        let (flow, drained) = flow.unless_halted(drained)?;
        let ended = self.step_end(step).await;
        let (flow, ()) = flow.unless_halted(ended)?;
        let asked = self.ask_to_stop(false);
        let (mut flow, ()) = flow.unless_halted(asked)?;
        stop_if_asked!(self, flow);
        let passed = self.commit_drained(drained).await;
        let (flow, gate) = flow.unless_halted(passed)?;
        if self.is_cancelled() {
            return Break(flow.cancelled());
        }
        let waiting = self.to_wait_for_after(step);
        match flow.passed(gate, waiting) {
            Ok(AfterTools::LoopTop(flow)) => Continue(At::Step(flow)),
            Ok(AfterTools::Suspended(flow)) => Break(flow.wind_up(WindUp)),
            Err((flow, unmet)) => Break(flow.failed(unmet)),
        }
    }

    /// Commits the replays of a gate inside the loop.
    async fn commit_drained(&mut self, drained: Drained) -> Result<GatePassed, Halt> {
        match drained {
            Drained::Nothing(nothing) => Ok(nothing.into()),
            Drained::Replayed(replayed) => {
                let receipt = self.commit(replayed.due()).await?;
                self.forget_patches();
                replayed.committed(receipt).map_err(|(_, wrong)| Halt::failed(wrong))
            }
        }
    }

    /// Records an answer of the model.
    fn take_in(&mut self, step: u32, chosen: Option<&[Arc<ToolSpec>]>, turn: &Arc<runstate::turn::Turn>) {
        self.state.answered(step, chosen, turn, self.io.watch);
        self.state.counters.answered(self.config.window, turn);
        // An id that is used again makes decisions on it ambiguous, even before its call asks.
        self.unpublished.extend(self.state.calls.of_step(step));
        self.tell_ready(step);
    }

    /// The calls to wait for after a round. Under `WaitForAll`: all waiting calls. Under `ContinueWhenAny`: all
    /// waiting calls if no call of the round has a result, otherwise none.
    fn to_wait_for_after(&self, step: u32) -> Vec<String> {
        let waits = match self.config.policy {
            SuspensionPolicy::WaitForAll => true,
            SuspensionPolicy::ContinueWhenAny => self.state.calls.of_step(step).all(|call| {
                matches!(self.state.status_of(call), ToolCallStatus::Suspended | ToolCallStatus::New)
            }),
        };
        if waits { self.to_wait_for() } else { Vec::new() }
    }

    /// The calls to wait for at the start. Under `ContinueWhenAny`, the run waits if a call asked a new question. An
    /// interrupted activation may have been about to wait, or was resumed for a decision that is lost. It waits
    /// again, unless the model has unread results.
    fn to_wait_for_at_start(&self, interrupted: bool, asked_before: &[Asked]) -> Vec<String> {
        let waits = match self.config.policy {
            SuspensionPolicy::WaitForAll => true,
            SuspensionPolicy::ContinueWhenAny => {
                let anew = |asked: &Asked| !asked_before.contains(asked);
                interrupted && !self.state.unread || self.asked().iter().any(anew)
            }
        };
        if waits { self.to_wait_for() } else { Vec::new() }
    }

    /// All waiting calls; empty if a stop was requested.
    fn to_wait_for(&self) -> Vec<String> {
        if self.stop.is_none() { self.state.waiting() } else { Vec::new() }
    }

    /// The open questions. Another suspension of the same call is another question.
    fn asked(&self) -> Vec<Asked> {
        let calls = &self.state.calls;
        calls.suspended().map(|call| Asked { call, suspension: calls[call].record().suspensions() }).collect()
    }

    /// Returns whether the last message is an answer without calls, and no call is open. A result that arrived since
    /// is for the model.
    fn had_ended(&self) -> bool {
        let last = self.state.history().last();
        last.and_then(Message::answer).is_some_and(|turn| turn.calls.is_empty())
            && !self.state.unread
            && self.state.calls.open().is_empty()
    }

    /// Moves the run to the status for its reason, and commits the end.
    async fn end(&mut self, flow: RunFlow<RunEnd>) -> Result<Outcome, ActivationError> {
        self.jobs.drop_all();
        let (reason, calls) = (flow.reason().clone(), flow.calls().to_vec());
        if let TerminationReason::Error(message) = &reason {
            self.tell_error(message);
        }
        if reason.to_run_status() == RunStatus::Done {
            self.end_calls(&reason);
        }
        self.run_end(&reason).await;
        // A conflict between the writes of calls ended this run. The conflicting writes are lost with it.
        if self.apply_patches().is_err() {
            self.problems.push("the state that calls wrote last was not applied".to_owned());
        }
        self.forget_patches();
        self.state.step_run(|run| match run {
            AnyRun::Running(run) => match run.end_activation(reason.clone(), calls) {
                Ok(ended) => ended.into(),
                // The flow parks with at least one call. If it has none, the run ends with this error instead of
                // waiting for nothing.
                Err((run, nothing)) => {
                    let error = TerminationReason::Error(nothing.to_string());
                    match run.finish(Finish::new(error)) {
                        Ok(run) => run.into(),
                        Err(rejected) => rejected.machine.into(),
                    }
                }
            },
            other @ (AnyRun::Waiting(_) | AnyRun::Done(_)) => other,
        });
        // Until the list of open questions is published, a user cannot have seen it. Messages from before are
        // refused.
        if let Some(inbox) = &mut self.io.inbox {
            inbox.refuse_messages();
        }
        self.finish(flow.close(Close)).await.map_err(ActivationError::Unfinished)
    }
}
