//! Read access to runs, and the expiry of runs past their deadline.

use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus, RunId};

use super::drive::{asked, pending};
use super::error::GovernedError;
use super::governor::{Governor, InHand, Result};
use super::outcome::{AwaitedInput, RunStatus};
use super::typed;

impl Governor {
    /// Returns the status of a run. It reads without the lock. An expired run does not change until
    /// [`expire`](Self::expire) or another method performs its timeout transition. Times in the future are no error: the
    /// clock may have been set back.
    ///
    /// # Errors
    /// [`GovernedError::NoSuchRun`], [`GovernedError::Damaged`], [`GovernedError::Io`].
    pub fn status(&self, run: &RunId) -> Result<RunStatus> {
        Ok(RunStatus::of(&self.place().read(run, None)?))
    }

    /// Returns the open question of a run, if it waits for an approval. It only reads, as [`status`](Self::status)
    /// does.
    ///
    /// # Errors
    /// See [`status`](Self::status).
    pub fn waits(&self, run: &RunId) -> Result<Option<AwaitedInput>> {
        let document = self.place().read(run, None)?;
        let read = typed::read(&document, &self.reviewers)
            .map_err(|fault| GovernedError::damaged(&self.folders.state(run), fault))?;
        let asked = read.run.as_ref().and_then(|run| asked(run, &read.notes));
        Ok(asked.map(|(id, answer_by)| AwaitedInput::Approval(pending(&read.notes, id, answer_by))))
    }

    /// Performs the timeout transition of an expired run. An unfinished rollback after a timely decision is
    /// completed. Returns the new status; `None` if the run has time left, is over, or is locked by another process.
    /// [`Folders::list`](super::Folders::list) returns the runs to expire.
    ///
    /// ```no_run
    /// # use runstate_runtime::files::RealDisk;
    /// # use runstate_governed::{GovernedError, Governor};
    /// # async fn example(governor: &Governor, folders: &runstate_governed::Folders) -> std::io::Result<()> {
    /// for run in folders.list(&RealDisk)? {
    ///     match governor.expire(&run).await {
    ///         Ok(went) => println!("{run}: {went:?}"),
    ///         // This folder has no state.
    ///         Err(GovernedError::NoSuchRun { .. }) => {}
    ///         Err(error) => eprintln!("{run}: {error}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`resume`](Self::resume), except [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// See [`start`](Self::start).
    pub async fn expire(&self, run: &RunId) -> Result<Option<GovernedRunStatus>> {
        let now = self.now();
        if !RunStatus::of(&self.place().read(run, Some(now))?).is_expired(now) {
            return Ok(None);
        }
        match self.take(run).await {
            Ok(InHand { mut open, run: Some(run), .. }) if open.notes.standing.is_decided() => {
                self.bound(&open)?;
                self.drive(&mut open, run).await.map(|(run, _)| Some(run.status()))
            }
            Ok(InHand { run, document, .. }) => {
                Ok(Some(run.as_ref().map_or(document.current_state, AnyGovernedRun::status)))
            }
            Err(GovernedError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
