//! One activation, from RunStart to CommitFinished (document 000, "Run Execution Flow").

use super::decisions::Accepted;
use super::depth::{MOST_LEVELS, is_too_deep};
use super::history::Message;
use super::outcome::{ActivationError, Outcome, finish};
use super::state::RunState;
use super::{Agent, CommitError, ModelError, commit};
use crate::resume_tool_call::{Drained, GatePassed};
use crate::run::{AnyRun, Finish, Resume, RunStatus};
use crate::run_flow::{
    Accept, AfterAssistant, AfterReplay0, AfterTools, Begin, Cancel, Close, Commit, Complete, Fail,
    FlowRecord, LoopTop, OpenGate, Pass, Prepared, Replay, Respond, RunEnd, RunFlow, RunStart, SkipReplay,
    ToolRound, WindUp,
};
use crate::termination::{FinalReason, StoppedReason, TerminationReason, UnreadableReason};
use crate::turn::Turn;

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

/// Goes on with what a commit, a guard or a gate gave, or fails.
macro_rules! proceed {
    ($result:expr) => {
        match $result {
            Ok(flow) => flow,
            Err(rejected) => fail!(rejected.machine, rejected.error),
        }
    };
    ($flow:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => fail!($flow, error),
        }
    };
}

impl Agent<'_> {
    /// Starts a run with what the user wrote.
    ///
    /// # Errors
    /// [`ActivationError::NotStartable`] for a run that has begun; [`ActivationError::Unfinished`] when its end could not
    /// be committed. All other failures end the run with [`TerminationReason::Error`].
    pub fn start(
        &mut self,
        state: &mut RunState,
        message: impl Into<String>,
    ) -> Result<Outcome, ActivationError> {
        let status = state.run.get().status();
        if status != RunStatus::Running || state.flows > 0 {
            let hint = "only a new run is started; resume one that waits or was interrupted";
            return Err(ActivationError::NotStartable { status, hint });
        }
        state.messages.push(Message::User(message.into()));
        self.activate(state, None)
    }

    /// Goes on with a run: one that waits, when a decision comes in; one that a crash left behind, at once.
    ///
    /// With no decision for a waiting run this changes nothing, and the outcome says what waits. One that was cancelled
    /// meanwhile takes no decision any more, and [ends](Self::cancel).
    ///
    /// # Errors
    /// [`ActivationError::NotStartable`] for a run that is over; [`ActivationError::Unfinished`] when its end could not be
    /// committed.
    pub fn resume(&mut self, state: &mut RunState) -> Result<Outcome, ActivationError> {
        match state.run.get().status() {
            RunStatus::Running if state.flows == 0 => {
                let hint = "it has not begun; start it with a message";
                Err(ActivationError::NotStartable { status: RunStatus::Running, hint })
            }
            RunStatus::Running => self.activate(state, None),
            RunStatus::Waiting if (self.cancelled)() => self.cancel(state),
            RunStatus::Waiting => match state.next_accepted(self.decisions) {
                Some(accepted) => {
                    let resume = Resume::decided(&state.calls[accepted.call].name, &accepted.decision);
                    resume_run(state, resume);
                    self.activate(state, Some(accepted))
                }
                None => Ok(Outcome { reason: TerminationReason::Suspended, waiting: state.waiting() }),
            },
            RunStatus::Done => {
                let hint = "it is over; start a new run";
                Err(ActivationError::NotStartable { status: RunStatus::Done, hint })
            }
        }
    }

    /// Goes on with a waiting run because the user wrote: the calls that wait are superseded.
    ///
    /// # Errors
    /// As [`resume`](Self::resume); and [`ActivationError::NotStartable`] for a run that does not wait.
    pub fn resume_with_message(
        &mut self,
        state: &mut RunState,
        message: impl Into<String>,
    ) -> Result<Outcome, ActivationError> {
        let status = state.run.get().status();
        if status != RunStatus::Waiting {
            let hint = "a message is for a run that waits";
            return Err(ActivationError::NotStartable { status, hint });
        }
        state.cancel_open_calls("superseded by a new message");
        state.messages.push(Message::User(message.into()));
        resume_run(state, Resume::user_message());
        self.activate(state, None)
    }

    /// One activation of a run that is `Running`.
    fn activate(
        &mut self,
        state: &mut RunState,
        first: Option<Accepted>,
    ) -> Result<Outcome, ActivationError> {
        state.flows += 1;
        let AnyRun::Running(run) = state.run.get() else {
            let (status, hint) = (state.run.get().status(), "an activation is of a running run");
            return Err(ActivationError::NotStartable { status, hint });
        };
        let observer = self.watch.observer("run_flow", &format!("activation_{}", state.flows));
        let record = FlowRecord::new(run, state.steps).observed(observer);
        let mut at = self.begin(state, RunFlow::new(record), first);
        loop {
            at = match at {
                At::Step(flow) => self.step(state, flow),
                At::Round(flow) => self.round(state, flow),
                At::End(flow) => return self.end(state, flow),
            };
        }
    }

    /// From the start into the loop, or to wait again.
    fn begin(&mut self, state: &mut RunState, flow: RunFlow<RunStart>, first: Option<Accepted>) -> At {
        let flow = flow.begin(Begin);
        let receipt = proceed!(flow, commit(self.committer, flow.due(), state));
        let mut flow = proceed!(flow.commit(Commit::new(receipt)));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        let interrupted = std::mem::take(&mut state.interrupted);
        if interrupted {
            // The crash may have come between the last answer, or the last step that was allowed, and the end.
            if answered_without_calls(state) {
                flow.request_stop(FinalReason::NATURAL_END);
            } else if let Some(reason) = proceed!(flow, self.out_of_steps(state)) {
                flow.request_stop(reason);
            }
        }
        let drained = proceed!(flow, self.drain_gate(state, flow.gate(), first));
        let began = proceed!(flow, self.begin_leftovers(state, &mut flow, interrupted));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        let waiting = if flow.record().stopping().is_some() { Vec::new() } else { state.waiting() };
        match drained {
            Drained::Nothing(nothing) if !began && waiting.is_empty() => {
                At::Step(proceed!(flow.skip_replay(SkipReplay::new(nothing))))
            }
            drained => {
                let flow = proceed!(flow.replay(Replay::new(drained)));
                let receipt = proceed!(flow, commit(self.committer, flow.due(), state));
                match flow.committed(receipt, waiting) {
                    Ok(AfterReplay0::LoopTop(flow)) => At::Step(flow),
                    Ok(AfterReplay0::Suspended(flow)) => At::End(flow.wind_up(WindUp)),
                    Err((flow, unmet)) => fail!(flow, unmet),
                }
            }
        }
    }

    /// The reason for which the run is to end before another step, if it took all that it may.
    fn out_of_steps(&self, state: &RunState) -> Result<Option<FinalReason>, UnreadableReason> {
        let Some(most) = self.max_steps.filter(|most| state.steps >= *most) else { return Ok(None) };
        let detail = format!("{} of {most}", state.steps);
        StoppedReason::new("max_rounds", Some(&detail)).map(|reason| Some(reason.into()))
    }

    /// One step: the gate, the model, its answer.
    fn step(&mut self, state: &mut RunState, flow: RunFlow<LoopTop>) -> At {
        let mut flow = flow.open_gate(OpenGate);
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        if let Some(reason) = proceed!(flow, self.out_of_steps(state)) {
            flow.request_stop(reason);
        }
        // A run that is to end replays nothing more.
        let gate = if flow.record().stopping().is_some() {
            proceed!(flow, flow.pass_to_stop())
        } else {
            let drained = proceed!(flow, self.drain_gate(state, flow.gate(), None));
            proceed!(flow, self.commit_drained(state, drained))
        };
        let flow = proceed!(flow.pass(Pass::new(gate)));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        let flow = match flow.prepared() {
            Prepared::LlmCall(flow) => flow,
            Prepared::Terminate(flow) => return At::End(flow.wind_up(WindUp)),
        };
        let turn = proceed!(flow, self.model.infer(flow.step(), state).and_then(readable));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        let flow = flow.respond(Respond::new(turn)).accept(Accept);
        state.steps = flow.record().step();
        state.messages.push(Message::Assistant(flow.turn().clone()));
        state.add_calls(state.steps, &flow.turn().calls, self.watch);
        let receipt = proceed!(flow, commit(self.committer, flow.due(), state));
        match flow.committed(receipt, None) {
            Ok(AfterAssistant::ToolRound(flow)) => At::Round(flow),
            Ok(AfterAssistant::NaturalEnd(flow)) => At::End(flow.wind_up(WindUp)),
            Ok(AfterAssistant::Terminate(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
        }
    }

    /// The calls of an answer, their commit and the gate behind it.
    fn round(&mut self, state: &mut RunState, mut flow: RunFlow<ToolRound>) -> At {
        let outcomes = proceed!(flow, self.tool_round(state, &mut flow));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        if let Some(reason) = proceed!(flow, self.out_of_steps(state)) {
            flow.request_stop(reason);
        }
        let flow = proceed!(flow.complete(Complete::new(outcomes)));
        let receipt = proceed!(flow, commit(self.committer, flow.due(), state));
        let mut flow = proceed!(flow.commit(Commit::new(receipt)));
        if (self.cancelled)() {
            return At::End(flow.cancel(Cancel).wind_up(WindUp));
        }
        let drained = proceed!(flow, self.drain_gate(state, flow.gate(), None));
        if matches!(drained, Drained::Replayed(_)) && flow.record().stopping().is_none() {
            // The calls behind one that asked go on, now that it was answered.
            proceed!(flow, self.begin_leftovers(state, &mut flow, false));
            if (self.cancelled)() {
                return At::End(flow.cancel(Cancel).wind_up(WindUp));
            }
        }
        let gate = proceed!(flow, self.commit_drained(state, drained));
        let waiting = if flow.record().stopping().is_some() { Vec::new() } else { state.waiting() };
        match flow.passed(gate, waiting) {
            Ok(AfterTools::LoopTop(flow)) => At::Step(flow),
            Ok(AfterTools::Suspended(flow)) => At::End(flow.wind_up(WindUp)),
            Err((flow, unmet)) => fail!(flow, unmet),
        }
    }

    /// Commits what a gate inside the loop replayed.
    fn commit_drained(&mut self, state: &RunState, drained: Drained) -> Result<GatePassed, CommitError> {
        match drained {
            Drained::Nothing(nothing) => Ok(nothing.into()),
            Drained::Replayed(replayed) => {
                let receipt = commit(self.committer, replayed.due(), state)?;
                replayed.committed(receipt).map_err(|(_, wrong)| CommitError::new(wrong))
            }
        }
    }

    /// Takes the run to the status that the reason gives, and commits the end.
    fn end(&mut self, state: &mut RunState, flow: RunFlow<RunEnd>) -> Result<Outcome, ActivationError> {
        let (reason, calls) = (flow.reason().clone(), flow.calls().to_vec());
        if reason.to_run_status() == RunStatus::Done {
            state.cancel_open_calls(&format!("the run ended: {reason}"));
        }
        state.run.step(|run| match run {
            AnyRun::Running(run) => match run.end_activation(reason, calls) {
                Ok(ended) => (ended.into(), ()),
                // The flow parks with at least one call, so this says what is wrong instead of waiting for nothing.
                Err((run, nothing)) => {
                    let error = TerminationReason::Error(nothing.to_string());
                    match run.finish(Finish::new(error)) {
                        Ok(run) => (run.into(), ()),
                        Err(rejected) => (rejected.machine.into(), ()),
                    }
                }
            },
            other => (other, ()),
        });
        finish(flow.close(Close), self.committer, state).map_err(ActivationError::Unfinished)
    }
}

fn resume_run(state: &mut RunState, resume: Resume) {
    state.run.step(|run| match run {
        AnyRun::Waiting(run) => (run.resume(resume).into(), ()),
        other => (other, ()),
    });
}

/// An answer that can be stored and read again.
fn readable(turn: Turn) -> Result<Turn, ModelError> {
    match turn.calls.iter().find(|call| is_too_deep(&call.arguments)) {
        Some(call) => Err(ModelError::new(format!(
            "the arguments of call {:?} nest deeper than {MOST_LEVELS} levels",
            call.id
        ))),
        None => Ok(turn),
    }
}

/// Was the last thing said an answer without calls?
fn answered_without_calls(state: &RunState) -> bool {
    state.messages.last().and_then(Message::answer).is_some_and(|turn| turn.calls.is_empty())
}
