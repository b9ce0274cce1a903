//! Joint transitions of a run and its pending approval. Either both machines take a transition or neither does.

use std::error::Error;
use std::fmt;

use super::{AnyGovernedRun, Approve, Halt, Planning, RollBack, Rollback, RolledBack, RunRecord, Timed};
use super::{AwaitingApproval, Executing, GovernedRun, GovernedRunError, HaltReason, HaltedUnsafe, RunId};
use crate::approval::{self, Aborted, Approval, ApprovalError, Approved, AwaitingHuman};
use crate::kernel::Guard;

/// The run after a person's rejection. The rollback was either complete or incomplete.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum RejectedRun {
    /// All changes are reverted.
    RolledBack(GovernedRun<RolledBack>),
    /// Some changes are not reverted.
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

/// The error for a refused joint transition, with run and approval unchanged.
#[derive(Debug)]
pub struct Unanswered<S = AwaitingApproval> {
    /// The run.
    pub run: GovernedRun<S>,
    /// The approval.
    pub approval: Approval<AwaitingHuman>,
    /// The reason of the refusal.
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

/// The reason why neither the run nor the approval took a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// The approval belongs to another run.
    OtherRun {
        /// The run of the approval.
        got: RunId,
        /// The run that waits.
        expected: RunId,
    },
    /// The guard of the run refused.
    Refused(GovernedRunError),
    /// The guard of the approval refused.
    Approval(ApprovalError),
}

impl AnswerError {
    /// Fails for an approval of another run.
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

/// Each method checks both guards before either transition. Therefore the second transition cannot fail.
impl GovernedRun<AwaitingApproval> {
    /// Applies a person's approval: the run continues in EXECUTING and the approval is APPROVED.
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
    /// // A day later the deadline has passed: neither takes a transition, and both come back.
    /// let late = approval::Approve::new("ada", t + 86_400_000);
    /// let back = run.approved_with(approval, &late).unwrap_err();
    /// assert!(matches!(back.error, AnswerError::Refused(GovernedRunError::Expired { .. })));
    /// let (run, approval) = back.run.approved_with(back.approval, &approval::Approve::new("ada", t + 1))?;
    /// assert_eq!(run.record().approvals_granted(), [approval.record().id().clone()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered`](super::Unanswered) when the run does not wait for this approval, after the deadline, or when
    /// no person is named.
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

    /// Applies the rejection of the person `by`, after the rollback with the result `rollback`: the approval is
    /// ABORTED, and the run is ROLLED_BACK or, where some changes are left, HALTED_UNSAFE. `at` is the time of the
    /// answer.
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
                // A halt has no deadline. A person's answer has one, and the approval checks it.
                let reason = HaltReason::RollbackFailed { why: reason.to_owned(), errors: errors.clone() };
                let (run, approval) = self.both_halt(approval, answer, Halt::new(reason, at))?;
                Ok((RejectedRun::HaltedUnsafe(run), approval))
            }
        }
    }
}

/// A state in which a run may wait for a person's answer: AWAITING_APPROVAL, and PLANNING with a question about its
/// plan.
pub trait Asks: Timed + fmt::Debug {
    #[doc(hidden)]
    fn belongs(&self, record: &RunRecord, approval: &Approval<AwaitingHuman>) -> Result<(), AnswerError>;

    /// The reason of a halt after the question was escalated.
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
// PLANNING has no halt for an escalation; an escalated question about a plan counts as a critical risk.
asks! {
    Planning,
    |_: &Planning, _: &Asked| Ok(()),
    |why| HaltReason::CriticalRisk { risk: format!("the decision about it was escalated: {why}") }
}

/// A run and its approval after an answer, or both unchanged in the error.
pub(super) type Answered<S, T> = Result<T, Box<Unanswered<S>>>;

impl<S: Asks> GovernedRun<S> {
    /// The expiry of the run, in milliseconds since the Unix epoch. It is the deadline of a person's answer.
    pub fn answer_by(&self) -> u64 {
        self.deadline().unwrap_or(u64::MAX)
    }

    /// Applies a timeout without an answer: the approval is ABORTED and the run HALTED_UNSAFE.
    ///
    /// # Errors
    /// [`Unanswered`] when the run does not wait for this approval, or before the deadline.
    pub fn timed_out_with(
        self,
        approval: Asked,
        at: u64,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        self.halted_with(approval, Halt::timed_out(at))
    }

    /// Applies an escalation of the question: the approval is ABORTED and the run HALTED_UNSAFE.
    ///
    /// # Errors
    /// [`Unanswered`] when the run does not wait for this approval.
    pub fn escalated_with(
        self,
        approval: Asked,
        why: &str,
        at: u64,
    ) -> Answered<S, (GovernedRun<HaltedUnsafe>, Approval<Aborted>)> {
        let halt = Halt::new(S::escalation(why), at);
        self.both_halt(approval, approval::Reject::escalated(why, at), halt)
    }

    /// Applies a halt before an answer, for a timeout or by a person: the approval is ABORTED with the run.
    ///
    /// # Errors
    /// [`Unanswered`] when the run does not wait for this approval, or when the state has no such halt.
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

    /// Returns both if the guards of run and approval accept the transitions.
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

    /// Returns both if the approval is of this run and neither guard refuses.
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

/// Unwraps a transition after its guard was checked.
pub(super) fn moved<T, E>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|_| unreachable!("the guard let it pass, and nothing has changed since"))
}
