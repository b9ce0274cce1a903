//! A state that lasted its limit: the run goes where the timeout leads, and nowhere else (B3, B4).

use super::asking::{asked_about_plan, question};
use super::{Governor, OpenRun, Result, Run, Step};
use crate::approval::{AnyApproval, ApprovalId, Outcome};
use crate::governed::notes::Standing;
use crate::governed_run::{AnyGovernedRun, Asks, GovernedRun, Halt};

impl Governor {
    /// The time, if the run has expired by it. A rejection that came in time stands, however long its rollback takes.
    pub(in crate::governed) fn expired(&self, open: &OpenRun<'_>, run: &AnyGovernedRun) -> Option<u64> {
        let now = self.now();
        let rejected = matches!(open.notes.standing, Standing::RollingBack { rejected: Some(_), .. });
        (run.is_expired(now) && !rejected).then_some(now)
    }

    /// Takes a run that expired where its timeout leads.
    pub(in crate::governed) async fn time_out(
        &self,
        open: &mut OpenRun<'_>,
        run: AnyGovernedRun,
        at: u64,
    ) -> Result<AnyGovernedRun> {
        let why = format!("{} lasted too long", run.status());
        match run {
            AnyGovernedRun::Init(run) => {
                self.halted(open, run.halt(Halt::timed_out(at)).map_err(|back| back.error.to_string()))
            }
            AnyGovernedRun::Planning(run) => {
                let asked = asked_about_plan(&open.notes);
                self.unanswered(open, run, asked.as_ref(), at)
            }
            AnyGovernedRun::Executing(run) => {
                self.call_is_lost(open, "EXECUTING expired while it was called")?;
                self.halted(open, run.halt(Halt::timed_out(at)).map_err(|back| back.error.to_string()))
            }
            AnyGovernedRun::AwaitingApproval(run) => {
                let asked = run.state().approval().clone();
                self.unanswered(open, run, Some(&asked), at)
            }
            run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_)) => {
                self.roll_back_reviewed(open, run, &why).await.map(Step::into_run)
            }
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Ok(over),
        }
    }

    /// Ends a run that a person stopped.
    pub(in crate::governed) async fn stopped(
        &self,
        open: &mut OpenRun<'_>,
        run: AnyGovernedRun,
        why: &str,
    ) -> Result<AnyGovernedRun> {
        let at = self.now();
        match run {
            // No edge but that of its timeout leads from INIT to the end.
            AnyGovernedRun::Init(run) => match self.init(open, run)?.into_run() {
                AnyGovernedRun::Planning(run) => self.passed_on(open, run, None, why, at),
                run => Ok(run),
            },
            AnyGovernedRun::Planning(run) => {
                let asked = asked_about_plan(&open.notes);
                self.passed_on(open, run, asked.as_ref(), why, at)
            }
            AnyGovernedRun::Executing(run) => {
                self.call_is_lost(open, why)?;
                let tool = run.state().progress().remaining().first().cloned().unwrap_or_default();
                self.crashed(open, run, &tool, why.to_owned()).map(Step::into_run)
            }
            AnyGovernedRun::AwaitingApproval(run) => {
                let asked = run.state().approval().clone();
                self.passed_on(open, run, Some(&asked), why, at)
            }
            run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_)) => {
                self.roll_back_reviewed(open, run, why).await.map(Step::into_run)
            }
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Ok(over),
        }
    }

    /// The question, if there is one, and the run end together.
    fn passed_on<S: Asks>(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<S>,
        asked: Option<&ApprovalId>,
        why: &str,
        at: u64,
    ) -> Result<AnyGovernedRun> {
        open.notes.standing = Standing::Idle;
        let Some(approval) = asked.and_then(|id| question(open, id)) else {
            let halt = Halt::new(S::escalation(why), at);
            return self.halted(open, S::halted(run, halt).map_err(|error| error.to_string()));
        };
        match run.escalated_with(approval, why, at) {
            Ok((run, approval)) => {
                open.keep(&approval)?;
                self.halted(open, Ok(run))
            }
            Err(back) => Err(open.inconsistent(back.error.to_string())),
        }
    }

    /// A call that was under way at the end of its run used its approval up.
    pub(super) fn call_is_lost(&self, open: &mut OpenRun<'_>, error: &str) -> Result<()> {
        let Standing::Calling { approval } = open.notes.standing.clone() else { return Ok(()) };
        if let Some(report) = open.notes.tools.last_mut().filter(|report| report.ended.is_none()) {
            report.break_off(error, self.now());
        }
        if let Some(AnyApproval::Approved(approval)) = approval.and_then(|id| open.approval(&id)) {
            self.use_up(open, approval, Outcome::Failed { error: error.to_owned() })?;
        }
        open.notes.standing = Standing::Idle;
        Ok(())
    }

    /// No answer came, or there was no plan in time: the question and the run end together (B4).
    fn unanswered<S: Asks>(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<S>,
        asked: Option<&ApprovalId>,
        at: u64,
    ) -> Result<AnyGovernedRun> {
        open.notes.standing = Standing::Idle;
        let Some(approval) = asked.and_then(|id| question(open, id)) else {
            // No plan was made, or the question of another tool's run left no record.
            return self.halted(open, S::halted(run, Halt::timed_out(at)).map_err(|error| error.to_string()));
        };
        match run.timed_out_with(approval, at) {
            Ok((run, approval)) => {
                open.keep(&approval)?;
                self.halted(open, Ok(run))
            }
            Err(back) => Err(open.inconsistent(back.to_string())),
        }
    }

    fn halted<M>(&self, open: &mut OpenRun<'_>, run: std::result::Result<M, String>) -> Result<AnyGovernedRun>
    where
        M: Run + Into<AnyGovernedRun>,
    {
        let run = run.map_err(|error| open.inconsistent(error))?;
        open.moved(&run)?;
        Ok(run.into())
    }
}
