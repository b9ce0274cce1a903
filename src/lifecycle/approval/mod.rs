//! The lifecycle of one approval: requested by a tool, decided by a person, used once.
//!
//! | state | meaning | accepted events |
//! |---|---|---|
//! | [`Requested`] | a tool requests an approval | [`Submit`] |
//! | [`AwaitingHuman`] | the question waits for a person's answer | [`Approve`], [`Reject`] |
//! | [`Approved`] | the answer is yes | [`Execute`] |
//! | [`Rejected`] | the answer is no, or missing | [`Abort`] |
//! | [`Executed`] | the action was attempted | |
//! | [`Aborted`] | the action will not be attempted | |
//!
//! ```
//! use runstate::approval::*;
//! # use runstate::governed_run::RunId;
//!
//! let t = 1_769_860_800_000; // 31 January 2026, 12:00:00 UTC
//! let asked = Request::new("deploy", "push to production", Risk::High);
//! let record = ApprovalRecord::new("APPROVAL-1".parse()?, "RUN-PROJECT-20260131-120000".parse()?, asked, t);
//! let approval = Approval::new(record).submit(Submit::new(t, t + 86_400_000));
//!
//! // A day later the approval has expired.
//! let late = approval.approve(Approve::new("ada", t + 86_400_000)).unwrap_err();
//! assert!(matches!(late.error, ApprovalError::Expired { .. }));
//! let approval = late.machine.reject(Reject::timed_out(t + 86_400_000)).unwrap();
//! let approval = approval.abort(Abort::new(t + 86_400_000));
//! assert_eq!(approval.state().rejection().cause(), &RejectionCause::Timeout);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod data;
mod error;
mod id;
mod states;

use super::record::record;
use crate::kernel::{Enter, Guard, Observer, Record};
use crate::lifecycle;

use crate::governed_run::RunId;

pub use data::{Decision, Outcome, Rejection, RejectionCause, Request, Risk};
pub use error::ApprovalError;
pub use id::{ApprovalId, ApprovalIdError};
pub use states::{Aborted, Approved, AwaitingHuman, Executed, Rejected};

lifecycle! {
    /// One approval: asked by a tool, decided by a person, used once.
    pub mod approval: Approval(ApprovalRecord), AnyApproval;
    version 1;
    diagram "../../../docs/lifecycles/approval.md";

    status ApprovalStatus {
        /// A tool requests an approval.
        Requested = "REQUEST_APPROVAL",
        /// The question waits for a person's answer.
        AwaitingHuman { .. } = "AWAITING_HUMAN",
        /// A person approved; the action was not attempted yet.
        Approved { .. } = "APPROVED",
        /// A person rejected, or no answer arrived.
        Rejected { .. } = "REJECTED",
        /// The action was attempted.
        Executed { .. } = "EXECUTED",
        /// The action will not be attempted.
        Aborted { .. } = "ABORTED",
    }
    event ApprovalEvent {
        /// The question is sent to a person.
        Submit { .. },
        /// The answer is yes.
        Approve { .. },
        /// The answer is no, or missing.
        Reject { .. },
        /// The action was attempted.
        Execute { .. },
        /// The action is abandoned.
        Abort { .. },
    }

    [*]           --> Requested;
    Requested     --> AwaitingHuman : submit(Submit);
    AwaitingHuman --> Approved      : approve(Approve) else ApprovalError;
    AwaitingHuman --> Rejected      : reject(Reject)   else ApprovalError;
    Approved      --> Executed      : execute(Execute);
    Rejected      --> Aborted       : abort(Abort);
    Executed      --> [*];
    Aborted       --> [*];
}

record! { AnyApproval:
    /// The record of an approval: the data that all its states share, such as its request and its run.
    pub struct ApprovalRecord {
        id: ApprovalId,
        run_id: RunId,
        request: Request,
        requested_at: u64,
        #[serde(skip)]
        observer: Observer,
    }
}

impl ApprovalRecord {
    /// Makes the record of an approval that a tool of `run_id` requests at `requested_at` (milliseconds since the
    /// Unix epoch).
    pub fn new(id: ApprovalId, run_id: RunId, request: Request, requested_at: u64) -> Self {
        ApprovalRecord { id, run_id, request, requested_at, observer: Observer::default() }
    }

    /// Sets the observer of all transitions. Default: none.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The approval's id.
    pub fn id(&self) -> &ApprovalId {
        &self.id
    }

