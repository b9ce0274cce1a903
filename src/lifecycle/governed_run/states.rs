//! The states of a governed run, with their data.

use serde::{Deserialize, Serialize};

use super::timeout::sealed::Sealed;
use super::{ApprovalId, AuditPass, HaltReason, Progress, Reviewers, RollBackCause, Rollback, Timed};

/// The run exists; planning has not begun.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Init {
    pub(super) entered_at: u64,
}

/// The project is inspected and tools are chosen.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planning {
    pub(super) entered_at: u64,
}

/// The tools of the plan run one after the other.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Executing {
    pub(super) entered_at: u64,
    pub(super) progress: Progress,
}

/// A person must decide before the run continues.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitingApproval {
    pub(super) entered_at: u64,
    pub(super) approvals_pending: Pending,
    pub(super) progress: Progress,
}

/// All tools are completed; the results are checked.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verifying {
    pub(super) entered_at: u64,
    pub(super) tools_completed: Vec<String>,
}

/// The results hold; the reviewers audit the run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auditing {
    pub(super) entered_at: u64,
    pub(super) tools_completed: Vec<String>,
    pub(super) reviewers: Reviewers,
}

/// All reviewers passed the run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completed {
    pub(super) entered_at: u64,
    pub(super) tools_completed: Vec<String>,
    pub(super) audit: AuditPass,
}

/// The changes of the run were reverted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RolledBack {
    pub(super) entered_at: u64,
    pub(super) cause: RollBackCause,
    pub(super) why: String,
    pub(super) rollback: Rollback,
    pub(super) progress: Progress,
}

/// The run was stopped for safety. It needs an investigation and a new run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HaltedUnsafe {
    pub(super) entered_at: u64,
    pub(super) reason: HaltReason,
    pub(super) approval: Option<ApprovalId>,
    pub(super) progress: Progress,
}

/// The approval that a run waits for. The stored form is a list of exactly one element, as in RUN_STATE.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ApprovalId>", into = "Vec<ApprovalId>")]
pub(super) struct Pending(pub(super) ApprovalId);

impl From<Pending> for Vec<ApprovalId> {
    fn from(pending: Pending) -> Self {
        vec![pending.0]
    }
}

impl TryFrom<Vec<ApprovalId>> for Pending {
    type Error = String;

    fn try_from(mut ids: Vec<ApprovalId>) -> Result<Self, String> {
        match (ids.pop(), ids.len()) {
            (Some(id), 0) => Ok(Pending(id)),
            (None, _) => Err("AWAITING_APPROVAL has one pending approval, got none".to_owned()),
            (Some(_), more) => Err(format!(
                "AWAITING_APPROVAL has one pending approval, since tools run one at a time; got {}",
                more + 1
            )),
        }
    }
}

macro_rules! timed {
    ($($State:ident)+) => { $(
        impl Sealed for $State {}
        impl Timed for $State {
            fn entered_at(&self) -> u64 {
                self.entered_at
            }
        }
    )+ };
}
timed! { Init Planning Executing AwaitingApproval Verifying Auditing Completed RolledBack HaltedUnsafe }

impl Executing {
    /// The progress of the tools.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl AwaitingApproval {
    /// The approval that the run waits for.
    pub fn approval(&self) -> &ApprovalId {
        &self.approvals_pending.0
    }

    /// The progress of the tools, from which EXECUTING continues after the approval.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Verifying {
    /// All tools of the plan; none remains.
    pub fn tools_completed(&self) -> &[String] {
        &self.tools_completed
    }
}

impl Auditing {
    /// All tools of the plan; none remains.
    pub fn tools_completed(&self) -> &[String] {
        &self.tools_completed
    }

    /// The reviewers that must pass the run.
    pub fn reviewers(&self) -> &Reviewers {
        &self.reviewers
    }
}

impl Completed {
    /// All tools of the plan.
    pub fn tools_completed(&self) -> &[String] {
        &self.tools_completed
    }

    /// The proof that all reviewers passed the run.
    pub fn audit(&self) -> &AuditPass {
        &self.audit
    }
}

impl RolledBack {
    /// The cause of the rollback.
    pub fn cause(&self) -> &RollBackCause {
        &self.cause
    }

    /// The reason, as text.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The result of the rollback.
    pub fn rollback(&self) -> &Rollback {
        &self.rollback
    }

    /// The progress of the tools.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl HaltedUnsafe {
    /// The reason of the halt.
    pub fn reason(&self) -> &HaltReason {
        &self.reason
    }

    /// The approval that was pending; none if the run did not wait for an approval.
    pub fn approval(&self) -> Option<&ApprovalId> {
        self.approval.as_ref()
    }

    /// The progress of the tools; with an empty plan if the run had none yet.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}
