//! A gate that is drained: what it gives out and takes back.

use std::error::Error;
use std::fmt;

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::super::nonce::Nonce;
use super::proofs::{Drained, GateOf, NothingReplayed, Replayed};
use super::states::CommitReplay;
use super::{DrainDecisionChannel, GateRecord, NoDecision, ResumeToolCall};
use crate::kernel::Observer;

/// A gate that is being drained: it gives out its passes, several at once if need be, and takes them back.
///
/// It is drained by a last look: a pass that was given out when no other was under way, and that found nothing. So what a
/// replay left behind, or what came in while it executed, is looked at too.
///
/// ```
/// use runstate::kernel::Observer;
/// use runstate::resume_tool_call::{Drained, FindNothing, Gate};
///
/// let mut gate = Gate::alone(1);
/// let pass = gate.pass(Observer::default());
/// let Ok(Drained::Nothing(_)) = gate.drained(pass.find_nothing(FindNothing)) else { panic!("nothing came in") };
///
/// // While a pass is out the gate is not drained; gate and pass come back, and nothing changed.
/// let mut gate = Gate::alone(2);
/// let out = gate.pass(Observer::default());
/// let look = gate.pass(Observer::default());
/// let (mut gate, look, error) = gate.drained(look.find_nothing(FindNothing)).unwrap_err();
/// assert_eq!(error.to_string(), "1 pass through gate 2 is still under way");
///
/// // Both come back to their gate, which is then looked at once more.
/// gate.rejoin(out.find_nothing(FindNothing)).unwrap();
/// gate.rejoin(look).unwrap();
/// let last = gate.pass(Observer::default());
/// assert!(gate.drained(last.find_nothing(FindNothing)).is_ok());
/// ```
#[derive(Debug)]
#[must_use = "the run flow waits at its gate until it is drained"]
pub struct Gate {
    of: GateOf,
    /// Tells it from other openings of the same gate.
    nonce: Nonce,
    /// How many passes were given out.
    passes: u64,
    /// How many of them are under way.
    out: u64,
    /// The newest pass that was given out beside another, or before another was replayed: it and all before it are no last
    /// look.
    looks_before: u64,
    replayed: bool,
}

impl Gate {
    /// The gate of that number, of no activation. For the gate of an activation, whose proof that activation takes, see
    /// [`RunFlow::gate`](crate::run_flow::RunFlow::gate).
    pub fn alone(number: u64) -> Self {
        Self::of_flow(0, number, 1)
    }

    /// A gate of an activation, opened for the first time, or again: then it can be gone through, but never be drained.
    pub(in crate::lifecycle) fn of_flow(flow: u64, gate: u64, opening: u32) -> Self {
        let of = GateOf { flow, gate, opening };
        Gate { of, nonce: Nonce::default(), passes: 0, out: 0, looks_before: 0, replayed: false }
    }

    /// The number of the gate.
    pub fn number(&self) -> u64 {
        self.of.gate
    }

    /// The number of the next pass, from 1.
    pub fn next_pass(&self) -> u64 {
        self.passes + 1
    }

    /// How many passes are under way.
    pub fn under_way(&self) -> u64 {
        self.out
    }

    /// The next pass.
    pub fn pass(&mut self, observer: Observer) -> ResumeToolCall<DrainDecisionChannel> {
        self.passes += 1;
        if self.out > 0 {
            self.looks_before = self.passes;
        }
        self.out += 1;
        ResumeToolCall::new(GateRecord::given_out(self.of, self.passes, self.nonce).observed(observer))
    }

    /// Takes a pass back that came to its end. What it replayed is committed with the rest of the gate.
    ///
    /// # Errors
    /// [`NotDrained::OtherGate`], with the pass, when this gate did not give it out.
    pub fn rejoin(&mut self, done: impl Into<EndedPass>) -> Result<(), (EndedPass, NotDrained)> {
        let done = done.into();
        if let Err(error) = self.gave_out(done.record()) {
            return Err((done, error));
        }
        self.out -= 1;
        if matches!(done, EndedPass::Replayed(_)) {
            self.replayed = true;
            self.looks_before = self.passes;
        }
        Ok(())
    }

    /// Takes a pass back that was committed by itself, so that the gate owes no commit for it: one that a window let
    /// through.
    ///
    /// # Errors
    /// [`NotDrained`], with the pass, when this gate did not give it out or the receipt is for another commit.
    pub fn rejoin_committed(
        &mut self,
        done: ResumeToolCall<CommitReplay>,
        receipt: &Receipt,
    ) -> Result<(), (ResumeToolCall<CommitReplay>, NotDrained)> {
        let met = || done.due().is_met_by(receipt).map_err(NotDrained::Receipt);
        if let Err(error) = self.gave_out(done.record()).and_then(|()| met()) {
            return Err((done, error));
        }
        self.out -= 1;
        self.looks_before = self.passes;
        Ok(())
    }

