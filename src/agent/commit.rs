//! Making a commit, and the receipt for it.

use std::error::Error;
use std::fmt;

use crate::checkpoint::{Due, Receipt};

/// Where a run's state is made durable. It is optional: without one, state lives in memory (see [`NoCommitter`]).
pub trait StateCommitter<State: ?Sized> {
    /// Makes the state durable. When this returns, a crash loses nothing of it.
    ///
    /// # Errors
    /// What went wrong; the state is then as it was at the last commit that succeeded.
    fn commit(&mut self, due: Due, state: &State) -> Result<(), CommitError>;
}

/// A committer that keeps nothing.
///
/// ```
/// use runstate::agent::{NoCommitter, commit};
/// use runstate::run::{Run, RunRecord};
/// use runstate::run_flow::{Begin, Close, Commit, Fail, FlowRecord, RunFlow, WindUp};
///
/// let run = Run::new(RunRecord::new("r1"));
/// let flow = RunFlow::new(FlowRecord::new(&run, 0)).begin(Begin);
/// // The only way on from here needs the receipt.
/// let receipt = commit(&mut NoCommitter, flow.due(), &run)?;
/// let flow = flow.commit(Commit::new(receipt))?;
///
/// // A receipt for another commit is refused, and the activation stays where it is.
/// let other = RunFlow::new(FlowRecord::new(&run, 0)).fail(Fail::new("no disk")).wind_up(WindUp).close(Close);
/// let receipt = commit(&mut NoCommitter, flow_at_start(&run).due(), &run)?;
/// let (other, wrong) = other.committed(&receipt).unwrap_err();
/// assert_eq!(wrong.to_string(), "the receipt is for commit 1 (UserMessage), where commit 1 (RunFinished) is due");
/// # let _ = (flow, other);
/// # fn flow_at_start(run: &Run<runstate::run::Running>) -> RunFlow<runstate::run_flow::CommitUser> {
/// #     RunFlow::new(FlowRecord::new(run, 0)).begin(Begin)
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCommitter;

impl<State: ?Sized> StateCommitter<State> for NoCommitter {
    fn commit(&mut self, _: Due, _: &State) -> Result<(), CommitError> {
        Ok(())
    }
}

/// Makes a commit and gives the receipt for it: the one way to a [`Receipt`].
///
/// # Errors
/// Those of the committer.
pub fn commit<State: ?Sized>(
    committer: &mut dyn StateCommitter<State>,
    due: Due,
    state: &State,
) -> Result<Receipt, CommitError> {
    committer.commit(due, state)?;
    Ok(Receipt::for_committed(due))
}

/// Why a commit was not made.
#[derive(Debug)]
pub struct CommitError(Box<dyn Error + Send + Sync>);

impl CommitError {
    /// It failed because of this.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        CommitError(cause.into())
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run's state could not be committed: {}", self.0)
    }
}

impl Error for CommitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
