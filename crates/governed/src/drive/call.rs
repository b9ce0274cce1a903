//! One call of a tool, and the transition that its output causes.

use runstate::approval::{Approval, Approved, Outcome, Request, Risk};
use runstate::governed_run::{Executing, GovernedRun, GovernedRunError};

use super::executing::Begin;
use super::{Governor, OpenRun, Result, Step};
use crate::guarded::{Ended, guarded};
use crate::notes::{Purpose, Standing, ToolReport, short};
use crate::output::{Action, ToolOutput, ToolStatus};
use crate::parts::{Call, GovernedTool};

/// The size limit for the changes of one call in bytes.
const MOST_CHANGES: usize = 8 << 20;

impl Governor {
    /// Calls a tool. The start of the call is made durable before it, and its result right after it.
    pub(super) async fn call(
        &self,
        open: &mut OpenRun<'_>,
        mut run: GovernedRun<Executing>,
        tool: &dyn GovernedTool,
        approval: Option<Approval<Approved>>,
        begin: Begin,
    ) -> Result<Step> {
        let at = self.now();
        if run.is_expired(at) {
            return Step::on(run);
        }
        if let Begin::Try = begin {
            let begun = match run.state().progress().current_tool() {
                None => run.start_tool(at),
                Some(_) => run.retry_tool(at).map(drop),
            };
            match begun {
                Ok(()) => {}
                Err(GovernedRunError::Expired { .. }) => return Step::on(run),
                Err(error) => return Err(open.inconsistent(error.to_string())),
            }
        }
        let number = run.state().progress().tries();
        let request = approval.as_ref().map(|approval| approval.record().request().clone());
        let id = approval.as_ref().map(|approval| approval.record().id().clone());
        open.notes.standing = Standing::Calling { approval: id.clone() };
        let place = run.state().progress().completed().len();
        let begun = ToolReport::begun(tool.name(), place, number, at);
        open.notes.tools.push(ToolReport { approval: id, ..begun });
        open.progressed(&run)?;

        let deadline = run.deadline();
        let progress = run.state().progress();
        let call = Call {
            run: open.view(progress.planned(), progress.completed().len()),
            number,
            granted: request.as_ref(),
        };
        let ended = guarded(self.clock.as_ref(), deadline, tool.call(&call)).await;
        let output = match ended {
            Ended::Done(Ok(output)) => output,
            Ended::TimedOut => {
                self.call_is_lost(open, "it was stopped: EXECUTING expired")?;
                return Step::on(run);
            }
            Ended::Done(Err(why)) => return self.call_crashed(open, run, tool, &why.to_string()),
            Ended::Panicked(why) => return self.call_crashed(open, run, tool, &why),
        };
        let output = self.checked(output, request.as_ref());
        self.answered(open, run, tool, approval, output)
    }

    /// Checks an output. An invalid output is replaced by a failure.
    fn checked(&self, output: ToolOutput, granted: Option<&Request>) -> ToolOutput {
        let fault = match (output.check(), &output.action, granted) {
            (Err(invalid), ..) => Some(format!("invalid output: {invalid}")),
            // A rollback may need each change, so none may be omitted.
            (Ok(()), ..) if output.changes_length() > MOST_CHANGES => {
                let (count, length) = (output.changes.len(), output.changes_length());
                let why = format!(
                    "it names {count} changes of {length} bytes, and the limit is {MOST_CHANGES} bytes"
                );
                return ToolOutput { evidence: output.evidence, ..ToolOutput::halted(why) };
            }
            // Without this check, the tool could ask again forever.
            (Ok(()), Some(action), Some(granted)) if action.text == granted.action() => {
                Some("it asked again for the granted action".to_owned())
            }
            _ => None,
        };
        match fault {
            Some(error) => ToolOutput {
                evidence: output.evidence,
                changes: output.changes,
                risks: output.risks,
                ..ToolOutput::fail(error)
            },
            None => output,
        }
    }

    fn answered(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        tool: &dyn GovernedTool,
        approval: Option<Approval<Approved>>,
        output: ToolOutput,
    ) -> Result<Step> {
        let shown = approval.as_ref().map(|approval| approval.record().request().risk());
        let (status, risk, action) = (output.status, output.risk(), output.action.clone());
        let error = output.error.as_deref().map(short).unwrap_or_default();
        let kept = kept_action(tool.name(), &output);
        if let Some(report) = open.notes.tools.last_mut() {
            report.end(output, self.now());
        }
        if let Some(approval) = approval {
            let outcome = match status {
                ToolStatus::Pass => Outcome::Succeeded,
                ToolStatus::Fail | ToolStatus::Halted => Outcome::Failed { error: error.clone() },
                ToolStatus::NeedsApproval => {
                    Outcome::Failed { error: "it asked for something else".to_owned() }
                }
            };
            self.use_up(open, approval, outcome)?;
        }
        match (status, action) {
            (ToolStatus::Pass, _) => match risk {
                // The approver has seen this risk of the action already, and is not asked about it again.
                Some(risk) if risk.needs_approval() && shown < Some(risk) => {
                    let action = Action::new(kept, risk);
                    self.ask(open, run, Purpose::Keep, tool.name(), action)
                }
                _ => self.complete(open, run),
            },
            (ToolStatus::Halted, _) => self.crashed(open, run, tool.name(), error),
            (ToolStatus::NeedsApproval, Some(action)) => {
                self.ask(open, run, Purpose::GoOn, tool.name(), action)
            }
            (ToolStatus::Fail | ToolStatus::NeedsApproval, _) => {
                // The next write records this, as for a completed tool.
                open.notes.standing = Standing::Failed { error };
                Step::on(run)
            }
        }
    }

    fn call_crashed(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        tool: &dyn GovernedTool,
        why: &str,
    ) -> Result<Step> {
        self.call_is_lost(open, why)?;
        self.crashed(open, run, tool.name(), short(why))
    }
}

/// The results that an approver is asked to keep, with their risks.
fn kept_action(tool: &str, output: &ToolOutput) -> String {
    let risks = output.risks.iter().filter(|declared| declared.risk >= Risk::Medium);
    let risks: Vec<String> =
        risks.map(|declared| format!("{:?}: {}", declared.risk, declared.what)).collect();
    let changes: Vec<String> =
        output.changes.iter().map(|change| format!("{} {}", change.kind, change.what)).collect();
    let mut text = format!("keep the changes of {tool} ({})", short(&output.evidence.join("; ")));
    if !changes.is_empty() {
        text.push_str(&format!("; changes: {}", short(&changes.join(", "))));
    }
    text.push_str(&format!("; risks: {}", short(&risks.join("; "))));
    text
}