    /// The gate is drained, by a last look that found nothing: the proof of it.
    ///
    /// # Errors
    /// [`NotDrained`], with gate and pass as they were, while another pass is under way, when `last` was given out while
    /// one was, or is of another gate.
    pub fn drained(self, last: ResumeToolCall<NoDecision>) -> Result<Drained, Undrained> {
        if let Err(error) = self.is_drained_by(last.record()) {
            return Err((self, last, error));
        }
        Ok(if self.replayed {
            // After all passes, so that the commit that one of them made by itself is not taken for it.
            let due = Due::of_gate(Trigger::ToolResultsCommitted, self.of.gate, self.passes + 1);
            Drained::Replayed(Replayed { of: self.of, due: due.within(self.nonce.number()) })
        } else {
            Drained::Nothing(NothingReplayed(self.of))
        })
    }

    fn is_drained_by(&self, last: &GateRecord) -> Result<(), NotDrained> {
        self.gave_out(last)?;
        let gate = self.of.gate;
        if self.of.opening > 1 {
            return Err(NotDrained::OpenedBefore { gate });
        }
        if self.out > 1 {
            return Err(NotDrained::UnderWay { gate, passes: self.out - 1 });
        }
        if last.pass <= self.looks_before {
            return Err(NotDrained::LookAgain { gate, pass: last.pass });
        }
        Ok(())
    }

    fn gave_out(&self, pass: &GateRecord) -> Result<(), NotDrained> {
        if pass.gate != self.of.gate {
            return Err(NotDrained::OtherGate { got: pass.gate, expected: self.of.gate });
        }
        if pass.nonce.number() != self.nonce.number() || pass.pass > self.passes || self.out == 0 {
            return Err(NotDrained::NotGivenOut { gate: pass.gate, pass: pass.pass });
        }
        Ok(())
    }
}

/// A gate that is not drained and the pass that did not prove it, both as they were, and why.
pub type Undrained = (Gate, ResumeToolCall<NoDecision>, NotDrained);

/// A pass that came to its end.
#[derive(Debug)]
pub enum EndedPass {
    /// It found no decision.
    FoundNothing(ResumeToolCall<NoDecision>),
    /// It replayed a call.
    Replayed(ResumeToolCall<CommitReplay>),
}

impl EndedPass {
    fn record(&self) -> &GateRecord {
        match self {
            EndedPass::FoundNothing(pass) => pass.record(),
            EndedPass::Replayed(pass) => pass.record(),
        }
    }
}

impl From<ResumeToolCall<NoDecision>> for EndedPass {
    fn from(pass: ResumeToolCall<NoDecision>) -> Self {
        EndedPass::FoundNothing(pass)
    }
}

impl From<ResumeToolCall<CommitReplay>> for EndedPass {
    fn from(pass: ResumeToolCall<CommitReplay>) -> Self {
        EndedPass::Replayed(pass)
    }
}

/// Why a gate is not drained, or does not take a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDrained {
    /// Other passes are under way.
    UnderWay {
        /// The number of the gate.
        gate: u64,
        /// How many.
        passes: u64,
    },
    /// The receipt is for another commit than that of the pass.
    Receipt(WrongReceipt),
    /// The pass looked while another was under way, or before another replayed its call.
    LookAgain {
        /// The number of the gate.
        gate: u64,
        /// The number of the pass.
        pass: u64,
    },
    /// The pass is of another gate.
    OtherGate {
        /// The number of its gate.
        got: u64,
        /// The number of this gate.
        expected: u64,
    },
    /// The pass bears the gate's number, but this gate did not give it out: it came from storage, or from another
    /// [`Gate`] of that number.
    NotGivenOut {
        /// The number of the gate.
        gate: u64,
        /// The number of the pass.
        pass: u64,
    },
    /// The activation opened this gate before, and this one does not know what went through that.
    OpenedBefore {
        /// The number of the gate.
        gate: u64,
    },
}

impl fmt::Display for NotDrained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotDrained::UnderWay { gate, passes: 1 } => {
                write!(f, "1 pass through gate {gate} is still under way")
            }
            NotDrained::UnderWay { gate, passes } => {
                write!(f, "{passes} passes through gate {gate} are still under way")
            }
            NotDrained::Receipt(wrong) => wrong.fmt(f),
            NotDrained::LookAgain { gate, pass } => write!(
                f,
                "pass {pass} through gate {gate} looked while another was under way: rejoin it and look again"
            ),
            NotDrained::OtherGate { got, expected } if got == expected => {
                write!(f, "the pass is of a gate {got} of another activation")
            }
            NotDrained::OtherGate { got, expected } => {
                write!(f, "the pass is of gate {got}, where gate {expected} is drained")
            }
            NotDrained::NotGivenOut { gate, pass } => {
                write!(f, "pass {pass} through gate {gate} was not given out by this gate")
            }
            NotDrained::OpenedBefore { gate } => {
                write!(f, "gate {gate} was opened before: drain the one that was")
            }
        }
    }
}

impl Error for NotDrained {}
