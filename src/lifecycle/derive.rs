//! The status of a run, derived from the statuses of its calls.

use std::error::Error;
use std::fmt;

use super::run::RunStatus;
use super::tool_call::ToolCallStatus;

/// Derives the status of a run from the calls of a round: `Running` while a call executes (`Running`, `Resuming`);
/// else `Waiting` while a call is `Suspended`; else `Done`.
///
/// `Done` means that the round is complete and the run may continue. It does not mean that the run ended: only a
/// [`TerminationReason`](super::termination::TerminationReason) ends a run. `New` calls are ignored, so a round with
/// only `New` calls gives `Done`. At the beginning of a round the run is `Running` regardless of this projection.
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

/// A tally of call statuses that gives the projection of [`derive_run_status`] in constant time per transition.
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
    /// Adds a call.
    pub fn add(&mut self, status: ToolCallStatus) {
        self.counts[status as usize] += 1;
    }

    /// Counts a transition of a call.
    ///
    /// # Errors
    /// [`Miscount`] when no call is counted as `from`; the tally is unchanged.
    pub fn moved(&mut self, from: ToolCallStatus, to: ToolCallStatus) -> Result<(), Miscount> {
        self.remove(from)?;
        self.add(to);
        Ok(())
    }

    /// Removes a call.
    ///
    /// # Errors
    /// [`Miscount`] when no call is counted as `status`; the tally is unchanged.
    pub fn remove(&mut self, status: ToolCallStatus) -> Result<(), Miscount> {
        let count = &mut self.counts[status as usize];
        *count = count.checked_sub(1).ok_or(Miscount(status))?;
        Ok(())
    }

    /// The number of calls in that status.
    pub fn count(&self, status: ToolCallStatus) -> usize {
        self.counts[status as usize]
    }

    /// The result of [`derive_run_status`] for the counted calls.
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

/// The error for a transition from a status that no counted call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miscount(ToolCallStatus);

impl fmt::Display for Miscount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no call is counted as {}", self.0)
    }
}

impl Error for Miscount {}
