//! Accessors of the states of an activation, and its branches as enums of their legal successors.
#![expect(clippy::result_large_err, reason = "a refusal hands the activation back by value")]

use std::sync::Arc;

use super::super::checkpoint::{Due, Receipt, WrongReceipt};
use super::super::resume_tool_call::{Gate, GateOf, GatePassed};
use super::super::termination::{FinalReason, TerminationReason};
use super::super::turn::Turn;
use super::events::{CallTools, Commit, Finish, Halt, Next, Park, Stay, Stop};
use super::guards::RunFlowError;
use super::states::{
    AfterInference, CallOutcome, CommitAssistant, CommitFinished, CommitReplay0, CommitTool, CommitUser,
    Error, LlmCall, NaturalEnd, ResumeAfterTool, ResumeReplay0, ResumeToolCall, RunEnd, Suspended, Terminate,
    ToolRound,
};
use super::{FlowRecord, Infer, LoopTop, RunFlow, StepPrepare};
use crate::kernel::Retired;

macro_rules! owing {
    ($($State:ident),+) => { $(
        impl RunFlow<$State> {
            /// The pending commit.
            pub fn due(&self) -> Due {
                self.state().due.within(self.record().identity())
            }
        }
    )+ };
}
owing!(CommitUser, CommitReplay0, CommitAssistant, CommitTool, CommitFinished);

macro_rules! gated {
    ($($State:ident),+) => { $(
        impl RunFlow<$State> {
            /// Opens the gate at which the activation is. It must be opened once. A later opening cannot be drained,
            /// and after it the activation refuses the proof of the first opening, so the activation can only fail.
            pub fn gate(&mut self) -> Gate {
                let state = self.state_mut();
                state.openings = state.openings.saturating_add(1);
                Gate::of_flow(self.record().identity(), self.state().gate, self.state().openings)
            }

            /// The number of the gate at which the activation is.
            pub fn gate_number(&self) -> u64 {
                self.state().gate
            }

            /// Requests the end before the next step. The first request takes precedence.
            pub fn request_stop(&mut self, reason: FinalReason) {
                self.record_mut().stopping.get_or_insert(reason);
            }
        }
    )+ };
}
gated!(ResumeReplay0, ResumeToolCall, ResumeAfterTool);

impl RunFlow<ResumeToolCall> {
    /// Passes the gate unopened, for an activation with a requested end. It replays no further call, and from
    /// `StepPrepare` it can only end.
    ///
    /// # Errors
    /// [`RunFlowError::NotStopping`] when no end was requested. [`RunFlowError::GateOpened`] when the gate was opened, because its
    /// replays need a commit.
    pub fn pass_to_stop(&self) -> Result<GatePassed, RunFlowError> {
        if self.record().stopping().is_none() {
            return Err(RunFlowError::NotStopping);
        }
        let ResumeToolCall { gate, openings } = *self.state();
        if openings > 0 {
            return Err(RunFlowError::GateOpened { gate });
        }
        Ok(GatePassed(GateOf { flow: self.record().identity(), gate, opening: openings }))
    }
}

impl RunFlow<LlmCall> {
    /// The number of the step, from 1.
    pub fn step(&self) -> u32 {
        self.state().step
    }
}

impl RunFlow<AfterInference> {
    /// The answer of the model.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// The answer, mutable for plugins, before it is applied.
    pub fn turn_mut(&mut self) -> &mut Turn {
        Arc::make_mut(&mut self.state_mut().turn)
    }
}

