//! A run that plans and the approval of its plan, moved in one step: both or neither.
//!
//! A plan is approved of inside PLANNING: the state has no other way on than EXECUTING, and no other way out than HALTED_UNSAFE.

use super::answer::{AnswerError, Asked, Unanswered, abort, moved};
use super::{Execute, Executing, GovernedRun, Halt, HaltReason, HaltedUnsafe, Planning, RunRecord};
use crate::approval::{self, Aborted, Approval, Approved, Executed, Outcome, Rejected};
use crate::kernel::Guard;

type Answered<T> = Result<T, Box<Unanswered<Planning>>>;

impl GovernedRun<Planning> {
    /// When the run expires, in milliseconds since the Unix epoch: by then its plan must be approved of.
    pub fn answer_by(&self) -> u64 {
        self.deadline().unwrap_or(u64::MAX)
    }

    /// A person said yes to a plan of these tools: the run executes it, which is what was approved, so that the approval is
    /// EXECUTED in the same step (B6).
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
    /// // Nobody approved: neither moves, and both come back.
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
    /// [`Unanswered`] when they do not belong together, when the time is over, or when nobody is named.
    pub fn approved_with<T: Into<String>>(
        self,
        approval: Asked,
        answer: &approval::Approve,
        tools: impl IntoIterator<Item = T>,
    ) -> Answered<(GovernedRun<Executing>, Approval<Executed>)> {
        let at = answer.decision().at();
        let event = Execute::new(tools, at).granted(approval.record().id().clone());
        let checked = self.asked_for(&approval).and_then(|()| {
            Executing::check(self.state(), &event, self.record()).map_err(AnswerError::Refused)?;
            Approved::check(approval.state(), answer, approval.record()).map_err(AnswerError::Approval)
        });
        match checked {
            Err(error) => Err(Box::new(Unanswered { run: self, approval, error })),
            Ok(()) => {
                let approval = moved(approval.approve(answer.clone()));
                let used = approval::Execute::new(Outcome::Succeeded, at);
                Ok((moved(self.execute(event)), approval.execute(used)))
            }
        }
    }

    /// The person `by` said no: the approval is ABORTED, and the run stays in PLANNING, where it may be planned anew.
    ///
    /// # Errors
    /// As [`approved_with`](Self::approved_with).
    pub fn rejected_with(
        self,
        approval: Asked,
        by: &str,
        reason: &str,
        at: u64,
    ) -> Answered<(Self, Approval<Aborted>)> {
        let answer = approval::Reject::by(by, reason, at);
        self.both_take(approval, &answer, |_, _| Ok(())).map(|(run, asked)| (run, abort(asked, answer, at)))
    }

    /// Nobody answered in time: the approval is ABORTED and the run HALTED_UNSAFE.
    ///
    /// # Errors
    /// [`Unanswered`] when they do not belong together, or when the time is not over.
    pub fn timed_out_with(
        self,
        approval: Asked,
        at: u64,
    ) -> Answered<(GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        self.halted_with(approval, approval::Reject::timed_out(at), Halt::timed_out(at), at)
    }

    /// The question was passed on: the approval is ABORTED and the run HALTED_UNSAFE. PLANNING is halted for a critical risk or
    /// a timeout alone; a plan that a person does not want to decide about counts as the first.
    ///
    /// # Errors
    /// [`Unanswered`] when they do not belong together.
    pub fn escalated_with(
        self,
        approval: Asked,
        why: &str,
        at: u64,
    ) -> Answered<(GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let risk = format!("the decision about it was passed on: {why}");
        let halt = Halt::new(HaltReason::CriticalRisk { risk }, at);
        self.halted_with(approval, approval::Reject::escalated(why, at), halt, at)
    }

    fn halted_with(
        self,
        approval: Asked,
        answer: approval::Reject,
        halt: Halt,
        at: u64,
    ) -> Answered<(GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let halts = |state: &_, record: &RunRecord| {
            HaltedUnsafe::check(state, &halt, record).map_err(AnswerError::Refused)
        };
        let (run, approval) = self.both_take(approval, &answer, halts)?;
        Ok((moved(run.halt(halt)), abort(approval, answer, at)))
    }

    /// Both, if the run would let it happen and the approval's guard the rejection.
    fn both_take(
        self,
        approval: Asked,
        answer: &approval::Reject,
        guard: impl FnOnce(&Planning, &RunRecord) -> Result<(), AnswerError>,
    ) -> Answered<(Self, Asked)> {
        let checked = self.asked_for(&approval).and_then(|()| {
            guard(self.state(), self.record())?;
            Rejected::check(approval.state(), answer, approval.record()).map_err(AnswerError::Approval)
        });
        match checked {
            Err(error) => Err(Box::new(Unanswered { run: self, approval, error })),
            Ok(()) => Ok((self, approval)),
        }
    }

    fn asked_for(&self, approval: &Asked) -> Result<(), AnswerError> {
        AnswerError::unless_of(self.record().run_id(), approval)
    }
}
