//! One activation, from RunStart to CommitFinished (document 000, "Run Execution Flow").

use super::super::config::SuspensionPolicy;
use super::super::event::EventKind;
use super::super::history::Message;
use super::intake::Taken;
use super::outcome::finished;
use super::{ActivationError, Drive, Halt, Outcome, Unfinished};
use crate::resume_tool_call::{Drained, GatePassed};
use crate::run::{AnyRun, Finish, RunStatus};
use crate::run_flow::{
    Accept, AfterAssistant, AfterReplay0, AfterTools, Begin, CallOutcome, Cancel, Close, Commit, Complete,
    Fail, FlowRecord, LoopTop, OpenGate, Pass, Prepared, Replay, Respond, RunEnd, RunFlow, RunStart,
    SkipReplay, Stop, ToolRound, WindUp,
};
use crate::termination::{FinalReason, TerminationReason};
use crate::tool_call::ToolCallStatus;

/// Where an activation stands between the parts of this driver.
enum At {
    Step(RunFlow<LoopTop>),
    Round(RunFlow<ToolRound>),
    End(RunFlow<RunEnd>),
}

/// The activation fails: what was committed stays, and the end says how.
macro_rules! fail {
    ($flow:expr, $error:expr) => {
        return At::End($flow.fail(Fail::new($error.to_string())).wind_up(WindUp))
    };
}

/// The activation is cancelled.
macro_rules! cancel {
    ($flow:expr) => {
        return At::End($flow.cancel(Cancel).wind_up(WindUp))
    };
}

/// Goes on with what a guard gave, or fails.
macro_rules! proceed {
    ($result:expr) => {
        match $result {
            Ok(flow) => flow,
            Err(rejected) => fail!(rejected.machine, rejected.error),
        }
    };
}

/// Goes on with what was done in a state that can be cancelled, or ends.
macro_rules! done {
    ($flow:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(Halt::Cancelled) => cancel!($flow),
            Err(Halt::Failed(error)) => fail!($flow, error),
        }
    };
}

/// Goes on with what was done in a state that cannot be cancelled: a cancellation is seen in the next that can.
macro_rules! uncancelled {
    ($flow:expr, $result:expr) => {
        match $result {
            Ok(_) | Err(Halt::Cancelled) => {}
            Err(Halt::Failed(error)) => fail!($flow, error),
        }
    };
}

