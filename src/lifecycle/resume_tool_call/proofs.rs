//! What a drained gate leaves in the hand.

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::states::CommitReplay;
use super::{DrainDecisionChannel, GateRecord, NoDecision, ResumeToolCall};
use crate::kernel::Observer;

impl ResumeToolCall<CommitReplay> {
    /// Did the replay change run state?
    pub fn changed(&self) -> bool {
        self.state().changed
    }

    /// The next pass through the same gate, which remembers that something was replayed.
    pub fn drain_on(self, observer: Observer) -> ResumeToolCall<DrainDecisionChannel> {
        let (record, _) = self.into_parts();
        ResumeToolCall::new(GateRecord { gate: record.gate, pass: record.pass + 1, replayed: true, observer })
    }
}

impl ResumeToolCall<NoDecision> {
    /// The gate is drained: the proof of it.
    pub fn drained(self) -> Drained {
        let (record, NoDecision) = self.into_parts();
        if record.replayed {
            let due = Due::of_gate(Trigger::ToolResultsCommitted, record.gate, record.pass);
            Drained::Replayed(Replayed { gate: record.gate, due })
        } else {
            Drained::Nothing(NothingReplayed { gate: record.gate })
        }
    }
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
        match self {
            Drained::Nothing(nothing) => nothing.gate,
            Drained::Replayed(replayed) => replayed.gate,
        }
    }
}

/// Proof that a gate was drained and that nothing was replayed in it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct NothingReplayed {
    pub(in crate::lifecycle) gate: u64,
}

/// Proof that a gate was drained, with effects that are to be committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the effects of the replay wait to be committed"]
pub struct Replayed {
    pub(super) gate: u64,
    due: Due,
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
            Ok(()) => Ok(GatePassed { gate: self.gate }),
            Err(wrong) => Err((self, wrong)),
        }
    }
}

/// Proof that a gate was drained and what it replayed was committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct GatePassed {
    pub(in crate::lifecycle) gate: u64,
}

impl From<NothingReplayed> for GatePassed {
    fn from(nothing: NothingReplayed) -> Self {
        GatePassed { gate: nothing.gate }
    }
}
