//! What a drained gate leaves in the hand.

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::ResumeToolCall;
use super::states::CommitReplay;

impl ResumeToolCall<CommitReplay> {
    /// Did the replay change run state?
    pub fn changed(&self) -> bool {
        self.state().changed
    }

    /// The commit of this pass alone, where it is not committed with the rest of its gate.
    pub fn due(&self) -> Due {
        let record = self.record();
        Due::of_gate(Trigger::ToolResultsCommitted, record.gate, record.pass).within(record.nonce.number())
    }
}

/// Which gate of which flow a proof is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lifecycle) struct GateOf {
    pub(in crate::lifecycle) flow: u64,
    pub(in crate::lifecycle) gate: u64,
    /// The number of its opening, from 1; 0 where it was passed unopened. A proof of an earlier opening proves nothing.
    pub(in crate::lifecycle) opening: u32,
}

/// A gate whose last pass found nothing.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub enum Drained {
    /// Nothing was replayed.
    Nothing(NothingReplayed),
    /// Something was, and a commit is due.
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

/// Proof that a gate was drained and that nothing was replayed in it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct NothingReplayed(pub(in crate::lifecycle) GateOf);

/// Proof that a gate was drained, with effects that are to be committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the effects of the replay wait to be committed"]
pub struct Replayed {
    pub(super) of: GateOf,
    pub(super) due: Due,
}

impl Replayed {
    /// The commit that is due inside the loop. (At the start of an activation the flow's own commit takes its place.)
    pub fn due(&self) -> Due {
        self.due
    }

    /// The effects were committed.
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

/// Proof that a gate was drained and what it replayed was committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct GatePassed(pub(in crate::lifecycle) GateOf);

impl From<NothingReplayed> for GatePassed {
    fn from(nothing: NothingReplayed) -> Self {
        GatePassed(nothing.0)
    }
}
