//! One activation, from `RunStart` to `CommitFinished`.

use std::sync::Arc;

use runstate::resume_tool_call::{Drained, GatePassed};
use runstate::run::{AnyRun, Finish, RunStatus};
use runstate::run_flow::{
    Accept, AfterAssistant, AfterReplay0, AfterTools, Begin, CallOutcome, Cancel, Close, Commit, Complete,
    Fail, FlowRecord, LoopTop, OpenGate, Pass, Prepared, Replay, Respond, RunEnd, RunFlow, RunStart,
    SkipReplay, Stop, ToolRound, WindUp,
};
use runstate::termination::{FinalReason, TerminationReason};
use runstate::tool_call::ToolCallStatus;

use super::super::event::EventKind;
use super::super::history::Message;
use super::super::modes::SuspensionPolicy;
use super::super::tool::ToolSpec;
use super::{ActivationError, Drive, Halt, Outcome};

/// The position of an activation between the parts of this driver.
enum At {
    Step(RunFlow<LoopTop>),
    Round(RunFlow<ToolRound>),
    End(RunFlow<RunEnd>),
}

/// An open question of a call, numbered within the call.
#[derive(PartialEq, Eq)]
struct Asked {
    call: usize,
    suspension: u32,
}

/// Fails the activation. Committed state stays, and the end contains the error.
macro_rules! fail {
    ($flow:expr, $error:expr) => {
        return At::End($flow.fail(Fail::new($error.to_string())).wind_up(WindUp))
    };
}

/// Requests the end of the activation if a stop was requested. The first requested reason counts.
macro_rules! stop_if_asked {
    ($drive:expr, $flow:expr) => {
        if let Some(reason) = $drive.stop.clone() {
            $flow.request_stop(reason);
        }
    };
}

/// Cancels the activation.
macro_rules! cancel {
    ($flow:expr) => {
        return At::End($flow.cancel(Cancel).wind_up(WindUp))
    };
}

/// Continues with the result of a guard, or fails.
macro_rules! proceed {
    ($result:expr) => {
        match $result {
            Ok(flow) => flow,
            Err(rejected) => fail!(rejected.machine, rejected.error),
        }
    };
}

/// Continues with the result of a cancellable state, or ends.
macro_rules! done {
    ($flow:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(Halt::Cancelled) => cancel!($flow),
            Err(Halt::Failed(error)) => fail!($flow, error),
        }
    };
}

/// Continues after a state that cannot be cancelled. The next cancellable state handles a cancellation.
macro_rules! uncancelled {
    ($flow:expr, $result:expr) => {
        match $result {
            Ok(_) | Err(Halt::Cancelled) => {}
            Err(Halt::Failed(error)) => fail!($flow, error),
        }
    };
}

