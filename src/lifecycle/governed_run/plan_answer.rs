//! Joint transitions of a planning run and the approval of its plan. Either both machines take a transition or
//! neither does.
//!
//! The plan is approved inside PLANNING, from which only EXECUTING and HALTED_UNSAFE can be reached.

use super::answer::{Answered, Asked, abort, moved};
use super::{Execute, Executing, GovernedRun, Planning};
use crate::approval::{self, Aborted, Approval, Approved, Executed, Outcome};
use crate::kernel::Guard;

impl GovernedRun<Planning> {
    /// Applies a person's approval of a plan of these tools. The run executes the plan. That execution is the
    /// approved action, so the approval is EXECUTED in the same step.
    ///
    /// ```
    /// use runstate::approval::{self, Approval, ApprovalRecord, Request, Risk, Submit};
    /// use runstate::governed_run::*;
    ///
    /// let t = 1_769_860_800_000; // 31 January 2026, 12:00:00 UTC
    /// let run = GovernedRun::new(RunRecord::new(RunId::new("PROJECT", t)?, t)).plan(Plan::new(t)).unwrap();
    /// let request = Request::new("planner", "execute the plan: build, deploy", Risk::Medium);
    /// let record = ApprovalRecord::new("APPROVAL-1".parse()?, run.record().run_id().clone(), request, t);
    /// let approval = Approval::new(record).submit(Submit::new(t, run.answer_by()));
    ///
    /// // No person approved: neither takes a transition, and both come back.
    /// let back = run.approved_with(approval, &approval::Approve::new(" ", t + 1), ["build"]).unwrap_err();
    /// assert!(back.error.to_string().starts_with("an answer needs the name of a person: got one that is blank"));
    /// let (run, approval) = (back.run, back.approval);
    /// let (run, _) = run.approved_with(approval, &approval::Approve::new("ada", t + 1), ["build", "deploy"])?;
    /// assert_eq!(run.record().approvals_granted().len(), 1);
    /// assert_eq!(run.state().progress().remaining(), ["build", "deploy"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered`](super::Unanswered) when the run does not wait for this approval, after the deadline, or when
    /// no person is named.
    pub fn approved_with<T: Into<String>>(
        self,
        approval: Asked,
        answer: &approval::Approve,
        tools: impl IntoIterator<Item = T>,
    ) -> Answered<Planning, (GovernedRun<Executing>, Approval<Executed>)> {
        let at = answer.decision().at();
        let event = Execute::new(tools, at).granted(approval.record().id().clone());
        let (run, approval) = self.if_both(
            approval,
            |state, record| Executing::check(state, &event, record),
            |approval| Approved::check(approval.state(), answer, approval.record()),
        )?;
        let approval = moved(approval.approve(answer.clone()));
        Ok((moved(run.execute(event)), approval.execute(approval::Execute::new(Outcome::Succeeded, at))))
    }

    /// Applies the rejection of the person `by`: the approval is ABORTED, and the run stays in PLANNING, where it may
    /// plan again.
    ///
    /// # Errors
    /// As [`approved_with`](Self::approved_with).
    pub fn rejected_with(
        self,
        approval: Asked,
        by: &str,
        reason: &str,
        at: u64,
    ) -> Answered<Planning, (Self, Approval<Aborted>)> {
        let answer = approval::Reject::by(by, reason, at);
        self.both_take(approval, &answer, |_, _| Ok(())).map(|(run, asked)| (run, abort(asked, answer, at)))
    }
}
