//! The proofs of a drained gate.

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::ResumeToolCall;
use super::states::CommitReplay;

impl ResumeToolCall<CommitReplay> {
    /// Returns whether the replay changed the run state.
    pub fn changed(&self) -> bool {
        self.state().changed
    }

    /// The pending commit of this pass alone, where the commit of its gate does not cover it.
    pub fn due(&self) -> Due {
        let record = self.record();
        Due::of_gate(Trigger::ToolResultsCommitted, record.gate, record.pass).within(record.nonce.number())
    }
}

/// The gate and flow of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lifecycle) struct GateOf {
    pub(in crate::lifecycle) flow: u64,
    pub(in crate::lifecycle) gate: u64,
    /// The number of the opening, from 1; 0 for a gate that was passed unopened. A proof of an earlier opening is not
    /// valid.
    pub(in crate::lifecycle) opening: u32,
}

/// A drained gate, after a drain check without a decision.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub enum Drained {
    /// No call was replayed.
    Nothing(NothingReplayed),
    /// Calls were replayed, and a commit is pending.
    Replayed(Replayed),
}

impl Drained {
    /// The number of the gate.
    pub fn gate(&self) -> u64 {
        self.of().gate
    }

    pub(in crate::lifecycle) fn of(&self) -> GateOf {
        match self {
            Drained::Nothing(nothing) => nothing.0,
            Drained::Replayed(replayed) => replayed.of,
        }
    }
}

/// Proof that a gate was drained without a replay.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct NothingReplayed(pub(in crate::lifecycle) GateOf);

/// Proof that a gate was drained, with effects that need a commit.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the effects of the replay wait to be committed"]
pub struct Replayed {
    pub(super) of: GateOf,
    pub(super) due: Due,
}

impl Replayed {
    /// The pending commit inside the loop. At the start of an activation, the flow's own commit replaces it.
    pub fn due(&self) -> Due {
        self.due
    }

    /// Exchanges the receipt of the commit for the proof that the gate was passed.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the proof, when the receipt is for another commit.
    pub fn committed(self, receipt: Receipt) -> Result<GatePassed, (Self, WrongReceipt)> {
        match self.due.is_met_by(&receipt) {
            Ok(()) => Ok(GatePassed(self.of)),
            Err(wrong) => Err((self, wrong)),
        }
    }
}

/// Proof that a gate was drained and its replays were committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct GatePassed(pub(in crate::lifecycle) GateOf);

impl From<NothingReplayed> for GatePassed {
    fn from(nothing: NothingReplayed) -> Self {
        GatePassed(nothing.0)
    }
}
