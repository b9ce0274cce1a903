//! EXECUTING: the tools run one after the other, each as often as it may, none without the approval it needs.

use super::{Governor, OpenRun, Result, Step, went};
use crate::approval::{AnyApproval, Approval, ApprovalId, Approved, Execute, Outcome};
use crate::governed::guarded::sheltered;
use crate::governed::notes::{Purpose, Standing};
use crate::governed::output::Action;
use crate::governed::parts::GovernedTool;
use crate::governed_run::{Executing, GovernedRun, Halt, HaltReason, MOST_TRIES, Verify};

const NO_TOOL: &str = "there is no such tool any more";

pub(super) enum Begin {
    /// A try of its own: the first, or one after a failure.
    Try,
    /// The try that asked for an approval, or that a crash cut short, goes on.
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

    /// The next try: of the tool that failed, or of the next one; or on to the verification.
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

    /// A call that was under way when the process ended (B10).
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

    /// A person said yes to something; it is done now, if it is still the same.
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
            // What was approved is not what would be done: that approval stays unused, and the person is asked anew.
            Ok(action) => {
                open.notes.standing = Standing::Idle;
                self.ask(open, run, Purpose::Begin, &name, action)
            }
            Err(error) => self.crashed(open, run, &name, error),
        }
    }

    /// The tool under way is completed. The next write has that, before any part is asked for anything with effects.
    pub(super) fn complete(&self, open: &mut OpenRun<'_>, mut run: GovernedRun<Executing>) -> Result<Step> {
        run.complete_tool(self.now()).map_err(|error| open.inconsistent(error.to_string()))?;
        open.notes.standing = Standing::Idle;
        Step::on(run)
    }

    /// An approval is used up by the attempt, whatever came of it (B6).
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
        sheltered(|| tool.action(&view))
    }

    /// A tool with effects that are not known (B7).
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

/// The approval that is about to be used.
fn approved(open: &OpenRun<'_>, id: &ApprovalId) -> Result<Approval<Approved>> {
    match open.approval(id) {
        Some(AnyApproval::Approved(approval)) => Ok(approval),
        _ => Err(open.inconsistent(format!("approval {id} is not there to be used"))),
    }
}
