//! Readers of runs, and the expiry of those that are past their time.

use super::drive::{asked, pending};
use super::error::GovernedError;
use super::governor::{Governor, InHand, Result};
use super::outcome::{RunStatus, Waits};
use super::typed;
use crate::governed_run::{AnyGovernedRun, GovernedRunStatus, RunId};

impl Governor {
    /// Where a run is. It is only read, without its lock: one that has expired stays as it is until it is
    /// [taken where its timeout leads](Self::expire).
    ///
    /// # Errors
    /// [`GovernedError::NoSuchRun`], [`GovernedError::Damaged`], [`GovernedError::Io`].
    pub fn status(&self, run: &RunId) -> Result<RunStatus> {
        Ok(RunStatus::of(&self.place().read(run, self.now())?))
    }

    /// The question that a run waits with, if it waits for an approval. It is only read, as by [`status`](Self::status).
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn waits(&self, run: &RunId) -> Result<Option<Waits>> {
        let document = self.place().read(run, self.now())?;
        let read = typed::read(&document, &self.reviewers)
            .map_err(|fault| GovernedError::damaged(&self.folders.state(run), fault))?;
        let asked = read.run.as_ref().and_then(|run| asked(run, &read.notes));
        Ok(asked.map(|(id, answer_by)| Waits::Approval(pending(&read.notes, id, answer_by))))
    }

    /// Takes a run that has expired where its timeout leads; a rollback that a person's decision in time began is finished. Returns where it went; none for one that has time left, is over, or is in
    /// the hands of another process. [`Folders::list`](super::Folders::list) has the runs of a sweep.
    ///
    /// ```no_run
    /// # use runstate::{files::RealDisk, governed::{GovernedError, Governor}};
    /// # async fn example(governor: &Governor, folders: &runstate::governed::Folders) -> std::io::Result<()> {
    /// for run in folders.list(&RealDisk)? {
    ///     match governor.expire(&run).await {
    ///         Ok(went) => println!("{run}: {went:?}"),
    ///         // A folder without a state.
    ///         Err(GovernedError::NoSuchRun { .. }) => {}
    ///         Err(error) => eprintln!("{run}: {error}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`resume`](Self::resume), but not [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn expire(&self, run: &RunId) -> Result<Option<GovernedRunStatus>> {
        if !self.status(run)?.is_expired(self.now()) {
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
