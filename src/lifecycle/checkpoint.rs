//! Pending commits of a lifecycle, and the receipts that prove them.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The cause of a pending commit.
///
/// `DecisionAccepted`, `QuestionAsked` and `CallsStarted` are additions to the triggers of the two-layer loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Trigger {
    /// The side effects of RunStart are applied.
    UserMessage,
    /// The model's answer is applied.
    AssistantTurnCommitted,
    /// The results of a tool round, or of replayed calls, are applied.
    ToolResultsCommitted,
    /// The activation ended, for any reason. This commit is always forced.
    RunFinished,
    /// A decision was accepted; its replay has not begun. The commit prevents the loss of the decision.
    DecisionAccepted,
    /// A call suspended while others execute. The commit makes its question visible, so that an actor can decide it.
    QuestionAsked,
    /// A round begins with a tool that must not run twice. The commit prevents a repeated effect after a crash.
    CallsStarted,
}

impl Trigger {
    /// Returns whether a committer must write this commit even where it saves writes.
    pub fn is_forced(self) -> bool {
        self == Trigger::RunFinished
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A pending commit of a state. The state can only be left with the [`Receipt`] for it, or by a failure.
///
/// A state with a pending commit returns it, and a committer receives it with the commit. A program cannot construct
/// one. It can be copied. A receipt for any of the copies is a receipt for this one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Due {
    /// The number of the flow, gate or run in memory that owns the commit; 0 in stored data.
    owner: u64,
    trigger: Trigger,
    gate: Option<u64>,
    number: u64,
}

/// The serde form of a [`Due`] inside the stored data of its state. A [`Due`] alone has no stored form.
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
    /// The commit with that number in a flow.
    pub(super) fn of_flow(trigger: Trigger, number: u64) -> Self {
        Due { owner: 0, trigger, gate: None, number }
    }

    /// The commit with that number in a gate; gates are counted from 1.
    pub(super) fn of_gate(trigger: Trigger, gate: u64, number: u64) -> Self {
        Due { owner: 0, trigger, gate: Some(gate), number }
    }

    /// Sets the owner: a flow, gate or run in memory.
    pub(super) fn within(self, owner: u64) -> Self {
        Due { owner, ..self }
    }

    /// The cause of the commit.
    pub fn trigger(self) -> Trigger {
        self.trigger
    }

    /// The number of the commit in its flow, or in its gate, from 1; 0 for the commit of a run at its end.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Checks that the receipt is for this commit.
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

/// Proof that [`commit`], [`commit_async`] or [`without_committer`] was called for a pending commit of this flow,
/// gate or run. It does not prove that a disk was written: the closure reports that, and [`without_committer`] writes
/// nothing.
///
/// Most transitions that need a receipt consume it. Checks take a reference. One receipt serves one transition of one
/// machine. A receipt cannot be copied; another call for the same [`Due`] makes another one. It does not fit another
/// flow, not even a flow of a run with the same id, nor the same flow after a restore from storage.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the state that owed this commit waits for its receipt"]
pub struct Receipt(Due);

/// Makes a commit with `write`, and returns its receipt.
///
/// ```
/// use runstate::checkpoint::{commit, without_committer};
/// use runstate::run::{Run, RunRecord};
/// use runstate::run_flow::{Begin, Close, Commit, Fail, FlowRecord, RunFlow, WindUp};
///
/// let run = Run::new(RunRecord::new("r1"));
/// let start = || RunFlow::new(FlowRecord::new(&run, 0));
/// let flow = start().begin(Begin);
/// // The only transition from here needs the receipt, and a failed write returns none.
/// assert_eq!(commit(flow.due(), |_| Err("no disk")), Err("no disk"));
/// let receipt = commit(flow.due(), |_| Ok::<(), &str>(()))?;
/// let flow = flow.commit(Commit::new(receipt))?;
///
/// // A receipt for another commit is refused, and the activation keeps its state.
/// let other = start().fail(Fail::new("no disk")).wind_up(WindUp).close(Close);
/// let receipt = without_committer(start().begin(Begin).due());
/// let (other, wrong) = other.committed(&receipt).unwrap_err();
/// assert_eq!(wrong.to_string(), "the receipt is for commit 1 (UserMessage), where commit 1 (RunFinished) is due");
/// # let _ = (flow, other);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of `write`.
pub fn commit<E>(due: Due, write: impl FnOnce(Due) -> Result<(), E>) -> Result<Receipt, E> {
    write(due)?;
    Ok(Receipt(due))
}

/// Makes a commit with a future, and returns its receipt; the async form of [`commit`].
///
/// # Errors
/// The errors of `write`.
///
/// # Cancel safety
/// A dropped future returns no receipt. Only the store knows whether the write was made.
pub async fn commit_async<E>(due: Due, write: impl Future<Output = Result<(), E>>) -> Result<Receipt, E> {
    write.await?;
    Ok(Receipt(due))
}

/// Makes a receipt without a write. A runtime without a committer uses it, since a committer is optional.
pub fn without_committer(due: Due) -> Receipt {
    Receipt(due)
}

/// The error for a receipt of another commit than the pending one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongReceipt {
    got: Due,
    expected: Due,
}

impl fmt::Display for WrongReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // When all visible fields are equal, the owners of the two commits differ.
        let is_alike = Due { owner: self.expected.owner, ..self.got } == self.expected;
        let of = if is_alike { " of another flow or gate" } else { "" };
        write!(f, "the receipt is for {}{of}, where {} is due", self.got, self.expected)
    }
}

impl Error for WrongReceipt {}
