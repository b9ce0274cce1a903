//! The approvals of a RUN_STATE.json, with the actors of their decisions.

use runstate::approval::{
    AnyApproval, ApprovalId, ApprovalStatus, Decision, Rejection, RejectionCause, Request,
};

use super::timestamp::Timestamp;

/// An approval of a run, with the decision and its actor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalNote {
    /// The id of the approval.
    pub id: ApprovalId,
    /// The question.
    pub request: Request,
    /// The time of the question.
    pub requested_at: Timestamp,
    /// The status of the approval.
    pub status: ApprovalStatus,
    /// The person that decided; `None` without a decision of a person.
    pub by: Option<String>,
    /// The time of the decision, or of the end without one.
    pub decided_at: Option<Timestamp>,
    /// The reason of the decision, if there is one.
    pub reason: Option<String>,
}

impl ApprovalNote {
    pub(super) fn of(approval: &AnyApproval) -> Self {
        let record = approval.record();
        let (by, decided_at, reason) = match approval {
            AnyApproval::Requested(_) | AnyApproval::AwaitingHuman(_) => (None, None, None),
            AnyApproval::Approved(it) => accepted(it.state().decision()),
            AnyApproval::Executed(it) => accepted(it.state().decision()),
            AnyApproval::Rejected(it) => refused(it.state().rejection()),
            AnyApproval::Aborted(it) => refused(it.state().rejection()),
        };
        ApprovalNote {
            id: record.id().clone(),
            request: record.request().clone(),
            requested_at: Timestamp::from_ms(record.requested_at()),
            status: approval.status(),
            by,
            decided_at: decided_at.map(Timestamp::from_ms),
            reason,
        }
    }
}

/// The person, the time and the reason of a decision.
type Decided = (Option<String>, Option<u64>, Option<String>);

fn accepted(decision: &Decision) -> Decided {
    (Some(decision.by().to_owned()), Some(decision.at()), decision.reason().map(str::to_owned))
}

fn refused(rejection: &Rejection) -> Decided {
    let (by, reason) = match rejection.cause() {
        RejectionCause::Person { by, reason } => (Some(by.clone()), reason.clone()),
        RejectionCause::Timeout => (None, "no answer before the deadline".to_owned()),
        RejectionCause::Escalation { why } => (None, format!("escalated: {why}")),
    };
    (by, Some(rejection.at()), Some(reason))
}
