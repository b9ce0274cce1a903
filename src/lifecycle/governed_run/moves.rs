//! The guards and entries of a governed run's transitions.

use super::states::Pending;
use super::timeout::{deadline, is_past};
use super::*;
use crate::kernel::{Begin, Enter, Guard, State};

type Checked = Result<(), GovernedRunError>;

/// Fails when the state had expired at `at`. A deadline takes precedence over later events.
fn in_time<S: Timed>(from: &S, at: u64, record: &RunRecord) -> Checked {
    match deadline(from, record) {
        Some(deadline) if is_past(Some(deadline), at) => {
            Err(GovernedRunError::Expired { state: S::STATUS, deadline, at })
        }
        _ => Ok(()),
    }
}

/// Records the exit from `from` and returns the time of entry into the next state.
fn leave<S: Timed>(from: &S, at: u64, record: &mut RunRecord) -> u64 {
    record.leave(S::STATUS, from.entered_at(), at)
}

impl Begin for Init {
    fn begin(record: &mut RunRecord) -> Self {
        Init { entered_at: record.created_at() }
    }
}

impl Guard<Init, Plan> for Planning {
    type Error = GovernedRunError;

    fn check(from: &Init, event: &Plan, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)
    }
}

impl Enter<Init, Plan> for Planning {
    fn enter(from: Init, event: Plan, record: &mut RunRecord) -> Self {
        Planning { entered_at: leave(&from, event.at, record) }
    }
}

impl Guard<Planning, Execute> for Executing {
    type Error = GovernedRunError;

    fn check(from: &Planning, event: &Execute, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)
    }
}

impl Enter<Planning, Execute> for Executing {
    fn enter(from: Planning, event: Execute, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        if let Some(approval) = event.approval {
            record.grant(approval);
        }
        Executing { entered_at, progress: Progress::of(event.tools) }
    }
}

impl Guard<Executing, AwaitApproval> for AwaitingApproval {
    type Error = GovernedRunError;

    fn check(from: &Executing, event: &AwaitApproval, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)
    }
}

impl Enter<Executing, AwaitApproval> for AwaitingApproval {
    fn enter(from: Executing, event: AwaitApproval, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        let approvals_pending = Pending(event.approval);
        AwaitingApproval { entered_at, approvals_pending, progress: from.progress }
    }
}

impl Guard<AwaitingApproval, Approve> for Executing {
    type Error = GovernedRunError;

    fn check(from: &AwaitingApproval, event: &Approve, record: &RunRecord) -> Checked {
        if event.approval != *from.approval() {
            let (got, expected) = (event.approval.clone(), from.approval().clone());
            return Err(GovernedRunError::OtherApproval { got, expected });
        }
        in_time(from, event.at, record)
    }
}

impl Enter<AwaitingApproval, Approve> for Executing {
    fn enter(from: AwaitingApproval, event: Approve, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        record.grant(event.approval);
        Executing { entered_at, progress: from.progress }
    }
}

impl Guard<Executing, Verify> for Verifying {
    type Error = GovernedRunError;

    fn check(from: &Executing, event: &Verify, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)?;
        match from.progress.remaining() {
            [] => Ok(()),
            remaining => Err(GovernedRunError::ToolsRemain(ToolsRemain::new(remaining))),
        }
    }
}

impl Enter<Executing, Verify> for Verifying {
    fn enter(from: Executing, event: Verify, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        Verifying { entered_at, tools_completed: from.progress.into_tools() }
    }
}

impl Guard<Verifying, Audit> for Auditing {
    type Error = GovernedRunError;

    fn check(from: &Verifying, event: &Audit, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)
    }
}

impl Enter<Verifying, Audit> for Auditing {
    fn enter(from: Verifying, event: Audit, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        Auditing { entered_at, tools_completed: from.tools_completed, reviewers: event.reviewers }
    }
}

impl Guard<Auditing, Complete> for Completed {
    type Error = GovernedRunError;

    fn check(from: &Auditing, event: &Complete, record: &RunRecord) -> Checked {
        in_time(from, event.at, record)?;
        if event.pass.is_of(&from.reviewers) {
            return Ok(());
        }
        Err(GovernedRunError::OtherReviewers {
            got: event.pass.verdicts().iter().map(|verdict| verdict.reviewer().to_owned()).collect(),
            expected: from.reviewers.names().to_vec(),
        })
    }
}

impl Enter<Auditing, Complete> for Completed {
    fn enter(from: Auditing, event: Complete, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        Completed { entered_at, tools_completed: from.tools_completed, audit: event.pass }
    }
}