impl RunFlow<CommitAssistant> {
    /// The answer of the model.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// Continues after the commit of the answer: to the end if `action` requests one, to the natural end without
    /// calls, else to the calls. `waiting` are the trace names of the calls of earlier answers that are still
    /// suspended. With such calls the activation ends as suspended instead of the natural end.
    ///
    /// # Errors
    /// [`RunFlowError`], with the activation, when the receipt is for another commit.
    pub fn committed(
        self,
        receipt: Receipt,
        action: Option<FinalReason>,
        waiting: Vec<String>,
    ) -> Result<AfterAssistant, (Self, RunFlowError)> {
        if let Some(reason) = action {
            return match self.halt(Halt::new(receipt, reason)) {
                Ok(flow) => Ok(AfterAssistant::Terminate(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            };
        }
        if self.turn().calls.is_empty() {
            match self.finish(Finish::new(receipt).with_waiting_calls(waiting)) {
                Ok(flow) => Ok(AfterAssistant::NaturalEnd(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        } else {
            match self.call_tools(CallTools::new(receipt)) {
                Ok(flow) => Ok(AfterAssistant::ToolRound(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        }
    }
}

/// The state of an activation after a committed answer.
#[derive(Debug)]
pub enum AfterAssistant {
    /// The requested end.
    Terminate(RunFlow<Terminate>),
    /// The natural end.
    NaturalEnd(RunFlow<NaturalEnd>),
    /// The tool round.
    ToolRound(RunFlow<ToolRound>),
}

impl RunFlow<CommitReplay0> {
    /// Continues after the commit of the replay at the start. `waiting` are the trace names of the suspended calls
    /// that the activation must wait for.
    ///
    /// # Errors
    /// [`RunFlowError`], with the activation, when the receipt is for another commit.
    pub fn committed(
        self,
        receipt: Receipt,
        waiting: Vec<String>,
    ) -> Result<AfterReplay0, (Self, RunFlowError)> {
        if waiting.is_empty() {
            match self.commit(Commit::new(receipt)) {
                Ok(flow) => Ok(AfterReplay0::LoopTop(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        } else {
            match self.stay(Stay::new(receipt, waiting)) {
                Ok(flow) => Ok(AfterReplay0::Suspended(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        }
    }
}

/// The state of an activation after the replay at its start.
#[derive(Debug)]
pub enum AfterReplay0 {
    /// The top of the loop.
    LoopTop(RunFlow<LoopTop>),
    /// Another wait.
    Suspended(RunFlow<Suspended>),
}

impl RunFlow<StepPrepare> {
    /// Continues to the call of the model, unless an end was requested.
    pub fn prepared(self) -> Prepared {
        match self.infer(Infer) {
            Ok(flow) => Prepared::LlmCall(flow),
            Err(rejected) => {
                let reason = rejected.machine.record().stopping().cloned();
                let stop = Stop::new(reason.unwrap_or(FinalReason::BEHAVIOR_REQUESTED));
                Prepared::Terminate(rejected.machine.stop(stop))
            }
        }
    }
}

/// The state of an activation after a prepared step.
#[derive(Debug)]
pub enum Prepared {
    /// The call of the model.
    LlmCall(RunFlow<LlmCall>),
    /// The requested end.
    Terminate(RunFlow<Terminate>),
}

impl RunFlow<ToolRound> {
    /// The answer with the calls of this round.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// Requests the end after this round. The first request takes precedence.
    pub fn request_stop(&mut self, reason: FinalReason) {
        self.record_mut().stopping.get_or_insert(reason);
    }
}

macro_rules! windows {
    ($($State:ident),+) => { $(
        impl RunFlow<$State> {
            /// Opens a window: a gate inside this state, for decisions that arrive while the model answers or calls
            /// execute. Each of its passes has a commit of its own.
            pub fn window(&mut self) -> Gate {
                let gate = self.record_mut().next_gate();
                Gate::of_flow(self.record().identity(), gate, 1)
            }
        }
    )+ };
}
windows!(LlmCall, ToolRound);

impl RunFlow<CommitTool> {
    /// The outcomes of the calls of the round.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.state().outcomes
    }
}

impl RunFlow<ResumeAfterTool> {
    /// The outcomes of the calls of the round before the gate.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.state().outcomes
    }

    /// Continues after the gate. `waiting` are the trace names of the suspended calls that the activation must wait
    /// for.
    ///
    /// # Errors
    /// [`RunFlowError`], with the activation, when the proof is of another gate.
    pub fn passed(self, gate: GatePassed, waiting: Vec<String>) -> Result<AfterTools, (Self, RunFlowError)> {
        if waiting.is_empty() {
            match self.next(Next::new(gate)) {
                Ok(flow) => Ok(AfterTools::LoopTop(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        } else {
            match self.park(Park::new(gate, waiting)) {
                Ok(flow) => Ok(AfterTools::Suspended(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            }
        }
    }
}

/// The state of an activation after a tool round.
#[derive(Debug)]
pub enum AfterTools {
    /// The next step.
    LoopTop(RunFlow<LoopTop>),
    /// A wait.
    Suspended(RunFlow<Suspended>),
}

impl RunFlow<Terminate> {
    /// The reason of the end.
    pub fn reason(&self) -> &TerminationReason {
        self.state().reason.get()
    }
}

impl RunFlow<NaturalEnd> {
    /// The trace names of the calls of earlier answers that are still suspended.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<Suspended> {
    /// The trace names of the suspended calls; at least one.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<Error> {
    /// The error message of the runtime.
    pub fn message(&self) -> &str {
        &self.state().message
    }
}

impl RunFlow<RunEnd> {
    /// The reason of the end.
    pub fn reason(&self) -> &TerminationReason {
        &self.state().reason
    }

    /// The trace names of the suspended calls.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<CommitFinished> {
    /// The reason of the end.
    pub fn reason(&self) -> &TerminationReason {
        &self.state().reason
    }

    /// The trace names of the suspended calls.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }

    /// Takes the receipt for the last commit, which completes the activation.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the activation, when the receipt is for another commit: the caller can commit again.
    pub fn committed(
        self,
        receipt: &Receipt,
    ) -> Result<(Retired<FlowRecord>, TerminationReason), (Self, WrongReceipt)> {
        match self.due().is_met_by(receipt) {
            Ok(()) => {
                let (record, state) = self.into_parts();
                Ok((record, state.reason))
            }
            Err(wrong) => Err((self, wrong)),
        }
    }
}
