//! AWAITING_APPROVAL: one question, one person, one answer (B4, B5, B13).

use super::{Governor, OpenRun, Result, Step, handed_back};
use crate::approval::{AnyApproval, Approval, ApprovalId, ApprovalRecord, AwaitingHuman, Request, Submit};
use crate::governed::notes::{Purpose, Standing};
use crate::governed::outcome::{PendingApproval, Waits};
use crate::governed::output::Action;
use crate::governed::when::When;
use crate::governed_run::{AwaitApproval, AwaitingApproval, Executing, GovernedRun};

impl Governor {
    /// Puts a question to a person: the run waits.
    pub(super) fn ask(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Executing>,
        purpose: Purpose,
        tool: &str,
        action: Action,
    ) -> Result<Step> {
        let number = open.notes.approvals.len() + 1;
        let id: ApprovalId = format!("{}-A{number}", open.id)
            .parse()
            .map_err(|error| open.inconsistent(format!("{error}")))?;
        let at = self.now();
        let run = match run.await_approval(AwaitApproval::new(id.clone(), at)) {
            Ok(run) => run,
            Err(rejected) => return handed_back(open, rejected),
        };
        let request = Request::new(tool, action.text, action.risk);
        let record = ApprovalRecord::new(id.clone(), open.id.clone(), request, at);
        open.keep(&Approval::new(record).submit(Submit::new(at, run.answer_by())))?;
        open.notes.standing = Standing::Asked { approval: id, purpose };
        open.moved(&run)?;
        Step::on(run)
    }

    pub(super) async fn awaiting(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<AwaitingApproval>,
    ) -> Result<Step> {
        if let Standing::RollingBack { why, rejected: Some((by, at)) } = open.notes.standing.clone() {
            return Ok(Step::On(self.finish_rejection(open, run, &why, &by, at.ms()).await?));
        }
        let waits = Waits::Approval(pending(open, &run));
        Ok(Step::Park(run.into(), waits))
    }
}

/// What a run waits for, for the person who decides.
pub(in crate::governed) fn pending(
    open: &OpenRun<'_>,
    run: &GovernedRun<AwaitingApproval>,
) -> PendingApproval {
    let id = run.state().approval().clone();
    let request = open.notes.approval(&id).map(|approval| approval.record().request().clone());
    PendingApproval { id, request, answer_by: When::from_ms(run.answer_by()) }
}

/// The question that a run waits for the answer to; none where no record of it is left.
pub(in crate::governed) fn question(
    open: &OpenRun<'_>,
    run: &GovernedRun<AwaitingApproval>,
) -> Option<Approval<AwaitingHuman>> {
    match open.notes.approval(run.state().approval()) {
        Some(AnyApproval::AwaitingHuman(approval)) => Some(approval),
        _ => None,
    }
}