/// A source state of a rollback: the cause of the rollback, and the progress of the tools.
pub(super) trait RollsBack: Timed {
    fn cause(self, is_expired: bool) -> (RollBackCause, Progress);
}

impl RollsBack for Executing {
    fn cause(self, _: bool) -> (RollBackCause, Progress) {
        let tool = self.progress.current_tool().map(str::to_owned);
        (RollBackCause::ToolFailed { tool }, self.progress)
    }
}

impl RollsBack for AwaitingApproval {
    fn cause(self, _: bool) -> (RollBackCause, Progress) {
        (RollBackCause::Rejected { approval: self.approvals_pending.0 }, self.progress)
    }
}

impl RollsBack for Verifying {
    fn cause(self, is_expired: bool) -> (RollBackCause, Progress) {
        let timeout = RollBackCause::Timeout { state: Self::STATUS };
        let cause = if is_expired { timeout } else { RollBackCause::VerificationFailed };
        (cause, Progress::all_completed(self.tools_completed))
    }
}

impl RollsBack for Auditing {
    fn cause(self, is_expired: bool) -> (RollBackCause, Progress) {
        let timeout = RollBackCause::Timeout { state: Self::STATUS };
        let cause = if is_expired { timeout } else { RollBackCause::AuditFailed };
        (cause, Progress::all_completed(self.tools_completed))
    }
}

impl<S: RollsBack> Enter<S, RollBack> for RolledBack {
    fn enter(from: S, event: RollBack, record: &mut RunRecord) -> Self {
        let is_expired = is_past(deadline(&from, record), event.at);
        let entered_at = leave(&from, event.at, record);
        let (cause, progress) = from.cause(is_expired);
        let cause = event.by.map_or(cause, |by| RollBackCause::Person { by });
        RolledBack { entered_at, cause, why: event.why, rollback: event.rollback, progress }
    }
}

/// EXECUTING and AWAITING_APPROVAL time out to HALTED_UNSAFE, and halt after a failed rollback.
fn rolls_back_in_time<S: Timed>(from: &S, event: &RollBack, record: &RunRecord) -> Checked {
    in_time(from, event.at, record)?;
    match &event.rollback {
        Rollback::Complete => Ok(()),
        Rollback::Incomplete { errors } => {
            Err(GovernedRunError::RollbackIncomplete { state: S::STATUS, errors: errors.clone() })
        }
    }
}

impl Guard<Executing, RollBack> for RolledBack {
    type Error = GovernedRunError;

    fn check(from: &Executing, event: &RollBack, record: &RunRecord) -> Checked {
        rolls_back_in_time(from, event, record)
    }
}

impl Guard<AwaitingApproval, RollBack> for RolledBack {
    type Error = GovernedRunError;

    fn check(from: &AwaitingApproval, event: &RollBack, record: &RunRecord) -> Checked {
        rolls_back_in_time(from, event, record)
    }
}

/// A source state of a halt: the pending approval, and the progress of the tools.
pub(super) trait Halts: Timed {
    fn halted(self) -> (Option<ApprovalId>, Progress);
}

impl Halts for Init {
    fn halted(self) -> (Option<ApprovalId>, Progress) {
        (None, Progress::default())
    }
}

impl Halts for Planning {
    fn halted(self) -> (Option<ApprovalId>, Progress) {
        (None, Progress::default())
    }
}

impl Halts for Executing {
    fn halted(self) -> (Option<ApprovalId>, Progress) {
        (None, self.progress)
    }
}

impl Halts for AwaitingApproval {
    fn halted(self) -> (Option<ApprovalId>, Progress) {
        (Some(self.approvals_pending.0), self.progress)
    }
}

impl<S: Halts> Guard<S, Halt> for HaltedUnsafe {
    type Error = GovernedRunError;

    fn check(from: &S, event: &Halt, record: &RunRecord) -> Checked {
        if !event.reason.occurs_in(S::STATUS) {
            return Err(GovernedRunError::NoSuchReason { state: S::STATUS, reason: event.reason.clone() });
        }
        match deadline(from, record) {
            Some(deadline) if event.reason == HaltReason::Timeout && event.at < deadline => {
                Err(GovernedRunError::NotExpired { state: S::STATUS, deadline, at: event.at })
            }
            _ => Ok(()),
        }
    }
}

impl<S: Halts> Enter<S, Halt> for HaltedUnsafe {
    fn enter(from: S, event: Halt, record: &mut RunRecord) -> Self {
        let entered_at = leave(&from, event.at, record);
        let (approval, progress) = from.halted();
        HaltedUnsafe { entered_at, reason: event.reason, approval, progress }
    }
}
