//! Questions of a run. A question has one approver and one answer. It is about an action, in AWAITING_APPROVAL, or
//! about the plan, in PLANNING.

use runstate::approval::{
    AnyApproval, Approval, ApprovalId, ApprovalRecord, AwaitingHuman, Request, Risk, Submit,
};
use runstate::governed_run::{
    AnyGovernedRun, AwaitApproval, AwaitingApproval, Executing, GovernedRun, Planning,
};

use super::{Governor, OpenRun, Result, Step, handed_back};
use crate::guarded::catch_panic;
use crate::notes::{Notes, Purpose, Standing};
use crate::outcome::{AwaitedInput, PendingApproval};
use crate::output::Action;
use crate::parts::ProposedPlan;
use crate::timestamp::Timestamp;

/// The name of the asking component in the approval record of a plan.
const PLANNER: &str = "planner";

impl Governor {
    /// Asks an approver about a tool. The run waits.
    pub(super) fn ask(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        purpose: Purpose,
        tool: &str,
        action: Action,
    ) -> Result<Step> {
        let (id, at) = (next_id(open)?, self.now());
        let run = match run.await_approval(AwaitApproval::new(id.clone(), at)) {
            Ok(run) => run,
            Err(rejected) => return handed_back(open, rejected),
        };
        let request = Request::new(tool, action.text, action.risk);
        submit(open, &id, request, at, run.answer_by())?;
        open.notes.standing = Standing::Asked { approval: id, purpose };
        open.moved(&run)?;
        Step::on(run)
    }

    /// Asks an approver about the recorded plan. The run stays in PLANNING without a transition. The question is
    /// answered like any other.
    pub(super) fn ask_about_plan(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Planning>,
        plan: &ProposedPlan,
    ) -> Result<Step> {
        let (id, at) = (next_id(open)?, self.now());
        let risk = plan.risks.iter().map(|declared| declared.risk).max().unwrap_or(Risk::Medium);
        let actions: Vec<_> = plan.tools.iter().map(|name| self.planned_action(open, plan, name)).collect();
        let request = Request::new(PLANNER, plan_in_words(plan, &actions), risk);
        submit(open, &id, request, at, run.answer_by())?;
        open.notes.standing = Standing::Asked { approval: id.clone(), purpose: Purpose::Plan };
        open.progressed(&run)?;
        let waits = AwaitedInput::Approval(pending(&open.notes, id, run.answer_by()));
        Ok(Step::Park(run.into(), waits))
    }

    /// The description of a planned tool's action, from before the first tool runs.
    fn planned_action(&self, open: &OpenRun<'_>, plan: &ProposedPlan, name: &str) -> String {
        let Some(tool) = self.tool(name) else { return "do nothing: there is no such tool".to_owned() };
        let view = open.view(&plan.tools, 0);
        match catch_panic(|| tool.action(&view)) {
            Ok(Action { text, risk, .. }) => format!("{text} ({risk:?} risk)"),
            Err(error) => format!("do an action that it cannot describe: {error}"),
        }
    }

    pub(super) async fn awaiting(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<AwaitingApproval>,
    ) -> Result<Step> {
        if open.notes.standing.is_decided() {
            return self.finish_rejection(open, run).await.map(Step::On);
        }
        let waits =
            AwaitedInput::Approval(pending(&open.notes, run.state().approval().clone(), run.answer_by()));
        Ok(Step::Park(run.into(), waits))
    }
}

fn next_id(open: &OpenRun<'_>) -> Result<ApprovalId> {
    let number = open.notes.approvals.len() + 1;
    format!("{}-A{number}", open.id).parse().map_err(|error| open.inconsistent(format!("{error}")))
}

/// Submits a question. Its record is written to PENDING/ together with the run.
fn submit(open: &mut OpenRun<'_>, id: &ApprovalId, request: Request, at: u64, answer_by: u64) -> Result<()> {
    let observer = open.observer(id.as_str());
    let record = ApprovalRecord::new(id.clone(), open.id.clone(), request, at).observed(observer);
    open.keep(&Approval::new(record).submit(Submit::new(at, answer_by)))
}

/// The description of a whole plan, with the actions of its tools and its checks. The answer is bound to it.
fn plan_in_words(plan: &ProposedPlan, actions: &[String]) -> String {
    let mut text = match plan.tools.as_slice() {
        [] => "execute a plan without tools".to_owned(),
        tools => format!("execute the plan {}", tools.join(", ")),
    };
    for (tool, action) in plan.tools.iter().zip(actions) {
        text.push_str(&format!("; {tool} would {action}"));
    }
    for check in &plan.checks {
        text.push_str(&format!("; then {check}"));
    }
    for declared in &plan.risks {
        text.push_str(&format!("; {:?} risk: {}", declared.risk, declared.what));
    }
    text
}

/// The open question of a run, for its approver.
pub(crate) fn pending(notes: &Notes, id: ApprovalId, answer_by: u64) -> PendingApproval {
    let request = notes.approval(&id).map(|approval| approval.record().request().clone());
    PendingApproval { id, request, answer_by: Timestamp::from_ms(answer_by) }
}

/// The open question of a run; `None` if its record is missing.
pub(crate) fn question(open: &OpenRun<'_>, id: &ApprovalId) -> Option<Approval<AwaitingHuman>> {
    match open.approval(id) {
        Some(AnyApproval::AwaitingHuman(approval)) => Some(approval),
        _ => None,
    }
}

/// The approval that a run waits for, of an action or of a plan, and its deadline. A rejected question is not asked
/// again.
pub(crate) fn asked(run: &AnyGovernedRun, notes: &Notes) -> Option<(ApprovalId, u64)> {
    match run {
        AnyGovernedRun::AwaitingApproval(_) if notes.standing.is_rolling_back() => None,
        AnyGovernedRun::AwaitingApproval(run) => Some((run.state().approval().clone(), run.answer_by())),
        AnyGovernedRun::Planning(run) => asked_about_plan(notes).map(|id| (id, run.answer_by())),
        AnyGovernedRun::Init(_)
        | AnyGovernedRun::Executing(_)
        | AnyGovernedRun::Verifying(_)
        | AnyGovernedRun::Auditing(_)
        | AnyGovernedRun::Completed(_)
        | AnyGovernedRun::RolledBack(_)
        | AnyGovernedRun::HaltedUnsafe(_) => None,
    }
}

/// The approval that a run waits for with its plan.
pub(crate) fn asked_about_plan(notes: &Notes) -> Option<ApprovalId> {
    match &notes.standing {
        Standing::Asked { approval, purpose: Purpose::Plan } => Some(approval.clone()),
        _ => None,
    }
}
