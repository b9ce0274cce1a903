//! A run and the approval that it waits for, moved in one step: both or neither (B4, B5).

use std::error::Error;
use std::fmt;

use super::{AnyGovernedRun, Approve, Halt, Planning, RollBack, Rollback, RolledBack, RunRecord, Timed};
use super::{AwaitingApproval, Executing, GovernedRun, GovernedRunError, HaltReason, HaltedUnsafe, RunId};
use crate::approval::{self, Aborted, Approval, ApprovalError, Approved, AwaitingHuman};
use crate::kernel::Guard;

/// Where a rejection by a person leads: the rollback was complete, or it was not.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum RejectedRun {
    /// The changes are reverted.
    RolledBack(GovernedRun<RolledBack>),
    /// Some are not (B7).
    HaltedUnsafe(GovernedRun<HaltedUnsafe>),
}

impl From<RejectedRun> for AnyGovernedRun {
    fn from(run: RejectedRun) -> Self {
        match run {
            RejectedRun::RolledBack(run) => run.into(),
            RejectedRun::HaltedUnsafe(run) => run.into(),
        }
    }
}

/// A run and an approval that did not move, as they were.
#[derive(Debug)]
pub struct Unanswered<S = AwaitingApproval> {
    /// The run.
    pub run: GovernedRun<S>,
    /// The approval.
    pub approval: Approval<AwaitingHuman>,
    /// Why neither moved.
    pub error: AnswerError,
}

impl<S> fmt::Display for Unanswered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<S: fmt::Debug> Error for Unanswered<S> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// Why an answer moved neither the run nor the approval.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// The approval was asked for by another run.
    OtherRun {
        /// The run that asked.
        got: RunId,
        /// The run that waits.
        expected: RunId,
    },
    /// The run refuses.
    Refused(GovernedRunError),
    /// The approval refuses.
    Approval(ApprovalError),
}

impl AnswerError {
    /// Fails for an approval that another run asked for.
    pub(super) fn unless_of(expected: &RunId, approval: &Asked) -> Result<(), Self> {
        let got = approval.record().run_id();
        if got == expected {
            return Ok(());
        }
        Err(AnswerError::OtherRun { got: got.clone(), expected: expected.clone() })
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::OtherRun { got, expected } => {
                write!(f, "the approval is for run {got}, the run that waits is {expected}")
            }
            AnswerError::Refused(error) => error.fmt(f),
            AnswerError::Approval(error) => error.fmt(f),
        }
    }
}

impl Error for AnswerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AnswerError::OtherRun { .. } => None,
            AnswerError::Refused(error) => Some(error),
            AnswerError::Approval(error) => Some(error),
        }
    }
}

pub(super) type Asked = Approval<AwaitingHuman>;

/// Each step looks at both guards before it moves either machine; so the second move cannot fail.
impl GovernedRun<AwaitingApproval> {
    /// A person said yes: the run goes on executing and the approval is APPROVED.
    ///
    /// ```
    /// use runstate::approval::{self, Approval, ApprovalRecord, Request, Risk, Submit};
    /// use runstate::governed_run::*;
    ///
    /// let t = 1_769_860_800_000; // 31 January 2026, 12:00:00 UTC
    /// let run = GovernedRun::new(RunRecord::new(RunId::new("PROJECT", t)?, t));
    /// let run = run.plan(Plan::new(t)).unwrap().execute(Execute::new(["deploy"], t)).unwrap();
    /// let run = run.await_approval(AwaitApproval::new("APPROVAL-1".parse()?, t)).unwrap();
    ///
    /// let request = Request::new("deploy", "push to production", Risk::High);
    /// let record = ApprovalRecord::new("APPROVAL-1".parse()?, run.record().run_id().clone(), request, t);
    /// let approval = Approval::new(record).submit(Submit::new(t, run.answer_by()));
    ///
    /// // A day later it is too late: neither moves, and both come back.
    /// let late = approval::Approve::new("ada", t + 86_400_000);
    /// let back = run.approved_with(approval, &late).unwrap_err();
    /// assert!(matches!(back.error, AnswerError::Refused(GovernedRunError::Expired { .. })));
    /// let (run, approval) = back.run.approved_with(back.approval, &approval::Approve::new("ada", t + 1))?;
    /// assert_eq!(run.record().approvals_granted(), [approval.record().id().clone()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered`](super::Unanswered) when they do not belong together, when the time is over, or when no person is named.
    pub fn approved_with(
        self,
        approval: Asked,
        answer: &approval::Approve,
    ) -> Answered<AwaitingApproval, (GovernedRun<Executing>, Approval<Approved>)> {
        let event = Approve::new(approval.record().id().clone(), answer.decision().at());
        let (run, approval) = self.if_both(
            approval,
            |state, record| Executing::check(state, &event, record),
            |approval| Approved::check(approval.state(), answer, approval.record()),
        )?;
        Ok((moved(run.approve(event)), moved(approval.approve(answer.clone()))))
    }

