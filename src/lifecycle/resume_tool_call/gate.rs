//! The resume gate: it hands out passes and takes them back.

use std::error::Error;
use std::fmt;

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::super::nonce::Nonce;
use super::proofs::{Drained, GateOf, NothingReplayed, Replayed};
use super::states::CommitReplay;
use super::{DrainDecisionChannel, GateRecord, NoDecision, ResumeToolCall};
use crate::kernel::Observer;

/// A gate in the course of its drain. It hands out passes, several at once if needed, and takes them back.
///
/// A drain check ends the drain: a pass that the gate handed out while no other pass was in progress, and that found
/// no decision. So the check also covers the leftovers of a replay, and decisions that arrived during the replay.
///
/// ```
/// use runstate::kernel::Observer;
/// use runstate::resume_tool_call::{Drained, FindNothing, Gate};
///
/// let mut gate = Gate::alone(1);
/// let pass = gate.pass(Observer::default());
/// let Ok(Drained::Nothing(_)) = gate.drained(pass.find_nothing(FindNothing)) else { panic!("nothing came in") };
///
/// // A pass in progress keeps the gate open. Gate and pass come back unchanged.
/// let mut gate = Gate::alone(2);
/// let out = gate.pass(Observer::default());
/// let look = gate.pass(Observer::default());
/// let (mut gate, look, error) = gate.drained(look.find_nothing(FindNothing)).unwrap_err();
/// assert_eq!(error.to_string(), "1 pass through gate 2 is still under way");
///
/// // Both passes return to their gate, and a new drain check follows.
/// gate.rejoin(out.find_nothing(FindNothing)).unwrap();
/// gate.rejoin(look).unwrap();
/// let last = gate.pass(Observer::default());
/// assert!(gate.drained(last.find_nothing(FindNothing)).is_ok());
/// ```
#[derive(Debug)]
#[must_use = "the run flow waits at its gate until it is drained"]
pub struct Gate {
    of: GateOf,
    /// Distinguishes this opening from other openings of the gate.
    nonce: Nonce,
    /// The number of passes handed out.
    passes: u64,
    /// The number of passes in progress.
    out: u64,
    /// The newest pass that was handed out beside another pass, or before another pass was replayed. This pass and
    /// all earlier passes are no drain check.
    looks_before: u64,
    replayed: bool,
}

impl Gate {
    /// Makes a gate with that number, outside of any activation. [`RunFlow::gate`](crate::run_flow::RunFlow::gate)
    /// makes the gate of an activation, which accepts the proof of that gate.
    pub fn alone(number: u64) -> Self {
        Self::of_flow(0, number, 1)
    }

    /// Makes a gate of an activation. A later opening than the first can hand out passes, but cannot be drained.
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

    /// The number of passes in progress.
    pub fn under_way(&self) -> u64 {
        self.out
    }

    /// Hands out the next pass.
    pub fn pass(&mut self, observer: Observer) -> ResumeToolCall<DrainDecisionChannel> {
        self.passes += 1;
        if self.out > 0 {
            self.looks_before = self.passes;
        }
        self.out += 1;
        ResumeToolCall::new(GateRecord::given_out(self.of, self.passes, self.nonce).observed(observer))
    }

    /// Takes back a finished pass. The commit of the gate covers its replay.
    ///
    /// # Errors
    /// [`NotDrained::OtherGate`] or [`NotDrained::NotGivenOut`], with the pass, when this gate did not hand it out.
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

    /// Takes back a pass that has a commit of its own, so that the gate owes no commit for it. A window uses it.
    ///
    /// # Errors
    /// [`NotDrained`], with the pass, when this gate did not hand it out or the receipt is for another commit.
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

    /// Drains the gate by a drain check that found no decision, and returns the proof.
    ///
    /// # Errors
    /// [`NotDrained`], with gate and pass unchanged, while another pass is in progress, when `last` was handed out
    /// beside another pass or before a replay, when `last` is of another gate, or when the gate was opened before.
    pub fn drained(self, last: ResumeToolCall<NoDecision>) -> Result<Drained, Undrained> {
        if let Err(error) = self.is_drained_by(last.record()) {
            return Err((self, last, error));
        }
        Ok(if self.replayed {
            // The number follows the numbers of all passes, so that the commit of a single pass cannot pass for this
            // commit.
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

/// A gate that is not drained, its pass, both unchanged, and the reason.
pub type Undrained = (Gate, ResumeToolCall<NoDecision>, NotDrained);

/// A finished pass.
#[derive(Debug)]
pub enum EndedPass {
    /// The pass found no decision.
    FoundNothing(ResumeToolCall<NoDecision>),
    /// The pass replayed a call.
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

/// The reason why a gate is not drained, or refuses a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDrained {
    /// Other passes are in progress.
    UnderWay {
        /// The number of the gate.
        gate: u64,
        /// The number of passes in progress.
        passes: u64,
    },
    /// The receipt is for another commit than the commit of the pass.
    Receipt(WrongReceipt),
    /// The gate handed out the pass beside another pass, or before another pass replayed its call.
    LookAgain {
        /// The number of the gate.
        gate: u64,
        /// The number of the pass.
        pass: u64,
    },
    /// The pass is of another gate.
    OtherGate {
        /// The number of the pass's gate.
        got: u64,
        /// The number of this gate.
        expected: u64,
    },
    /// The pass has the gate's number, but this gate did not hand it out. It came from storage, or from another
    /// [`Gate`] with that number.
    NotGivenOut {
        /// The number of the gate.
        gate: u64,
        /// The number of the pass.
        pass: u64,
    },
    /// The activation opened this gate before. This opening has no record of the earlier replays.
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
                write!(f, "gate {gate} was opened before: drain the earlier opening")
            }
        }
    }
}

impl Error for NotDrained {}
