//! The events of a governed run. Each event has a time, in milliseconds since the Unix epoch.

use super::{ApprovalId, AuditPass, HaltReason, Reviewers, Rollback};

/// Planning begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(super) at: u64,
}

impl Plan {
    /// Begins planning at `at`.
    pub fn new(at: u64) -> Self {
        Plan { at }
    }
}

/// The plan is approved, by a person or by rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    pub(super) tools: Vec<String>,
    pub(super) approval: Option<ApprovalId>,
    pub(super) at: u64,
}

impl Execute {
    /// Makes the event with the plan: the tools in their order of execution. A tool may occur more than once.
    pub fn new<T: Into<String>>(tools: impl IntoIterator<Item = T>, at: u64) -> Self {
        Execute { tools: tools.into_iter().map(Into::into).collect(), approval: None, at }
    }

    /// Adds the approval of the plan to the granted approvals of the run.
    pub fn granted(self, approval: ApprovalId) -> Self {
        Execute { approval: Some(approval), ..self }
    }
}

/// A high-risk action needs a person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitApproval {
    pub(super) approval: ApprovalId,
    pub(super) at: u64,
}

impl AwaitApproval {
    /// Waits for that approval.
    pub fn new(approval: ApprovalId, at: u64) -> Self {
        AwaitApproval { approval, at }
    }
}

/// The approval is granted.
///
/// The event has the id of the approval and no proof that a person granted it: the caller is responsible for that.
/// [`GovernedRun::approved_with`](super::GovernedRun::approved_with) takes the approval itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    pub(super) approval: ApprovalId,
    pub(super) at: u64,
}

impl Approve {
    /// Records the grant of that approval.
    pub fn new(approval: ApprovalId, at: u64) -> Self {
        Approve { approval, at }
    }
}

/// All tools are completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    pub(super) at: u64,
}

impl Verify {
    /// Begins verification at `at`.
    pub fn new(at: u64) -> Self {
        Verify { at }
    }
}

/// The results hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    pub(super) reviewers: Reviewers,
    pub(super) at: u64,
}

impl Audit {
    /// Begins the audit by these reviewers.
    pub fn new(reviewers: Reviewers, at: u64) -> Self {
        Audit { reviewers, at }
    }
}

/// The audit passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete {
    pub(super) pass: AuditPass,
    pub(super) at: u64,
}

impl Complete {
    /// Completes the run with the proof of its audit.
    pub fn new(pass: AuditPass, at: u64) -> Self {
        Complete { pass, at }
    }
}

/// The changes were reverted, before this transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollBack {
    pub(super) why: String,
    pub(super) rollback: Rollback,
    pub(super) by: Option<String>,
    pub(super) at: u64,
}

impl RollBack {
    /// Records a rollback for the reason `why`, with the result `rollback`.
    pub fn new(why: impl Into<String>, rollback: Rollback, at: u64) -> Self {
        RollBack { why: why.into(), rollback, by: None, at }
    }

    /// Sets the person that halted the run, as the cause of the rollback. Default: none.
    #[must_use]
    pub fn by(self, name: impl Into<String>) -> Self {
        RollBack { by: Some(name.into()), ..self }
    }
}

/// The run is stopped for safety.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    pub(super) reason: HaltReason,
    pub(super) at: u64,
}

impl Halt {
    /// Stops the run for that reason.
    pub fn new(reason: HaltReason, at: u64) -> Self {
        Halt { reason, at }
    }

    /// Stops the run because its state expired.
    pub fn timed_out(at: u64) -> Self {
        Halt { reason: HaltReason::Timeout, at }
    }
}
