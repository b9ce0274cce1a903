//! The way of a run through its states: what each asks of the parts, and where it goes with the answer.
//!
//! A state is left by its typed moves alone. This module decides what to ask, and when; a move that its guard refuses as
//! expired hands the run back, and the next turn takes it where its timeout leads.

mod asking;
mod call;
mod executing;
mod expiry;
mod planning;
mod review;
mod rolling_back;

use std::io;

use super::error::GovernedError;
use super::governor::{Governor, Result};
use super::notes::Standing;
use super::open::{OpenRun, Run};
use super::outcome::Waits;
use crate::governed_run::{AnyGovernedRun, GovernedRun, GovernedRunError, Halt, HaltReason, Init, Plan};
use crate::kernel::Rejected;

pub(super) use asking::{asked, asked_about_plan, pending, question};

pub(super) enum Step {
    On(AnyGovernedRun),
    /// The run waits for a person.
    Park(AnyGovernedRun, Waits),
}

impl Step {
    fn on(run: impl Into<AnyGovernedRun>) -> Result<Step> {
        Ok(Step::On(run.into()))
    }

    fn into_run(self) -> AnyGovernedRun {
        match self {
            Step::On(run) | Step::Park(run, _) => run,
        }
    }
}

/// Writes a transition that was taken; nothing is under way behind it. A run in an expired state stays as it was.
fn went<M, N, E>(
    open: &mut OpenRun<'_>,
    taken: std::result::Result<M, Rejected<N, E, GovernedRunError>>,
) -> Result<Step>
where
    M: Run + Into<AnyGovernedRun>,
    N: Into<AnyGovernedRun>,
{
    match taken {
        Ok(run) => {
            open.notes.standing = Standing::Idle;
            open.moved(&run)?;
            Step::on(run)
        }
        Err(rejected) => handed_back(open, rejected),
    }
}

/// The run as it was, if the state had expired: the next turn sees to it. Any other refusal is a mistake of this driver.
fn handed_back<M: Into<AnyGovernedRun>, E>(
    open: &OpenRun<'_>,
    rejected: Rejected<M, E, GovernedRunError>,
) -> Result<Step> {
    match rejected.error {
        GovernedRunError::Expired { .. } => Step::on(rejected.machine),
        error => Err(open.inconsistent(error.to_string())),
    }
}

impl Governor {
    /// Drives a run until it is over or waits for a person.
    pub(super) async fn drive(
        &self,
        open: &mut OpenRun<'_>,
        mut run: AnyGovernedRun,
    ) -> Result<(AnyGovernedRun, Option<Waits>)> {
        loop {
            if let Some(past) = self.expired(open, &run) {
                run = self.ended(open, run, HaltReason::Timeout, past).await?;
                continue;
            }
            if run.status().is_terminal() {
                return Ok((run, None));
            }
            let step = match self.turn(open, run).await {
                // Of the disk it is another error: the next write fails too.
                Err(GovernedError::Io { error, .. }) if error.kind() == io::ErrorKind::FileTooLarge => {
                    self.is_full(open, &error.to_string()).await?
                }
                step => step?,
            };
            match step {
                Step::On(next) => run = next,
                Step::Park(run, waits) => return Ok((run, Some(waits))),
            }
        }
    }

    async fn turn(&self, open: &mut OpenRun<'_>, run: AnyGovernedRun) -> Result<Step> {
        match run {
            AnyGovernedRun::Init(run) => self.init(open, run),
            AnyGovernedRun::Planning(run) => self.planning(open, run).await,
            AnyGovernedRun::Executing(run) => self.executing(open, run).await,
            AnyGovernedRun::AwaitingApproval(run) => self.awaiting(open, run).await,
            AnyGovernedRun::Verifying(run) => self.verifying(open, run).await,
            AnyGovernedRun::Auditing(run) => self.auditing(open, run).await,
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Step::on(over),
        }
    }

    /// Ends a run from the state that was written last, since the next one is too long to be written.
    async fn is_full(&self, open: &mut OpenRun<'_>, error: &str) -> Result<Step> {
        let why = format!("RUN_STATE.json cannot be written: {error}");
        match open.read_again(&self.reviewers, self.now())? {
            Some(AnyGovernedRun::Planning(run)) => {
                went(open, run.halt(Halt::new(HaltReason::CriticalRisk { risk: why }, self.now())))
            }
            Some(AnyGovernedRun::Executing(run)) => {
                self.call_is_lost(open, &why)?;
                let tool = run.state().progress().remaining().first().cloned().unwrap_or_default();
                self.crashed(open, run, &tool, why)
            }
            Some(run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_))) => {
                self.roll_back_reviewed(open, run, &why, None).await
            }
            _ => Err(open.inconsistent(why)),
        }
    }

    fn init(&self, open: &mut OpenRun<'_>, run: GovernedRun<Init>) -> Result<Step> {
        went(open, run.plan(Plan::new(self.now())))
    }
}
