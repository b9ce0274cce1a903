//! Looking at runs, and taking those on whose time is over.

use super::drive::{asked_about_plan, pending};
use super::error::GovernedError;
use super::governor::{Governor, InHand, Result};
use super::outcome::{RunStatus, Swept, Waits};
use crate::governed_run::{AnyGovernedRun, RunId};

impl Governor {
    /// Where a run is. One that has expired goes where its timeout leads first, unless another process has it in hand.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), but not [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn status(&self, run: &RunId) -> Result<RunStatus> {
        let seen = RunStatus::of(&self.place().read(run, self.now())?);
        if !seen.is_expired(self.now()) {
            return Ok(seen);
        }
        match self.take(run).await {
            Ok(_) => Ok(RunStatus::of(&self.place().read(run, self.now())?)),
            Err(GovernedError::Busy { .. }) => Ok(seen),
            Err(error) => Err(error),
        }
    }

    /// Takes every run that has expired where its timeout leads, and returns where each went. The list leaves out a run that
    /// another process has in hand, that is over, or that has time left.
    ///
    /// # Errors
    /// [`GovernedError::Io`] when the folder of runs cannot be read. What is wrong with a single run is in its place in the
    /// list.
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn sweep(&self) -> Result<Vec<Swept>> {
        let mut swept = Vec::new();
        for run in self.runs()? {
            let went = match self.place().read(&run, self.now()) {
                Ok(document) if RunStatus::of(&document).is_expired(self.now()) => {
                    match self.take(&run).await {
                        Ok(taken) => {
                            let status = taken.run.as_ref().map(AnyGovernedRun::status);
                            Ok(status.unwrap_or(taken.document.current_state))
                        }
                        Err(GovernedError::Busy { .. }) => continue,
                        Err(error) => Err(error),
                    }
                }
                // A folder that was claimed and never begun has no state.
                Ok(_) | Err(GovernedError::NoSuchRun { .. }) => continue,
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

    /// What a run waits for, if it waits for an approval.
    ///
    /// # Errors
    /// As [`status`](Self::status), and [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn waits(&self, run: &RunId) -> Result<Option<Waits>> {
        let InHand { open, run, .. } = self.take(run).await?;
        Ok(match &run {
            Some(AnyGovernedRun::AwaitingApproval(run)) => {
                let id = run.state().approval().clone();
                Some(Waits::Approval(pending(&open, id, run.answer_by())))
            }
            Some(AnyGovernedRun::Planning(run)) => {
                asked_about_plan(&open).map(|id| Waits::Approval(pending(&open, id, run.answer_by())))
            }
            _ => None,
        })
    }
}
