//! A state that lasted its limit: the run goes where the timeout leads, and nowhere else (B3, B4).

use super::asking::{asked_about_plan, question};
use super::{Governor, OpenRun, Result, Run, Step, went};
use crate::approval::{AnyApproval, ApprovalId, Outcome};
use crate::governed::notes::{Standing, short};
use crate::governed::when::When;
use crate::governed_run::{AnyGovernedRun, Asks, GovernedRun, Halt, HaltReason, Rollback};

impl Governor {
    /// The time, if the run has expired by it. A rejection or a halt that came in time stands, however long its rollback takes.
    pub(in crate::governed) fn expired(&self, open: &OpenRun<'_>, run: &AnyGovernedRun) -> Option<u64> {
        let now = self.now();
        let decided = matches!(open.notes.standing, Standing::RollingBack { by: Some(_), .. });
        (run.is_expired(now) && !decided).then_some(now)
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
                self.halted_asking(open, run, asked.as_ref(), Halt::timed_out(at))
            }
            AnyGovernedRun::Executing(run) => {
                self.call_is_lost(open, "EXECUTING expired while it was called")?;
                self.halted(open, run.halt(Halt::timed_out(at)).map_err(|back| back.error.to_string()))
            }
            AnyGovernedRun::AwaitingApproval(run) => {
                let asked = run.state().approval().clone();
                self.halted_asking(open, run, Some(&asked), Halt::timed_out(at))
            }
            run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_)) => {
                self.roll_back_reviewed(open, run, &why, None).await.map(Step::into_run)
            }
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Ok(over),
        }
    }

    /// Ends a run that a person halted.
    pub(in crate::governed) async fn halted_by(
        &self,
        open: &mut OpenRun<'_>,
        run: AnyGovernedRun,
        by: &str,
        why: &str,
    ) -> Result<AnyGovernedRun> {
        let (at, reason) = (self.now(), HaltReason::Person { by: by.to_owned(), why: why.to_owned() });
        // A rollback that was broken off is not gone on with.
        let broken_off =
            || Rollback::Incomplete { errors: vec![short(&format!("it was broken off: {reason}"))] };
        match run {
            // No edge but that of its timeout leads from INIT to the end.
            AnyGovernedRun::Init(run) => match self.init(open, run)?.into_run() {
                AnyGovernedRun::Planning(run) => self.halted_asking(open, run, None, Halt::new(reason, at)),
                run => Ok(run),
            },
            AnyGovernedRun::Planning(run) => {
                let asked = asked_about_plan(&open.notes);
                self.halted_asking(open, run, asked.as_ref(), Halt::new(reason, at))
            }
            AnyGovernedRun::Executing(run) => {
                self.call_is_lost(open, &reason.to_string())?;
                match open.notes.standing.clone() {
                    Standing::RollingBack { why, .. } => {
                        self.rolled_back_executing(open, run, &why, broken_off())
                    }
                    _ => went(open, run.halt(Halt::new(reason, at))),
                }
                .map(Step::into_run)
            }
            AnyGovernedRun::AwaitingApproval(run) => match open.notes.standing.clone() {
                Standing::RollingBack { why, by: Some((by, at)) } => {
                    self.rejected(open, run, &why, &by, at.ms(), &broken_off())
                }
                _ => {
                    let asked = run.state().approval().clone();
                    self.halted_asking(open, run, Some(&asked), Halt::new(reason, at))
                }
            },
            run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_)) => {
                let by = Some((by.to_owned(), When::from_ms(at)));
                self.roll_back_reviewed(open, run, why, by).await.map(Step::into_run)
            }
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Ok(over),
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

    /// The question, if there is one, and the run end together (B4). No plan was made, or the question of another tool's run left no
    /// record, where there is none.
    fn halted_asking<S: Asks>(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<S>,
        asked: Option<&ApprovalId>,
        halt: Halt,
    ) -> Result<AnyGovernedRun> {
        open.notes.standing = Standing::Idle;
        let Some(approval) = asked.and_then(|id| question(open, id)) else {
            return self.halted(open, S::halted(run, halt).map_err(|error| error.to_string()));
        };
        match run.halted_with(approval, halt) {
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
