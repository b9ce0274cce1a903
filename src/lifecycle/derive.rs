//! The status of a run as a projection of its calls (document 003, "RunStatus Derived from ToolCall States").

use std::error::Error;
use std::fmt;

use super::run::RunStatus;
use super::tool_call::ToolCallStatus;

/// What the calls of a round say of their run: `Running` while one executes (`Running`, `Resuming`); else `Waiting`
/// while one is `Suspended`; else `Done`.
///
/// `Done` means that the round is complete and the run may go on, never that the run ended: that comes from its
/// [`TerminationReason`](super::termination::TerminationReason). A `New` call counts for nothing, so a round whose calls
/// are all `New` gives `Done`; while a round begins, its run is `Running` by itself.
///
/// ```
/// use runstate::derive::derive_run_status;
/// use runstate::run::RunStatus;
/// use runstate::tool_call::ToolCallStatus::{Resuming, Succeeded, Suspended};
///
/// assert_eq!(derive_run_status([Succeeded, Suspended]), RunStatus::Waiting);
/// assert_eq!(derive_run_status([Resuming, Suspended]), RunStatus::Running);
/// assert_eq!(derive_run_status([]), RunStatus::Done);
/// ```
pub fn derive_run_status(calls: impl IntoIterator<Item = ToolCallStatus>) -> RunStatus {
    let mut status = RunStatus::Done;
    for call in calls {
        match call {
            ToolCallStatus::Running | ToolCallStatus::Resuming => return RunStatus::Running,
            ToolCallStatus::Suspended => status = RunStatus::Waiting,
            ToolCallStatus::New
            | ToolCallStatus::Succeeded
            | ToolCallStatus::Failed
            | ToolCallStatus::Cancelled => {}
        }
    }
    status
}

/// The same projection, kept up to date with each transition in constant time.
///
/// ```
/// use runstate::derive::StatusTally;
/// use runstate::run::RunStatus;
/// use runstate::tool_call::ToolCallStatus::{New, Running, Suspended};
///
/// let mut tally = StatusTally::default();
/// tally.add(New);
/// tally.moved(New, Suspended)?;
/// assert_eq!(tally.run_status(), RunStatus::Waiting);
///
/// let error = tally.moved(Running, Suspended).unwrap_err();
/// assert_eq!(error.to_string(), "no call is counted as Running");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusTally {
    counts: [usize; ToolCallStatus::ALL.len()],
}

impl StatusTally {
    /// Counts a call in.
    pub fn add(&mut self, status: ToolCallStatus) {
        self.counts[status as usize] += 1;
    }

    /// Counts a transition of a call.
    ///
    /// # Errors
    /// [`Miscount`] when no call is counted as `from`; the tally stays as it was.
    pub fn moved(&mut self, from: ToolCallStatus, to: ToolCallStatus) -> Result<(), Miscount> {
        self.remove(from)?;
        self.add(to);
        Ok(())
    }

    /// Counts a call out.
    ///
    /// # Errors
    /// [`Miscount`] when no call is counted as `status`; the tally stays as it was.
    pub fn remove(&mut self, status: ToolCallStatus) -> Result<(), Miscount> {
        let count = &mut self.counts[status as usize];
        *count = count.checked_sub(1).ok_or(Miscount(status))?;
        Ok(())
    }

    /// How many calls are in that status.
    pub fn count(&self, status: ToolCallStatus) -> usize {
        self.counts[status as usize]
    }

    /// What [`derive_run_status`] says of the calls that are counted in.
    pub fn run_status(&self) -> RunStatus {
        if self.count(ToolCallStatus::Running) + self.count(ToolCallStatus::Resuming) > 0 {
            RunStatus::Running
        } else if self.count(ToolCallStatus::Suspended) > 0 {
            RunStatus::Waiting
        } else {
            RunStatus::Done
        }
    }
}

impl FromIterator<ToolCallStatus> for StatusTally {
    fn from_iter<I: IntoIterator<Item = ToolCallStatus>>(calls: I) -> Self {
        let mut tally = StatusTally::default();
        for call in calls {
            tally.add(call);
        }
        tally
    }
}

/// A transition out of a status that no counted call is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miscount(ToolCallStatus);

impl fmt::Display for Miscount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no call is counted as {}", self.0)
    }
}

impl Error for Miscount {}
