//! EXECUTING: the tools run one after the other, each with a limited number of attempts, and never without a required
//! approval.

use runstate::approval::{AnyApproval, Approval, ApprovalId, Approved, Execute, Outcome};
use runstate::governed_run::{Executing, GovernedRun, Halt, HaltReason, MOST_TRIES, Verify};

use super::{Governor, OpenRun, Result, Step, went};
use crate::guarded::catch_panic;
use crate::notes::{Purpose, Standing};
use crate::output::Action;
use crate::parts::GovernedTool;

const NO_TOOL: &str = "there is no such tool any more";

pub(super) enum Begin {
    /// A new attempt: the first, or one after a failure.
    Try,
    /// The continuation of an attempt that asked for an approval or was interrupted by a crash.
    GoOn,
}

impl Governor {
    pub(super) async fn executing(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
    ) -> Result<Step> {
        match open.notes.standing.clone() {
            Standing::RollingBack { why, .. } => self.roll_back_executing(open, run, &why).await,
            Standing::Calling { approval } => self.found_calling(open, run, approval).await,
            Standing::Granted { approval, purpose } => {
                let approval = approved(open, &approval)?;
                self.granted(open, run, approval, purpose).await
            }
            Standing::Failed { error } if run.state().progress().tries() >= MOST_TRIES => {
                let tool = run.state().progress().current_tool().unwrap_or_default();
                let why = format!("{tool} failed {MOST_TRIES} times, the last time: {error}");
                self.roll_back_executing(open, run, &why).await
            }
            Standing::Failed { .. } | Standing::Idle | Standing::Asked { .. } => self.next(open, run).await,
        }
    }

    /// Begins the next attempt, of the failed tool or of the next one. After the last tool, the run goes on to
    /// verification.
    async fn next(&self, open: &mut OpenRun<'_>, run: GovernedRun<Executing>) -> Result<Step> {
        let Some(name) = run.state().progress().remaining().first().cloned() else {
            return went(open, run.verify(Verify::new(self.now())));
        };
        let Some(tool) = self.tool(&name) else { return self.crashed(open, run, &name, NO_TOOL.to_owned()) };
        if !self.rules.gates.requires(&name) {
            return self.call(open, run, tool, None, Begin::Try).await;
        }
        match self.action_of(open, &run, tool) {
            Ok(action) => self.ask(open, run, Purpose::Begin, &name, action),
            Err(error) => self.crashed(open, run, &name, error),
        }
    }

    /// Handles a call that was in progress when the process ended. A read-only tool is called again. Any other tool
    /// halts the run, because its effects are in doubt.
    async fn found_calling(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        approval: Option<ApprovalId>,
    ) -> Result<Step> {
        let Some(name) = run.state().progress().current_tool().map(str::to_owned) else {
            return Err(open.inconsistent("a call is under way, and no tool is".to_owned()));
        };
        let error = "the process ended while it was called";
        match self.tool(&name) {
            Some(tool) if tool.is_read_only() => {
                let approval = approval.map(|id| approved(open, &id)).transpose()?;
                open.notes.break_off(error, self.now());
                self.call(open, run, tool, approval, Begin::GoOn).await
            }
            _ => {
                self.call_is_lost(open, error)?;
                went(open, run.halt(Halt::new(HaltReason::InDoubt { tool: name }, self.now())))
            }
        }
    }

    /// Performs an approved action, if it has not changed since.
    async fn granted(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        approval: Approval<Approved>,
        purpose: Purpose,
    ) -> Result<Step> {
        let request = approval.record().request().clone();
        let name = run.state().progress().remaining().first().cloned().unwrap_or_default();
        if request.tool() != name {
            return Err(
                open.inconsistent(format!("the approval is for {}, the next tool is {name}", request.tool()))
            );
        }
        if purpose == Purpose::Keep {
            self.use_up(open, approval, Outcome::Succeeded)?;
            return self.complete(open, run);
        }
        let Some(tool) = self.tool(&name) else { return self.crashed(open, run, &name, NO_TOOL.to_owned()) };
        if purpose == Purpose::GoOn {
            return self.call(open, run, tool, Some(approval), Begin::GoOn).await;
        }
        match self.action_of(open, &run, tool) {
            Ok(action) if action.text == request.action() && action.risk == request.risk() => {
                self.call(open, run, tool, Some(approval), Begin::Try).await
            }
            // The action differs from the approved one. That approval stays unused, and the approver is asked again.
            Ok(action) => {
                open.notes.standing = Standing::Idle;
                self.ask(open, run, Purpose::Begin, &name, action)
            }
            Err(error) => self.crashed(open, run, &name, error),
        }
    }

    /// Completes the current tool. The next write records that, before any part performs further effects.
    pub(super) fn complete(&self, open: &mut OpenRun<'_>, mut run: GovernedRun<Executing>) -> Result<Step> {
        run.complete_tool(self.now()).map_err(|error| open.inconsistent(error.to_string()))?;
        open.notes.standing = Standing::Idle;
        Step::on(run)
    }

    /// Uses up an approval with the attempt, whatever its outcome is.
    pub(super) fn use_up(
        &self,
        open: &mut OpenRun<'_>,
        approval: Approval<Approved>,
        outcome: Outcome,
    ) -> Result<()> {
        open.keep(&approval.execute(Execute::new(outcome, self.now())))
    }

    pub(super) fn action_of(
        &self,
        open: &OpenRun<'_>,
        run: &GovernedRun<Executing>,
        tool: &dyn GovernedTool,
    ) -> std::result::Result<Action, String> {
        let progress = run.state().progress();
        let view = open.view(progress.planned(), progress.completed().len());
        catch_panic(|| tool.action(&view))
    }

    /// Halts the run because of a tool with unknown effects.
    pub(super) fn crashed(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        tool: &str,
        error: String,
    ) -> Result<Step> {
        let reason = HaltReason::CriticalFailure { tool: tool.to_owned(), error };
        went(open, run.halt(Halt::new(reason, self.now())))
    }
}

/// The approval to be used next.
fn approved(open: &OpenRun<'_>, id: &ApprovalId) -> Result<Approval<Approved>> {
    match open.approval(id) {
        Some(AnyApproval::Approved(approval)) => Ok(approval),
        _ => Err(open.inconsistent(format!("approval {id} is not there to be used"))),
    }
}
