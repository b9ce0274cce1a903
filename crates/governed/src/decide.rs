//! Decisions on an action or a plan of a waiting run, and the end of a run by an operator.

use std::path::PathBuf;

use runstate::actor::is_name;
use runstate::approval::{self, Approval, ApprovalError, ApprovalId, AwaitingHuman};
use runstate::governed_run::{
    AnswerError, AnyGovernedRun, AwaitingApproval, GovernedRun, GovernedRunError, GovernedRunStatus,
    HaltReason, Planning, RunId,
};
use runstate_runtime::files::{Open, replace};

use super::aside;
use super::drive::{asked_about_plan, question};
use super::error::GovernedError;
use super::governor::{Governor, InHand, Result};
use super::notes::{PlanNote, Purpose, Standing, short};
use super::open::OpenRun;
use super::report;
use super::timestamp::Timestamp;

/// A waiting run with its question.
enum Asked {
    Action(GovernedRun<AwaitingApproval>, Approval<AwaitingHuman>, Purpose),
    Plan(GovernedRun<Planning>, Approval<AwaitingHuman>),
}

impl Governor {
    /// Approves the question of a run. The run continues, or begins to execute, when it is [resumed](Self::resume).
    ///
    /// # Errors
    /// [`GovernedError::Expired`] for a decision that came too late; the run is halted then.
    /// [`GovernedError::NotAsked`] when the run does not wait for this approval; [`GovernedError::Refused`] for a
    /// decision without a name; otherwise as [`resume`](Self::resume).
    ///
    /// # Cancel safety
    /// See [`start`](Self::start).
    pub async fn approve(&self, run: &RunId, approval: &ApprovalId, by: &str, why: &str) -> Result<()> {
        let (mut open, asked) = self.asked(run, approval, true).await?;
        self.bound(&open)?;
        let mut answer = approval::Approve::new(by, self.now());
        if !why.trim().is_empty() {
            answer = answer.because(short(why));
        }
        match asked {
            Asked::Action(run, asked, purpose) => {
                let (run, asked) =
                    run.approved_with(asked, &answer).map_err(|back| refused(approval, &back.error))?;
                open.keep(&asked)?;
                open.notes.standing = Standing::Granted { approval: approval.clone(), purpose };
                open.moved(&run)
            }
            Asked::Plan(run, asked) => {
                let Some(plan) = open.notes.plan.clone() else {
                    let why = "the plan that it is about is not on record".to_owned();
                    return Err(GovernedError::Refused { approval: approval.clone(), why });
                };
                let (run, asked) = run
                    .approved_with(asked, &answer, plan.tools.clone())
                    .map_err(|back| refused(approval, &back.error))?;
                open.keep(&asked)?;
                open.notes.plan = Some(PlanNote { approved_by: Some(by.to_owned()), ..plan });
                open.notes.standing = Standing::Idle;
                open.moved(&run)
            }
        }
    }

    /// Rejects the question of a run. All changes are rolled back, and the run is over. A run with a rejected plan
    /// has no changes: it stays in PLANNING, and makes another plan when it is [resumed](Self::resume).
    ///
    /// # Errors
    /// See [`approve`](Self::approve).
    ///
    /// # Cancel safety
    /// See [`start`](Self::start). Once the decision is written, a resumed run completes the rollback.
    pub async fn reject(
        &self,
        run: &RunId,
        approval: &ApprovalId,
        by: &str,
        why: &str,
    ) -> Result<GovernedRunStatus> {
        let (mut open, asked) = self.asked(run, approval, false).await?;
        self.bound(&open)?;
        named(approval, by)?;
        let (why, at) = (if why.trim().is_empty() { "rejected" } else { why }, self.now());
        match asked {
            Asked::Action(run, ..) => {
                let by = Some((by.to_owned(), Timestamp::from_ms(at)));
                open.notes.standing = Standing::RollingBack { why: short(why), by };
                open.progressed(&run)?;
                Ok(self.finish_rejection(&mut open, run).await?.status())
            }
            Asked::Plan(run, asked) => {
                let (run, asked) = run
                    .rejected_with(asked, by, &short(why), at)
                    .map_err(|back| refused(approval, &back.error))?;
                open.keep(&asked)?;
                let objection = Some(short(&format!("{by} rejected the plan: {why}")));
                open.notes.plan = open.notes.plan.take().map(|plan| PlanNote { objection, ..plan });
                open.notes.standing = Standing::Idle;
                open.progressed(&run)?;
                Ok(GovernedRunStatus::Planning)
            }
        }
    }

    /// Escalates the question of a run: the run is halted.
    ///
    /// # Errors
    /// See [`approve`](Self::approve).
    ///
    /// # Cancel safety
    /// See [`start`](Self::start).
    pub async fn escalate(
        &self,
        run: &RunId,
        approval: &ApprovalId,
        by: &str,
        why: &str,
    ) -> Result<GovernedRunStatus> {
        let (mut open, asked) = self.asked(run, approval, false).await?;
        named(approval, by)?;
        let why = format!("{by}: {}", if why.trim().is_empty() { "no reason was given" } else { why });
        let (why, at) = (short(&why), self.now());
        let halted = match asked {
            Asked::Action(run, asked, _) => run.escalated_with(asked, &why, at).map_err(|back| back.error),
            Asked::Plan(run, asked) => run.escalated_with(asked, &why, at).map_err(|back| back.error),
        };
        let (run, asked) = halted.map_err(|error| refused(approval, &error))?;
        open.keep(&asked)?;
        open.notes.standing = Standing::Idle;
        open.moved(&run)?;
        Ok(GovernedRunStatus::HaltedUnsafe)
    }