    /// The run that waits for the approval.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The time of the request, in milliseconds since the Unix epoch.
    pub fn requested_at(&self) -> u64 {
        self.requested_at
    }
}

impl Record for ApprovalRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// The question is sent to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    at: u64,
    deadline: u64,
}

impl Submit {
    /// Submits the question at `at`. The answer must arrive before `deadline` (both in milliseconds since the Unix
    /// epoch), which is [the deadline of the run](crate::governed_run::GovernedRun::answer_by): the two expire
    /// together.
    pub fn new(at: u64, deadline: u64) -> Self {
        Submit { at, deadline }
    }
}

/// The answer is yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    decision: Decision,
}

impl Approve {
    /// Approves in the name of `by` at `at` (milliseconds since the Unix epoch).
    pub fn new(by: impl Into<String>, at: u64) -> Self {
        Approve { decision: Decision { by: by.into(), at, reason: None } }
    }

    /// The decision: its person, time and reason.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Sets the reason. Default: none.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.decision.reason = Some(reason.into());
        self
    }
}

/// The answer is no, or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    rejection: Rejection,
}

impl Reject {
    /// Rejects in the name of `by` at `at` (milliseconds since the Unix epoch).
    pub fn by(by: impl Into<String>, reason: impl Into<String>, at: u64) -> Self {
        let cause = RejectionCause::Person { by: by.into(), reason: reason.into() };
        Reject { rejection: Rejection { cause, at } }
    }

    /// Rejects because no answer arrived before the deadline.
    pub fn timed_out(at: u64) -> Self {
        Reject { rejection: Rejection { cause: RejectionCause::Timeout, at } }
    }

    /// Rejects because the question was escalated instead of answered.
    pub fn escalated(why: impl Into<String>, at: u64) -> Self {
        let cause = RejectionCause::Escalation { why: why.into() };
        Reject { rejection: Rejection { cause, at } }
    }
}

/// The action was attempted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    outcome: Outcome,
    at: u64,
}

impl Execute {
    /// Records the attempt of the action, with its outcome.
    pub fn new(outcome: Outcome, at: u64) -> Self {
        Execute { outcome, at }
    }
}

/// The action is abandoned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abort {
    at: u64,
}

impl Abort {
    /// Abandons the action at `at` (milliseconds since the Unix epoch).
    pub fn new(at: u64) -> Self {
        Abort { at }
    }
}

impl Guard<AwaitingHuman, Approve> for Approved {
    type Error = ApprovalError;

    fn check(from: &AwaitingHuman, event: &Approve, _: &ApprovalRecord) -> Result<(), ApprovalError> {
        from.decided_in_time(&event.decision.by, event.decision.at)
    }
}

impl Guard<AwaitingHuman, Reject> for Rejected {
    type Error = ApprovalError;

    fn check(from: &AwaitingHuman, event: &Reject, _: &ApprovalRecord) -> Result<(), ApprovalError> {
        let Rejection { cause, at } = &event.rejection;
        match cause {
            RejectionCause::Person { by, .. } => from.decided_in_time(by, *at),
            RejectionCause::Timeout if from.is_expired(*at) => Ok(()),
            RejectionCause::Timeout => Err(ApprovalError::NotExpired { deadline: from.deadline(), at: *at }),
            RejectionCause::Escalation { .. } => Ok(()),
        }
    }
}

impl Enter<Requested, Submit> for AwaitingHuman {
    fn enter(_: Requested, event: Submit, _: &mut ApprovalRecord) -> Self {
        AwaitingHuman { submitted_at: event.at, deadline: event.deadline }
    }
}

impl Enter<AwaitingHuman, Approve> for Approved {
    fn enter(_: AwaitingHuman, event: Approve, _: &mut ApprovalRecord) -> Self {
        Approved { decision: event.decision }
    }
}

impl Enter<AwaitingHuman, Reject> for Rejected {
    fn enter(_: AwaitingHuman, event: Reject, _: &mut ApprovalRecord) -> Self {
        Rejected { rejection: event.rejection }
    }
}

impl Enter<Approved, Execute> for Executed {
    fn enter(from: Approved, event: Execute, _: &mut ApprovalRecord) -> Self {
        Executed { decision: from.decision, outcome: event.outcome, executed_at: event.at }
    }
}

impl Enter<Rejected, Abort> for Aborted {
    fn enter(from: Rejected, event: Abort, _: &mut ApprovalRecord) -> Self {
        Aborted { rejection: from.rejection, aborted_at: event.at }
    }
}