/// Goes on with the receipt of a commit, or fails.
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
    /// One activation of a run that is `Running`.
    pub(super) async fn activate(&mut self, first: Option<Taken>) -> Result<Outcome, ActivationError> {
        self.state.flows += 1;
        let interrupted = std::mem::replace(&mut self.state.interrupted, true);
        self.reset();
        let AnyRun::Running(run) = self.state.run.get() else {
            let (status, hint) = (self.state.run.get().status(), "an activation is of a running run");
            return Err(ActivationError::NotStartable { status, hint });
        };
        let observer = self.observer("run_flow", |state| format!("activation_{}", state.flows));
        let flow = RunFlow::new(FlowRecord::new(run, self.state.steps).observed(observer));
        self.tell(|drive| EventKind::RunStarted { steps: drive.state.steps });
        let mut at = self.begin(flow, interrupted, first).await;
        loop {
            at = match at {
                At::Step(flow) => self.step(flow).await,
                At::Round(flow) => self.round(flow).await,
                At::End(flow) => return self.end(flow).await,
            };
        }
    }

    /// From the start into the loop, or to wait again.
    async fn begin(&mut self, flow: RunFlow<RunStart>, interrupted: bool, first: Option<Taken>) -> At {
        uncancelled!(flow, self.run_start().await);
        let flow = flow.begin(Begin);
        let receipt = committed!(self, flow);
        let mut flow = proceed!(flow.commit(Commit::new(receipt)));
        if self.is_cancelled() {
            cancel!(flow);
        }
        // A crash may have come between the last answer, or the last step that was allowed, and the end.
        let had_ended = interrupted && self.answered_without_calls();
        let is_over = had_ended && self.state.calls.suspended_count() == 0;
        if is_over {
            done!(flow, self.ask_to_stop(true));
            flow.request_stop(self.stop.take().unwrap_or(FinalReason::NATURAL_END));
        }
        let asked_before = self.asked();
        let drained = done!(flow, self.drain(flow.gate(), first).await);
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
        let began = if flow.record().stopping().is_none() {
            done!(flow, self.go_on_with_round(&mut flow, interrupted).await)
        } else {
            false
        };
        // The conditions of a step are asked at its end: not before its calls, which a crash cut off, have gone on.
        if interrupted && !is_over {
            done!(flow, self.ask_to_stop(false));
        }
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
        if self.is_cancelled() {
            cancel!(flow);
        }
        let waiting = if had_ended && matches!(drained, Drained::Nothing(_)) {
            // That end was a wait, and nothing has come in since.
            self.state.waiting()
        } else {
            self.to_wait_for_at_start(flow.record().stopping().is_some(), asked_before)
        };
        match drained {
            Drained::Nothing(nothing) if !began && waiting.is_empty() => {
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

    /// One step: the gate, the model, its answer.
    async fn step(&mut self, flow: RunFlow<LoopTop>) -> At {
        let mut flow = flow.open_gate(OpenGate);
        if self.is_cancelled() {
            cancel!(flow);
        }
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
        // A run that is to end replays nothing more.
        let gate = match flow.pass_to_stop() {
            Ok(gate) => gate,
            Err(_not_stopping) => {
                let drained = done!(flow, self.drain(flow.gate(), None).await);
                done!(flow, self.commit_drained(drained).await)
            }
        };
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
        let flow = proceed!(flow.pass(Pass::new(gate)));
        if self.is_cancelled() {
            cancel!(flow);
        }
        if let Some(reason) = flow.record().stopping().cloned() {
            return At::End(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let request = done!(flow, self.prepare(flow.record().step() + 1).await);
        if let Some(reason) = self.stop.take() {
            return At::End(flow.stop(Stop::new(reason)).wind_up(WindUp));
        }
        let mut flow = match flow.prepared() {
            Prepared::LlmCall(flow) => flow,
            Prepared::Terminate(flow) => return At::End(flow.wind_up(WindUp)),
        };
        let answer = done!(flow, self.infer(&mut flow, request).await);
        let (usage, turn) = (answer.usage, answer.turn);
        let mut flow = flow.respond(Respond::new(turn));
        uncancelled!(flow, self.after_inference(flow.record().step(), || flow.turn_mut(), &usage).await);
        let flow = flow.accept(Accept);
        let has_calls = !flow.turn().calls.is_empty();
        self.take_in(flow.record().step(), flow.turn());
        let ends_here = !has_calls || self.stop.is_some();
        if ends_here {
            uncancelled!(flow, self.step_end(flow.record().step()).await);
            // An answer without calls ends the run only if no call waits (A1); else it goes on, and all conditions count.
            let ends_the_run = !has_calls && self.state.calls.suspended_count() == 0;
            uncancelled!(flow, self.ask_to_stop(ends_the_run));
        }
        let receipt = committed!(self, flow);
        let waiting = if has_calls { Vec::new() } else { self.state.waiting() };
        match flow.committed(receipt, self.stop.take(), waiting) {
            Ok(AfterAssistant::ToolRound(flow)) => At::Round(flow),
            Ok(AfterAssistant::NaturalEnd(flow)) => At::End(flow.wind_up(WindUp)),
            Ok(AfterAssistant::Terminate(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
        }
    }

    /// The calls of an answer, their commit and the gate behind it.
    async fn round(&mut self, mut flow: RunFlow<ToolRound>) -> At {
        let step = flow.record().step();
        done!(flow, self.tool_round(&mut flow).await);
        if self.is_cancelled() {
            cancel!(flow);
        }
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
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
        let drained = done!(flow, self.drain(flow.gate(), None).await);
        if matches!(drained, Drained::Replayed(_))
            && flow.record().stopping().is_none()
            && self.stop.is_none()
        {
            // The calls behind one that asked go on, now that it was answered.
            done!(flow, self.go_on_with_round(&mut flow, false).await);
        }
        done!(flow, self.step_end(step).await);
        done!(flow, self.ask_to_stop(false));
        if let Some(reason) = self.stop.take() {
            flow.request_stop(reason);
        }
        let gate = done!(flow, self.commit_drained(drained).await);
        if self.is_cancelled() {
            cancel!(flow);
        }
        let waiting = self.to_wait_for_after(step, flow.record().stopping().is_some());
        match flow.passed(gate, waiting) {
            Ok(AfterTools::LoopTop(flow)) => At::Step(flow),
            Ok(AfterTools::Suspended(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
        }
    }

    /// Commits what a gate inside the loop replayed.
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

    /// Takes an answer in: what the model said is said.
    fn take_in(&mut self, step: u32, turn: &std::sync::Arc<crate::turn::Turn>) {
        self.state.answered(step, turn, self.io.watch);
        self.state.counters.answered(self.config.window, turn);
        self.tell_ready(step);
    }

    /// The calls to wait for behind a round (A1): all that wait; or, where the model goes on as soon as any call of the round
    /// has a result, those only when none has.
    fn to_wait_for_after(&self, step: u32, stopping: bool) -> Vec<String> {
        let waits = match self.config.policy {
            SuspensionPolicy::WaitForAll => true,
            SuspensionPolicy::ContinueWhenAny => self.state.calls.of_step(step).all(|call| {
                matches!(self.state.status_of(call), ToolCallStatus::Suspended | ToolCallStatus::New)
            }),
        };
        if waits && !stopping { self.state.waiting() } else { Vec::new() }
    }

    /// The same at the start: document 000 waits there for calls that asked anew.
    fn to_wait_for_at_start(&self, stopping: bool, asked_before: u64) -> Vec<String> {
        let waits = match self.config.policy {
            SuspensionPolicy::WaitForAll => true,
            SuspensionPolicy::ContinueWhenAny => self.asked() > asked_before,
        };
        if waits && !stopping { self.state.waiting() } else { Vec::new() }
    }

    /// How often the calls that wait have asked, in all: more than before when one asked anew.
    fn asked(&self) -> u64 {
        self.state
            .calls
            .suspended()
            .map(|call| u64::from(self.state.calls[call].record().suspensions()))
            .sum()
    }

    /// Was the last thing said an answer without calls?
    fn answered_without_calls(&self) -> bool {
        let last = self.state.history().last();
        last.and_then(Message::answer).is_some_and(|turn| turn.calls.is_empty())
    }

    /// Takes the run to the status that the reason gives, and commits the end.
    async fn end(&mut self, flow: RunFlow<RunEnd>) -> Result<Outcome, ActivationError> {
        self.jobs.drop_all();
        // What was held in this activation ends with it; what comes in from now on is held for the next.
        self.held.clear();
        let (reason, calls) = (flow.reason().clone(), flow.calls().to_vec());
        if let TerminationReason::Error(message) = &reason {
            self.tell_error(message);
        }
        if reason.to_run_status() == RunStatus::Done {
            self.give_up_calls(&format!("the run ended: {reason}"));
        }
        self.run_end(&reason).await;
        // What a call wrote that contradicts another's is lost with the run that it ended.
        if self.apply_patches().is_err() {
            self.problems.push("the state that calls wrote last was not applied".to_owned());
        }
        self.forget_patches();
        self.state.step_run(|run| match run {
            AnyRun::Running(run) => match run.end_activation(reason.clone(), calls) {
                Ok(ended) => ended.into(),
                // The flow parks with at least one call, so this says what is wrong instead of waiting for nothing.
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
        self.publish();
        let flow = flow.close(Close);
        let problems = std::mem::take(&mut self.problems);
        let receipt = match self.write(flow.due()).await {
            Ok(receipt) => receipt,
            Err(error) => {
                return Err(ActivationError::Unfinished(Box::new(Unfinished { flow, error, problems })));
            }
        };
        let outcome = finished(flow, &receipt, problems).map_err(ActivationError::Unfinished)?;
        self.state.interrupted = false;
        self.tell_finished(&outcome.reason);
        Ok(outcome)
    }
}
