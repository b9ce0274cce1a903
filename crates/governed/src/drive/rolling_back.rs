//! Rollback of changes, before the transition that reports it.

use runstate::governed_run::{
    AnyGovernedRun, AwaitingApproval, Executing, GovernedRun, Halt, HaltReason, RollBack, Rollback,
};

use super::{Governor, OpenRun, Result, Run, Step, went};
use crate::drive::asking::question;
use crate::guarded::{Ended, guarded};
use crate::notes::{Standing, short, short_texts};
use crate::timestamp::Timestamp;

impl Governor {
    /// Reverts the changes of the tools. The start of the rollback is made durable first, so that it is repeated
    /// after a crash.
    pub(super) async fn revert(
        &self,
        open: &mut OpenRun<'_>,
        run: &impl Run,
        tools: (&[String], usize),
        why: &str,
        by: Option<(String, Timestamp)>,
    ) -> Result<Rollback> {
        let standing = Standing::RollingBack { why: short(why), by };
        if open.notes.standing != standing {
            open.notes.standing = standing;
            open.progressed(run)?;
        }
        if !self.is_bound(open) {
            let why = "the plan was changed since the run began: nothing was rolled back";
            return Ok(Rollback::Incomplete { errors: vec![why.to_owned()] });
        }
        let until = self.now().saturating_add(self.rules.rollback_ms);
        let view = open.view(tools.0, tools.1);
        let errors = match guarded(
            self.clock.as_ref(),
            Some(until),
            self.parts.rollback.roll_back(&view, why),
        )
        .await
        {
            Ended::Done(Ok(())) => return Ok(Rollback::Complete),
            Ended::Done(Err(errors)) => short_texts(errors),
            Ended::Panicked(said) => vec![short(&said)],
            Ended::TimedOut => {
                vec![format!("it took longer than {} ms and was stopped", self.rules.rollback_ms)]
            }
        };
        let unnamed = errors.iter().all(|error| error.trim().is_empty());
        Ok(Rollback::Incomplete { errors: if unnamed { vec!["it failed".to_owned()] } else { errors } })
    }

    pub(super) async fn roll_back_executing(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        why: &str,
    ) -> Result<Step> {
        let progress = run.state().progress().clone();
        let tools = (progress.planned(), progress.completed().len());
        let rollback = self.revert(open, &run, tools, why, None).await?;
        self.rolled_back_executing(open, run, why, rollback)
    }

    pub(super) fn rolled_back_executing(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        why: &str,
        rollback: Rollback,
    ) -> Result<Step> {
        match rollback {
            Rollback::Complete => {
                went(open, run.roll_back(RollBack::new(short(why), Rollback::Complete, self.now())))
            }
            Rollback::Incomplete { errors } => {
                let reason = HaltReason::RollbackFailed { why: short(why), errors };
                went(open, run.halt(Halt::new(reason, self.now())))
            }
        }
    }

    /// Rolls back a run in VERIFYING or AUDITING. All its tools are completed. A rollback from these states has no
    /// deadline.
    pub(super) async fn roll_back_reviewed(
        &self,
        open: &mut OpenRun<'_>,
        run: impl Into<AnyGovernedRun>,
        why: &str,
        by: Option<(String, Timestamp)>,
    ) -> Result<Step> {
        let run = run.into();
        let tools = match &run {
            AnyGovernedRun::Verifying(run) => run.state().tools_completed().to_vec(),
            AnyGovernedRun::Auditing(run) => run.state().tools_completed().to_vec(),
            run => return Err(open.inconsistent(format!("there are no results in {}", run.status()))),
        };
        let rollback = self.revert(open, &run, (&tools, tools.len()), why, by.clone()).await?;
        let event = RollBack::new(short(why), rollback, self.now());
        let event = match by {
            Some((by, _)) => event.by(by),
            None => event,
        };
        let run = match run {
            AnyGovernedRun::Verifying(run) => run.roll_back(event).into(),
            AnyGovernedRun::Auditing(run) => run.roll_back(event).into(),
            run => run,
        };
        open.notes.standing = Standing::Idle;
        open.moved(&run)?;
        Step::on(run)
    }

    /// Completes a recorded rejection, given in time. It stays valid after a long rollback and after a crash.
    pub(crate) async fn finish_rejection(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<AwaitingApproval>,
    ) -> Result<AnyGovernedRun> {
        let progress = run.state().progress().clone();
        let tools = (progress.planned(), progress.completed().len());
        let (why, by) = rejection(open)?;
        let rollback = self.revert(open, &run, tools, &why, Some(by)).await?;
        self.rejected(open, run, &rollback)
    }

    /// Rejects the run after its rollback. The rejection is recorded already.
    pub(super) fn rejected(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<AwaitingApproval>,
        rollback: &Rollback,
    ) -> Result<AnyGovernedRun> {
        let (why, (by, at)) = rejection(open)?;
        let Some(approval) = question(open, run.state().approval()) else {
            return Err(open.inconsistent("the approval that was rejected is not there".to_owned()));
        };
        let (run, approval) = run
            .rejected_with(approval, &by, &why, rollback, at.ms())
            .map_err(|back| open.inconsistent(back.to_string()))?;
        open.keep(&approval)?;
        open.notes.standing = Standing::Idle;
        let run = AnyGovernedRun::from(run);
        open.moved(&run)?;
        Ok(run)
    }
}

/// The recorded rejection: its reason, its approver and its time.
fn rejection(open: &OpenRun<'_>) -> Result<(String, (String, Timestamp))> {
    match open.notes.standing.clone() {
        Standing::RollingBack { why, by: Some(by) } => Ok((why, by)),
        _ => Err(open.inconsistent("it is not noted that a person rejected it".to_owned())),
    }
}