    /// Stops an unfinished run on behalf of an operator. The run need not wait for an answer, and this governor may
    /// have another plan. The run is halted, except in VERIFYING and AUDITING, where it is rolled back. Returns the
    /// resulting status. A run that is over does not change. If the clock was set back behind the last change of the run,
    /// the halt has the time of that change.
    ///
    /// # Errors
    /// [`GovernedError::NoName`] for a blank name; otherwise as [`resume`](Self::resume), except
    /// [`GovernedError::OtherPlan`].
    ///
    /// # Cancel safety
    /// See [`start`](Self::start).
    pub async fn halt(&self, run: &RunId, by: &str, why: &str) -> Result<GovernedRunStatus> {
        if !is_name(by) {
            return Err(GovernedError::NoName { run: run.clone() });
        }
        let InHand { mut open, run, document, .. } = self.take_and(run, None, false).await?;
        let Some(run) = run else { return Ok(document.current_state) };
        let at = self.now().max(document.updated_at.ms());
        let why = if why.trim().is_empty() { "no reason was given" } else { why };
        let reason = HaltReason::Person { by: by.to_owned(), why: short(why) };
        self.ended(&mut open, run, reason, at).await.map(|run| run.status())
    }

    /// Abandons a run whose RUN_STATE.json cannot be read. The run then does not exist any more. The file is set
    /// aside, and FINAL_REPORT.md records this and the reason, unless that file exists already. Nothing else is read,
    /// and nothing is rolled back. Returns the error of the file and its new path. The file becomes the state of the
    /// run again if it gets its old name back.
    ///
    /// # Errors
    /// [`GovernedError::Readable`] for a state that can be read; [`GovernedError::NoName`],
    /// [`GovernedError::NoSuchRun`], [`GovernedError::Busy`], [`GovernedError::Io`].
    pub fn abandon(&self, run: &RunId, by: &str, why: &str) -> Result<(GovernedError, PathBuf)> {
        if !is_name(by) {
            return Err(GovernedError::NoName { run: run.clone() });
        }
        let (place, path) = (self.place(), self.folders.state(run));
        let _lock = place.lock(run)?;
        let fault = match place.read(run, None) {
            Ok(_) => return Err(GovernedError::Readable { run: run.clone() }),
            Err(error @ GovernedError::NoSuchRun { .. }) => return Err(error),
            Err(error) => error,
        };
        (self.taking)(run);
        let kept = aside::keep(self.disk.as_ref(), &path).map_err(GovernedError::io(&path))?;
        let report = self.folders.report(run);
        if self.disk.open(&report, Open::Read).is_err() {
            let text = report::of_abandoned(run, &fault, &kept, (by, &short(why)), self.now());
            replace(self.disk.as_ref(), &report, text.as_bytes()).map_err(GovernedError::io(&report))?;
        }
        Ok((fault, kept))
    }

    async fn asked(
        &self,
        run: &RunId,
        approval: &ApprovalId,
        leaves_the_ledger: bool,
    ) -> Result<(OpenRun<'_>, Asked)> {
        let InHand { open, run, document, expired, .. } =
            self.take_and(run, Some(self.now()), leaves_the_ledger).await?;
        if let Some((id, deadline)) = expired
            && id == *approval
        {
            return Err(GovernedError::Expired { approval: id, deadline, at: self.now() });
        }
        let state = run.as_ref().map_or(document.current_state, AnyGovernedRun::status);
        let asked = match (run, &open.notes.standing) {
            (Some(AnyGovernedRun::AwaitingApproval(run)), Standing::Asked { purpose, .. })
                if run.state().approval() == approval =>
            {
                question(&open, approval).map(|asked| Asked::Action(run, asked, *purpose))
            }
            (Some(AnyGovernedRun::Planning(run)), _)
                if asked_about_plan(&open.notes).as_ref() == Some(approval) =>
            {
                question(&open, approval).map(|asked| Asked::Plan(run, asked))
            }
            _ => None,
        };
        if let Some(asked) = asked {
            return Ok((open, asked));
        }
        if open.notes.standing.is_rolling_back() {
            return Err(GovernedError::RollbackUnfinished { run: open.id });
        }
        let status = open.notes.approval(approval).map(|approval| approval.status());
        Err(GovernedError::NotAsked { run: open.id, approval: approval.clone(), status, state })
    }
}

fn named(approval: &ApprovalId, by: &str) -> Result<()> {
    if is_name(by) { Ok(()) } else { Err(refused(approval, &AnswerError::Approval(ApprovalError::Nobody))) }
}

fn refused(approval: &ApprovalId, error: &AnswerError) -> GovernedError {
    match error {
        AnswerError::Refused(GovernedRunError::Expired { deadline, at, .. })
        | AnswerError::Approval(ApprovalError::Expired { deadline, at }) => {
            GovernedError::Expired { approval: approval.clone(), deadline: *deadline, at: *at }
        }
        error => GovernedError::Refused { approval: approval.clone(), why: error.to_string() },
    }
}
