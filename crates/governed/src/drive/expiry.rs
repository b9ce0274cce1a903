//! The end of a run by a timeout or by an operator. A state that exceeds its limit takes its timeout transition, and
//! no other.

use runstate::approval::{AnyApproval, ApprovalId, Outcome};
use runstate::governed_run::{AnyGovernedRun, Asks, GovernedRun, Halt, HaltReason, Rollback};

use super::asking::{asked_about_plan, question};
use super::{Governor, OpenRun, Result, Step, went};
use crate::notes::{Standing, short};
use crate::timestamp::Timestamp;

impl Governor {
    /// The current time, if the run has expired. A timely rejection or halt stays valid, however long its rollback
    /// takes.
    pub(crate) fn expired(&self, open: &OpenRun<'_>, run: &AnyGovernedRun) -> Option<u64> {
        let now = self.now();
        (run.is_expired(now) && !open.notes.standing.is_decided()).then_some(now)
    }

    /// Ends a run that expired or that an operator halts.
    pub(crate) async fn ended(
        &self,
        open: &mut OpenRun<'_>,
        run: AnyGovernedRun,
        reason: HaltReason,
        at: u64,
    ) -> Result<AnyGovernedRun> {
        let (why, by, said) = match &reason {
            HaltReason::Person { by, why } => {
                (why.clone(), Some((by.clone(), Timestamp::from_ms(at))), reason.to_string())
            }
            _ => {
                let why = format!("{} lasted too long", run.status());
                (why.clone(), None, why)
            }
        };
        // An interrupted rollback, or one that ended too late, is not continued.
        let unfinished =
            Rollback::Incomplete { errors: vec![short(&format!("it was not finished: {said}"))] };
        let standing = open.notes.standing.clone();
        let is_timeout = reason == HaltReason::Timeout;
        let halt = Halt::new(reason, at);
        match run {
            // From INIT, only the timeout transition leads to an end.
            AnyGovernedRun::Init(run) if is_timeout => went(open, run.halt(halt)).map(Step::into_run),
            AnyGovernedRun::Init(run) => match self.init(open, run)?.into_run() {
                AnyGovernedRun::Planning(run) => self.halted_asking(open, run, None, halt),
                run => Ok(run),
            },
            AnyGovernedRun::Planning(run) => {
                let asked = asked_about_plan(&open.notes);
                self.halted_asking(open, run, asked.as_ref(), halt)
            }
            AnyGovernedRun::Executing(run) => {
                self.call_is_lost(open, &said)?;
                match standing {
                    Standing::RollingBack { why, .. } => {
                        self.rolled_back_executing(open, run, &why, unfinished)
                    }
                    Standing::Idle
                    | Standing::Calling { .. }
                    | Standing::Failed { .. }
                    | Standing::Asked { .. }
                    | Standing::Granted { .. } => went(open, run.halt(halt)),
                }
                .map(Step::into_run)
            }
            AnyGovernedRun::AwaitingApproval(run) => match standing {
                Standing::RollingBack { by: Some(_), .. } => self.rejected(open, run, &unfinished),
                Standing::RollingBack { by: None, .. }
                | Standing::Idle
                | Standing::Calling { .. }
                | Standing::Failed { .. }
                | Standing::Asked { .. }
                | Standing::Granted { .. } => {
                    let asked = run.state().approval().clone();
                    self.halted_asking(open, run, Some(&asked), halt)
                }
            },
            run @ (AnyGovernedRun::Verifying(_) | AnyGovernedRun::Auditing(_)) => {
                self.roll_back_reviewed(open, run, &why, by).await.map(Step::into_run)
            }
            over @ (AnyGovernedRun::Completed(_)
            | AnyGovernedRun::RolledBack(_)
            | AnyGovernedRun::HaltedUnsafe(_)) => Ok(over),
        }
    }

    /// Ends a call without an output. It has used up its approval.
    pub(super) fn call_is_lost(&self, open: &mut OpenRun<'_>, error: &str) -> Result<()> {
        let Standing::Calling { approval } = open.notes.standing.clone() else { return Ok(()) };
        open.notes.break_off(error, self.now());
        if let Some(AnyApproval::Approved(approval)) = approval.and_then(|id| open.approval(&id)) {
            self.use_up(open, approval, Outcome::Failed { error: short(error) })?;
        }
        open.notes.standing = Standing::Idle;
        Ok(())
    }

    /// Ends the run together with its open question. There is no question if no plan was made, or if another
    /// program's run left no record of it.
    fn halted_asking<S: Asks>(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<S>,
        asked: Option<&ApprovalId>,
        halt: Halt,
    ) -> Result<AnyGovernedRun> {
        open.notes.standing = Standing::Idle;
        let Some(approval) = asked.and_then(|id| question(open, id)) else {
            let run = S::halted(run, halt).map_err(|error| open.inconsistent(error.to_string()))?;
            open.moved(&run)?;
            return Ok(run.into());
        };
        let (run, approval) =
            run.halted_with(approval, halt).map_err(|back| open.inconsistent(back.to_string()))?;
        open.keep(&approval)?;
        open.moved(&run)?;
        Ok(run.into())
    }
}