    /// The person `by` said no, and the changes were rolled back as `rollback` says: the approval is ABORTED, and the run is
    /// ROLLED_BACK or, where some changes are left, HALTED_UNSAFE. `at` is the time of the answer.
    ///
    /// # Errors
    /// As [`approved_with`](Self::approved_with).
    pub fn rejected_with(
        self,
        approval: Asked,
        by: &str,
        reason: &str,
        rollback: &Rollback,
        at: u64,
    ) -> Answered<AwaitingApproval, (RejectedRun, Approval<Aborted>)> {
        let answer = approval::Reject::by(by, reason, at);
        match rollback {
            Rollback::Complete => {
                let event = RollBack::new(reason, rollback.clone(), at);
                let refused = |state: &_, record: &RunRecord| RolledBack::check(state, &event, record);
                let (run, approval) = self.both_take(approval, &answer, refused)?;
                let (run, approval) = (moved(run.roll_back(event)), abort(approval, answer, at));
                Ok((RejectedRun::RolledBack(run), approval))
            }
            Rollback::Incomplete { errors } => {
                // A halt has no deadline; a person's answer does, and the approval refuses it.
                let reason = HaltReason::RollbackFailed { why: reason.to_owned(), errors: errors.clone() };
                let (run, approval) = self.both_halt(approval, answer, Halt::new(reason, at))?;
                Ok((RejectedRun::HaltedUnsafe(run), approval))
            }
        }
    }
}

/// A state in which a run may wait for a person's answer: AWAITING_APPROVAL, and PLANNING with a question about its plan.
pub trait Asks: Timed + fmt::Debug {
    #[doc(hidden)]
    fn belongs(&self, record: &RunRecord, approval: &Approval<AwaitingHuman>) -> Result<(), AnswerError>;

    /// The reason of a halt with a question that was passed on.
    #[doc(hidden)]
    fn escalation(why: &str) -> HaltReason;

    #[doc(hidden)]
    fn check_halt(&self, record: &RunRecord, halt: &Halt) -> Result<(), GovernedRunError>;

    #[doc(hidden)]
    fn halted(run: GovernedRun<Self>, halt: Halt) -> Result<GovernedRun<HaltedUnsafe>, GovernedRunError>
    where
        Self: Sized;
}

macro_rules! asks {
    ($State:ident, $belongs:expr, $escalation:expr) => {
        impl Asks for $State {
            fn belongs(&self, record: &RunRecord, approval: &Asked) -> Result<(), AnswerError> {
                AnswerError::unless_of(record.run_id(), approval)?;
                $belongs(self, approval)
            }

            fn escalation(why: &str) -> HaltReason {
                $escalation(why.to_owned())
            }

            fn check_halt(&self, record: &RunRecord, halt: &Halt) -> Result<(), GovernedRunError> {
                HaltedUnsafe::check(self, halt, record)
            }

            fn halted(
                run: GovernedRun<Self>,
                halt: Halt,
            ) -> Result<GovernedRun<HaltedUnsafe>, GovernedRunError> {
                run.halt(halt).map_err(|rejected| rejected.error)
            }
        }
    };
}
asks! {
    AwaitingApproval,
    |state: &AwaitingApproval, approval: &Asked| {
        let (got, expected) = (approval.record().id(), state.approval());
        if got == expected {
            return Ok(());
        }
        let (got, expected) = (got.clone(), expected.clone());
        Err(AnswerError::Refused(GovernedRunError::OtherApproval { got, expected }))
    },
    |why| HaltReason::Escalation { why }
}
// PLANNING is halted for a critical risk or a timeout alone; a plan that a person does not want to decide about counts as the first.
asks! {
    Planning,
    |_: &Planning, _: &Asked| Ok(()),
    |why| HaltReason::CriticalRisk { risk: format!("the decision about it was passed on: {why}") }
}