/// Continues with the receipt of a commit, or fails.
macro_rules! committed {
    ($drive:expr, $flow:expr) => {
        match $drive.commit($flow.due()).await {
            Ok(receipt) => receipt,
            Err(Halt::Failed(error)) => fail!($flow, error),
            Err(Halt::Cancelled) => fail!($flow, "a commit is not cancelled midway"),
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
                At::Step(flow) => self.step(flow).await,
                At::Round(flow) => self.round(flow).await,
                At::End(flow) => return self.end(flow).await,
            };
        }
    }

    /// Drives the flow from its start into the loop, or back to waiting.
    async fn begin(&mut self, flow: RunFlow<RunStart>, interrupted: bool) -> At {
        uncancelled!(flow, self.run_start().await);
        let flow = flow.begin(Begin);
        let receipt = committed!(self, flow);
        let mut flow = proceed!(flow.commit(Commit::new(receipt)));
        if self.is_cancelled() {
            cancel!(flow);
        }
        // A crash may have come after the last answer, or after the last permitted step, and before the end of the
        // run.
        let is_over = interrupted && self.had_ended();
        if is_over {
            // From here, only a stop condition on the text of the answer takes precedence over the natural end.
            self.stop = None;
            done!(flow, self.ask_to_stop(true));
            self.stop.get_or_insert(FinalReason::NATURAL_END);
        }
        // Under `WaitForAll` this list is not needed. Without it, the waiting calls are not scanned again for each of
        // many decisions.
        let asked_before = match self.config.policy {
            SuspensionPolicy::WaitForAll => Vec::new(),
            SuspensionPolicy::ContinueWhenAny => self.asked(),
        };
        let gate = flow.gate();
        let (drained, moved) = done!(flow, self.drain_at_start(&mut flow, gate, interrupted).await);
        // Stop conditions are evaluated at the end of a step. A crash may have cut the calls of the step off, so
        // these continue first.
        if interrupted && !is_over {
            done!(flow, self.ask_to_stop(false));
        }
        stop_if_asked!(self, flow);
        if self.is_cancelled() {
            cancel!(flow);
        }
        let waiting = self.to_wait_for_at_start(interrupted, &asked_before);
        match drained {
            Drained::Nothing(nothing) if !moved && waiting.is_empty() => {
                At::Step(proceed!(flow.skip_replay(SkipReplay::new(nothing))))
            }
            drained => {
                let flow = proceed!(flow.replay(Replay::new(drained)));
                let receipt = committed!(self, flow);
                self.forget_patches();
                match flow.committed(receipt, waiting) {
                    Ok(AfterReplay0::LoopTop(flow)) => At::Step(flow),
                    Ok(AfterReplay0::Suspended(flow)) => At::End(flow.wind_up(WindUp)),
                    Err((flow, unmet)) => fail!(flow, unmet),
                }
            }
        }
    }

    /// Drives one step: the gate, the model call, the answer.
    async fn step(&mut self, flow: RunFlow<LoopTop>) -> At {
        let mut flow = flow.open_gate(OpenGate);
        if self.is_cancelled() {
            cancel!(flow);
        }
        stop_if_asked!(self, flow);
        // A run with a requested stop replays nothing more.
        let gate = match flow.pass_to_stop() {
            Ok(gate) => gate,
            Err(_not_stopping) => {
                let gate = flow.gate();
                let drained = done!(flow, self.drain(&mut flow, gate).await);
                done!(flow, self.commit_drained(drained).await)
            }
        };
        stop_if_asked!(self, flow);
        let flow = proceed!(flow.pass(Pass::new(gate)));
        if self.is_cancelled() {
            cancel!(flow);
        }
        if let Some(reason) = flow.record().stopping().cloned() {
            return At::End(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let request = done!(flow, self.prepare(flow.record().step() + 1).await);
        if let Some(reason) = self.stop.clone() {
            return At::End(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let mut flow = match flow.prepared() {
            Prepared::LlmCall(flow) => flow,
            Prepared::Terminate(flow) => return At::End(flow.wind_up(WindUp)),
        };
        let chosen = self.chosen_for(&request);
        let answer = done!(flow, self.infer(&mut flow, request).await);
        let (usage, turn) = (answer.usage, answer.turn);
        let mut flow = flow.respond(Respond::new(turn));
        uncancelled!(flow, self.after_inference(flow.record().step(), || flow.turn_mut(), &usage).await);
        let flow = flow.accept(Accept);
        let has_calls = !flow.turn().calls.is_empty();
        self.take_in(flow.record().step(), chosen.as_deref(), flow.turn());
        let ends_here = !has_calls || self.stop.is_some();
        if ends_here {
            uncancelled!(flow, self.step_end(flow.record().step()).await);
            // An answer without calls ends the run only if no call waits (A1); else it goes on, and all conditions count.
            let ends_the_run = !has_calls && self.state.calls.suspended_count() == 0;
            uncancelled!(flow, self.ask_to_stop(ends_the_run));
        }
        let receipt = committed!(self, flow);
        let waiting = if has_calls { Vec::new() } else { self.state.waiting() };
        match flow.committed(receipt, self.stop.clone(), waiting) {
            Ok(AfterAssistant::ToolRound(flow)) => At::Round(flow),
            Ok(AfterAssistant::NaturalEnd(flow)) => At::End(flow.wind_up(WindUp)),
            Ok(AfterAssistant::Terminate(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
        }
    }

    /// Drives the calls of an answer, their commit and the gate after it.
    async fn round(&mut self, mut flow: RunFlow<ToolRound>) -> At {
        let step = flow.record().step();
        done!(flow, self.tool_round(&mut flow).await);
        if self.is_cancelled() {
            cancel!(flow);
        }
        stop_if_asked!(self, flow);
        let calls = self.state.calls.of_step(step);
        let outcomes = calls.clone().map(|call| {
            let call = &self.state.calls[call];
            CallOutcome { call: call.name.to_string(), status: call.status() }
        });
        let outcomes = outcomes.collect();
        let flow = proceed!(flow.complete(Complete::new(outcomes)));
        let receipt = committed!(self, flow);
        self.forget_patches();
        let mut flow = proceed!(flow.commit(Commit::new(receipt)));
        if self.is_cancelled() {
            cancel!(flow);
        }
        let gate = flow.gate();
        let drained = done!(flow, self.drain(&mut flow, gate).await);
        done!(flow, self.step_end(step).await);
        done!(flow, self.ask_to_stop(false));
        stop_if_asked!(self, flow);
        let gate = done!(flow, self.commit_drained(drained).await);
        if self.is_cancelled() {
            cancel!(flow);
        }
        let waiting = self.to_wait_for_after(step);
        match flow.passed(gate, waiting) {
            Ok(AfterTools::LoopTop(flow)) => At::Step(flow),
            Ok(AfterTools::Suspended(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
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
            other => other,
        });
        // Until the list of open questions is published, a user cannot have seen it. Messages from before are
        // refused.
        if let Some(inbox) = &mut self.io.inbox {
            inbox.refuse_messages();
        }
        self.finish(flow.close(Close)).await.map_err(ActivationError::Unfinished)
    }
}
