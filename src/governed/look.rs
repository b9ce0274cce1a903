//! Readers of runs, and the expiry of those that are past their time.

use super::drive::{asked, pending};
use super::error::GovernedError;
use super::governor::{Governor, InHand, Result};
use super::outcome::{RunStatus, Swept, Waits};
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

    /// Takes a run that has expired where its timeout leads. Returns where it went; none for one that has time left, is over, or is in
    /// the hands of another process.
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
            Ok(InHand { run, document, .. }) => {
                Ok(Some(run.as_ref().map_or(document.current_state, AnyGovernedRun::status)))
            }
            Err(GovernedError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// [Expires](Self::expire) every run past its time, and returns where each went.
    ///
    /// # Errors
    /// [`GovernedError::Io`] when the folder of runs cannot be read. The fault of a single run is in its place in the
    /// list.
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn sweep(&self) -> Result<Vec<Swept>> {
        let mut swept = Vec::new();
        for run in self.runs()? {
            let went = match self.expire(&run).await {
                // A folder that was claimed and never begun has no state.
                Ok(None) | Err(GovernedError::NoSuchRun { .. }) => continue,
                Ok(Some(went)) => Ok(went),
                Err(error) => Err(error),
            };
            swept.push(Swept { run, went });
        }
        Ok(swept)
    }

    /// The runs that there are, by their folders, in order.
    ///
    /// # Errors
    /// [`GovernedError::Io`] when the folder of runs cannot be read.
    pub fn runs(&self) -> Result<Vec<RunId>> {
        let names = match self.disk.list(self.folders.runs()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(GovernedError::io(self.folders.runs()))?,
        };
        Ok(names.into_iter().filter_map(|name| name.parse().ok()).collect())
    }
}