/// A run and its approval behind an answer; or both as they were.
pub(super) type Answered<S, T> = Result<T, Box<Unanswered<S>>>;

impl<S: Asks> GovernedRun<S> {
    /// When the run expires, in milliseconds since the Unix epoch: by then a person must have answered.
    pub fn answer_by(&self) -> u64 {
        self.deadline().unwrap_or(u64::MAX)
    }

    /// No answer came in time: the approval is ABORTED and the run HALTED_UNSAFE.
    ///
    /// # Errors
    /// [`Unanswered`] when they do not belong together, or when the time is not over.
    pub fn timed_out_with(
        self,
        approval: Asked,
        at: u64,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        self.halted_with(approval, Halt::timed_out(at))
    }

    /// The question was passed on: the approval is ABORTED and the run HALTED_UNSAFE.
    ///
    /// # Errors
    /// [`Unanswered`] when they do not belong together.
    pub fn escalated_with(
        self,
        approval: Asked,
        why: &str,
        at: u64,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let halt = Halt::new(S::escalation(why), at);
        self.both_halt(approval, approval::Reject::escalated(why, at), halt)
    }

    /// The run is halted before an answer, for a timeout or by a person: the approval is ABORTED with it.
    ///
    /// # Errors
    /// [`Unanswered`] when they do not belong together, or when there is no such halt.
    pub fn halted_with(
        self,
        approval: Asked,
        halt: Halt,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let answer = match &halt.reason {
            HaltReason::Timeout => approval::Reject::timed_out(halt.at),
            reason => approval::Reject::escalated(reason.to_string(), halt.at),
        };
        self.both_halt(approval, answer, halt)
    }

    fn both_halt(
        self,
        approval: Asked,
        answer: approval::Reject,
        halt: Halt,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let at = halt.at;
        let refused = |state: &S, record: &RunRecord| state.check_halt(record, &halt);
        let (run, approval) = self.both_take(approval, &answer, refused)?;
        Ok((moved(S::halted(run, halt)), abort(approval, answer, at)))
    }

    /// Both, if the run's guard and the approval's would let them go.
    pub(super) fn both_take(
        self,
        approval: Asked,
        answer: &approval::Reject,
        guard: impl FnOnce(&S, &RunRecord) -> Result<(), GovernedRunError>,
    ) -> Answered<S, (Self, Asked)> {
        self.if_both(approval, guard, |approval| {
            approval::Rejected::check(approval.state(), answer, approval.record())
        })
    }

    /// Both, if they belong together and neither guard refuses.
    pub(super) fn if_both(
        self,
        approval: Asked,
        guard: impl FnOnce(&S, &RunRecord) -> Result<(), GovernedRunError>,
        of_approval: impl FnOnce(&Asked) -> Result<(), ApprovalError>,
    ) -> Answered<S, (Self, Asked)> {
        let checked = self.state().belongs(self.record(), &approval).and_then(|()| {
            guard(self.state(), self.record()).map_err(AnswerError::Refused)?;
            of_approval(&approval).map_err(AnswerError::Approval)
        });
        match checked {
            Err(error) => Err(Box::new(Unanswered { run: self, approval, error })),
            Ok(()) => Ok((self, approval)),
        }
    }
}

pub(super) fn abort(approval: Asked, answer: approval::Reject, at: u64) -> Approval<Aborted> {
    moved(approval.reject(answer)).abort(approval::Abort::new(at))
}

/// The machine after a move whose guard was asked before.
pub(super) fn moved<T, E>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|_| unreachable!("the guard let it pass, and nothing has changed since"))
}
