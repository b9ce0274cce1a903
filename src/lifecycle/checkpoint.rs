//! Commits that a lifecycle owes, and the proof that one was made (document 000, "Checkpoint Triggers").

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What made a commit due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Trigger {
    /// The side effects of RunStart are applied.
    UserMessage,
    /// The model's answer is applied.
    AssistantTurnCommitted,
    /// The results of a tool round, or of replayed calls, are applied.
    ToolResultsCommitted,
    /// The activation ended, whatever the reason. Always forced.
    RunFinished,
    /// A decision was accepted; its replay has not begun (beside the document's six, so that no decision is lost).
    DecisionAccepted,
    /// A call asked while others execute (beside the document's six, so that its question can be decided: a question that is not
    /// committed is not shown).
    QuestionAsked,
    /// A round begins with a tool that must not run twice (beside the document's six, so that no effect is repeated).
    CallsStarted,
}

impl Trigger {
    /// Must this be written even where a committer saves writes?
    pub fn is_forced(self) -> bool {
        self == Trigger::RunFinished
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A commit that a state owes: the state has no way on but with the [`Receipt`] for it, or a failure.
///
/// It is read from a state that owes it, or handed to a committer with the commit; it cannot be made up. It can be copied, and each
/// copy can be given a receipt: all of them are of this one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Due {
    /// The value in memory that owes it, by its number; 0 in stored data.
    owner: u64,
    trigger: Trigger,
    gate: Option<u64>,
    number: u64,
}

/// A [`Due`] within the stored data of its state, which alone may be written and read.
pub(super) mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Due, Trigger};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct StoredDue {
        trigger: Trigger,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<u64>,
        number: u64,
    }

    pub(in crate::lifecycle) fn serialize<S: Serializer>(
        due: &Due,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        StoredDue { trigger: due.trigger, gate: due.gate, number: due.number }.serialize(serializer)
    }

    pub(in crate::lifecycle) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Due, D::Error> {
        let StoredDue { trigger, gate, number } = StoredDue::deserialize(deserializer)?;
        Ok(Due { owner: 0, trigger, gate, number })
    }
}

impl Due {
    /// The commit of that number that the flow itself owes.
    pub(super) fn of_flow(trigger: Trigger, number: u64) -> Self {
        Due { owner: 0, trigger, gate: None, number }
    }

    /// The commit of that number that a gate owes; gates are counted from 1.
    pub(super) fn of_gate(trigger: Trigger, gate: u64, number: u64) -> Self {
        Due { owner: 0, trigger, gate: Some(gate), number }
    }

    /// The same, owed by that flow, gate or run in memory.
    pub(super) fn within(self, owner: u64) -> Self {
        Due { owner, ..self }
    }

    /// What made it due.
    pub fn trigger(self) -> Trigger {
        self.trigger
    }

    /// Its place among the commits of the flow, or of its gate, from 1; 0 for the commit that a run itself owes at its end.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Does this receipt prove this commit?
    pub(super) fn is_met_by(self, receipt: &Receipt) -> Result<(), WrongReceipt> {
        if self == receipt.0 { Ok(()) } else { Err(WrongReceipt { got: receipt.0, expected: self }) }
    }
}

impl fmt::Display for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "commit {} ({})", self.number, self.trigger)?;
        match self.gate {
            Some(gate) => write!(f, " of gate {gate}"),
            None => Ok(()),
        }
    }
}

/// Proof that [`commit`], or one of its two sisters, was called for what this very flow, gate or run owes. It does not prove
/// that a disk was written: the closure says so, and [`without_committer`] writes nothing.
///
/// Most moves that need one use it up; those that only look at it take a reference, and of one receipt one machine moves. It cannot be copied
/// (another one can be made of the same [`Due`]), and it does not fit another flow, also not one of a run of the same
/// id, nor the same flow after it came back from storage.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the state that owed this commit waits for its receipt"]
pub struct Receipt(Due);

/// Makes a commit with `write`, and gives the receipt for it.
///
/// ```
/// use runstate::checkpoint::{commit, without_committer};
/// use runstate::run::{Run, RunRecord};
/// use runstate::run_flow::{Begin, Close, Commit, Fail, FlowRecord, RunFlow, WindUp};
///
/// let run = Run::new(RunRecord::new("r1"));
/// let start = || RunFlow::new(FlowRecord::new(&run, 0));
/// let flow = start().begin(Begin);
/// // The only way on from here needs the receipt, which a write that fails does not give.
/// assert_eq!(commit(flow.due(), |_| Err("no disk")), Err("no disk"));
/// let receipt = commit(flow.due(), |_| Ok::<(), &str>(()))?;
/// let flow = flow.commit(Commit::new(receipt))?;
///
/// // A receipt for another commit is refused, and the activation stays where it is.
/// let other = start().fail(Fail::new("no disk")).wind_up(WindUp).close(Close);
/// let receipt = without_committer(start().begin(Begin).due());
/// let (other, wrong) = other.committed(&receipt).unwrap_err();
/// assert_eq!(wrong.to_string(), "the receipt is for commit 1 (UserMessage), where commit 1 (RunFinished) is due");
/// # let _ = (flow, other);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `write`.
pub fn commit<E>(due: Due, write: impl FnOnce(Due) -> Result<(), E>) -> Result<Receipt, E> {
    write(due)?;
    Ok(Receipt(due))
}

/// [`commit`] with a write that is awaited.
///
/// # Errors
/// Those of `write`.
///
/// # Cancel safety
/// Dropped, it gives no receipt, and whether the write was made is for the store to know.
pub async fn commit_async<E>(due: Due, write: impl Future<Output = Result<(), E>>) -> Result<Receipt, E> {
    write.await?;
    Ok(Receipt(due))
}

/// The receipt where nothing is kept: a committer is optional (document 000, "Checkpoint Triggers").
pub fn without_committer(due: Due) -> Receipt {
    Receipt(due)
}

/// A receipt for another commit than the one that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongReceipt {
    got: Due,
    expected: Due,
}

impl fmt::Display for WrongReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where all that is written is the same, what owes the commit is not.
        let is_alike = Due { owner: self.expected.owner, ..self.got } == self.expected;
        let of = if is_alike { " of another flow or gate" } else { "" };
        write!(f, "the receipt is for {}{of}, where {} is due", self.got, self.expected)
    }
}

impl Error for WrongReceipt {}
