//! Reading the states of an activation, and its branches as sums of their legal successors.
#![expect(clippy::result_large_err, reason = "a refusal hands the activation back by value")]

use std::sync::Arc;

use super::super::checkpoint::{Due, Receipt, WrongReceipt};
use super::super::resume_tool_call::{Gate, GateOf, GatePassed};
use super::super::termination::{FinalReason, TerminationReason};
use super::super::turn::Turn;
use super::events::{CallTools, Commit, Finish, Halt, Next, Park, Stay, Stop};
use super::guards::Unmet;
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
            /// The commit that is due.
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
            /// Opens the gate that the activation stands at. It is opened once: a later opening cannot be drained, and with it
            /// no proof of the first one is taken any more, so that the activation can only fail.
            pub fn gate(&mut self) -> Gate {
                let state = self.state_mut();
                state.openings = state.openings.saturating_add(1);
                Gate::of_flow(self.record().identity(), self.state().gate, self.state().openings)
            }

            /// The number of that gate.
            pub fn gate_number(&self) -> u64 {
                self.state().gate
            }

            /// Asks for the end before the next step; the first to ask is heard.
            pub fn request_stop(&mut self, reason: FinalReason) {
                self.record_mut().stopping.get_or_insert(reason);
            }
        }
    )+ };
}
gated!(ResumeReplay0, ResumeToolCall, ResumeAfterTool);

impl RunFlow<ResumeToolCall> {
    /// Passes the gate unopened, for an activation that is to end: it replays nothing more, and its only way on from
    /// `StepPrepare` is the end.
    ///
    /// # Errors
    /// [`Unmet::NotStopping`] when nothing asked for the end, [`Unmet::GateOpened`] when the gate was opened: what was
    /// replayed behind it is owed a commit.
    pub fn pass_to_stop(&self) -> Result<GatePassed, Unmet> {
        if self.record().stopping().is_none() {
            return Err(Unmet::NotStopping);
        }
        let ResumeToolCall { gate, openings } = *self.state();
        if openings > 0 {
            return Err(Unmet::GateOpened { gate });
        }
        Ok(GatePassed(GateOf { flow: self.record().identity(), gate, opening: openings }))
    }
}

impl RunFlow<LlmCall> {
    /// The step, from 1.
    pub fn step(&self) -> u32 {
        self.state().step
    }
}

impl RunFlow<AfterInference> {
    /// What the model answered.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// Changes the answer before it is applied: a plugin may.
    pub fn turn_mut(&mut self) -> &mut Turn {
        Arc::make_mut(&mut self.state_mut().turn)
    }
}

impl RunFlow<CommitAssistant> {
    /// What the model answered.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// Goes on after the answer was committed: to the end if `action` is one or if there are no calls, else to them.
    /// `waiting` are the calls of earlier answers, as they are named in traces, that still wait; with them the natural
    /// end is a wait.
    ///
    /// # Errors
    /// [`Unmet`], with the activation, when the receipt is for another commit.
    pub fn committed(
        self,
        receipt: Receipt,
        action: Option<FinalReason>,
        waiting: Vec<String>,
    ) -> Result<AfterAssistant, (Self, Unmet)> {
        if let Some(reason) = action {
            return match self.halt(Halt::new(receipt, reason)) {
                Ok(flow) => Ok(AfterAssistant::Terminate(flow)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            };
        }
        if self.turn().calls.is_empty() {
            match self.finish(Finish::new(receipt).while_waiting_for(waiting)) {
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

/// Where an activation goes after a committed answer.
#[derive(Debug)]
pub enum AfterAssistant {
    /// To the end that was asked for.
    Terminate(RunFlow<Terminate>),
    /// To the natural end.
    NaturalEnd(RunFlow<NaturalEnd>),
    /// To the calls.
    ToolRound(RunFlow<ToolRound>),
}

impl RunFlow<CommitReplay0> {
    /// Goes on after the replay at the start was committed: `waiting` are the calls, as they are named in traces, that
    /// the activation must wait for.
    ///
    /// # Errors
    /// [`Unmet`], with the activation, when the receipt is for another commit.
    pub fn committed(self, receipt: Receipt, waiting: Vec<String>) -> Result<AfterReplay0, (Self, Unmet)> {
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

/// Where an activation goes after the replay at its start.
#[derive(Debug)]
pub enum AfterReplay0 {
    /// Into the loop.
    LoopTop(RunFlow<LoopTop>),
    /// To wait again.
    Suspended(RunFlow<Suspended>),
}

impl RunFlow<StepPrepare> {
    /// Asks the model, unless something asked for the end.
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

/// Where an activation goes from a prepared step.
#[derive(Debug)]
pub enum Prepared {
    /// To the model.
    LlmCall(RunFlow<LlmCall>),
    /// To the end that was asked for.
    Terminate(RunFlow<Terminate>),
}

impl RunFlow<ToolRound> {
    /// The answer whose calls these are.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.state().turn
    }

    /// Asks for the end after this round; the first to ask is heard.
    pub fn request_stop(&mut self, reason: FinalReason) {
        self.record_mut().stopping.get_or_insert(reason);
    }
}

macro_rules! windows {
    ($($State:ident),+) => { $(
        impl RunFlow<$State> {
            /// A gate that opens in the middle of this state, for decisions that come in while something else is under
            /// way (document 000, "Stream"). Each of its passes is committed by itself.
            pub fn window(&mut self) -> Gate {
                let gate = self.record_mut().next_gate();
                Gate::of_flow(self.record().identity(), gate, 1)
            }
        }
    )+ };
}
windows!(LlmCall, ToolRound);

impl RunFlow<CommitTool> {
    /// How the calls of the round stand.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.state().outcomes
    }
}

impl RunFlow<ResumeAfterTool> {
    /// How the calls of the round stood before the gate.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.state().outcomes
    }

    /// Goes on after the gate: `waiting` are the calls, as they are named in traces, that the activation must wait for.
    ///
    /// # Errors
    /// [`Unmet`], with the activation, when the proof is of another gate.
    pub fn passed(self, gate: GatePassed, waiting: Vec<String>) -> Result<AfterTools, (Self, Unmet)> {
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

/// Where an activation goes after a tool round.
#[derive(Debug)]
pub enum AfterTools {
    /// To the next step.
    LoopTop(RunFlow<LoopTop>),
    /// To wait.
    Suspended(RunFlow<Suspended>),
}

impl RunFlow<Terminate> {
    /// Why the activation ends.
    pub fn reason(&self) -> &TerminationReason {
        self.state().reason.get()
    }
}

impl RunFlow<NaturalEnd> {
    /// The calls of earlier answers that still wait, as they are named in traces.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<Suspended> {
    /// The calls that wait, as they are named in traces; at least one.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<Error> {
    /// How the runtime failed.
    pub fn message(&self) -> &str {
        &self.state().message
    }
}

impl RunFlow<RunEnd> {
    /// Why the activation ends.
    pub fn reason(&self) -> &TerminationReason {
        &self.state().reason
    }

    /// The calls that wait, as they are named in traces.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }
}

impl RunFlow<CommitFinished> {
    /// Why the activation ends.
    pub fn reason(&self) -> &TerminationReason {
        &self.state().reason
    }

    /// The calls that wait, as they are named in traces.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }

    /// Takes the receipt for the last commit, after which the activation is over.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the activation, when it is for another commit: the caller can commit again.
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
