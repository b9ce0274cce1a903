//! The states of a governed run: the calls to its parts, and the resulting transitions.
//!
//! Only typed transitions leave a state. This module decides which part is called, and when. If a guard refuses a
//! transition because the state expired, the run is returned, and the next turn takes the timeout transition.

mod asking;
mod call;
mod executing;
mod expiry;
mod planning;
mod review;
mod rolling_back;

use std::io;

pub(super) use asking::{asked, asked_about_plan, pending, question};
use runstate::governed_run::{AnyGovernedRun, GovernedRun, GovernedRunError, Halt, HaltReason, Init, Plan};
use runstate::kernel::Rejected;

use super::error::GovernedError;
use super::governor::{Governor, Result};
use super::notes::Standing;
use super::open::{OpenRun, Run};
use super::outcome::AwaitedInput;

pub(super) enum Step {
    On(AnyGovernedRun),
    /// The run waits for an approver.
    Park(AnyGovernedRun, AwaitedInput),
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

/// Writes a transition; no operation is in progress after it. A run in an expired state does not change.
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

/// Returns the unchanged run if its state expired; the next turn handles that. Any other refusal is a bug of this
/// driver.
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
    /// Drives a run until it is over or waits for an approver.
    pub(super) async fn drive(
        &self,
        open: &mut OpenRun<'_>,
        run: AnyGovernedRun,
    ) -> Result<(AnyGovernedRun, Option<AwaitedInput>)> {
        let driven = self.turns(open, run).await;
        (self.resting)(&open.id);
        driven
    }

    async fn turns(
        &self,
        open: &mut OpenRun<'_>,
        mut run: AnyGovernedRun,
    ) -> Result<(AnyGovernedRun, Option<AwaitedInput>)> {
        loop {
            if let Some(past) = self.expired(open, &run) {
                run = self.ended(open, run, HaltReason::Timeout, past).await?;
                continue;
            }
            if run.status().is_terminal() {
                return Ok((run, None));
            }
            let step = match self.turn(open, run).await {
                // A full disk is a different error: the next write would fail too.
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

    /// Ends a run from its last written state, because the next state is too large to be written.
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
            None
            | Some(
                AnyGovernedRun::Init(_)
                | AnyGovernedRun::AwaitingApproval(_)
                | AnyGovernedRun::Completed(_)
                | AnyGovernedRun::RolledBack(_)
                | AnyGovernedRun::HaltedUnsafe(_),
            ) => Err(open.inconsistent(why)),
        }
    }

    fn init(&self, open: &mut OpenRun<'_>, run: GovernedRun<Init>) -> Result<Step> {
        went(open, run.plan(Plan::new(self.now())))
    }
}
