//! One approval: asked by a tool, decided by a person, used once (document 001, "Approval State Transitions").
//!
//! | state | what is true | what leads on |
//! |---|---|---|
//! | [`Requested`] | a tool asks | [`Submit`] |
//! | [`AwaitingHuman`] | a person is asked | [`Approve`], [`Reject`] |
//! | [`Approved`] | the answer is yes | [`Execute`] |
//! | [`Rejected`] | the answer is no, or none came | [`Abort`] |
//! | [`Executed`] | the action was attempted | |
//! | [`Aborted`] | the action will not be | |
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
//! // A day later it is too late to say yes.
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
        /// A tool asks for an approval.
        Requested = "REQUEST_APPROVAL",
        /// A person was asked and has not answered.
        AwaitingHuman { .. } = "AWAITING_HUMAN",
        /// A person said yes; the action was not attempted yet.
        Approved { .. } = "APPROVED",
        /// A person said no, or no answer came.
        Rejected { .. } = "REJECTED",
        /// The action was attempted.
        Executed { .. } = "EXECUTED",
        /// The action will not be attempted.
        Aborted { .. } = "ABORTED",
    }
    event ApprovalEvent {
        /// A person is asked.
        Submit { .. },
        /// The answer is yes.
        Approve { .. },
        /// The answer is no, or none came.
        Reject { .. },
        /// The action was attempted.
        Execute { .. },
        /// The action is given up.
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
    /// What all states of an approval share: what is asked, and for which run.
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
    /// The record of an approval that a tool of `run_id` asks for at `requested_at` (milliseconds since the Unix epoch).
    pub fn new(id: ApprovalId, run_id: RunId, request: Request, requested_at: u64) -> Self {
        ApprovalRecord { id, run_id, request, requested_at, observer: Observer::default() }
    }

    /// The same, with someone told of each transition.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The approval's id.
    pub fn id(&self) -> &ApprovalId {
        &self.id
    }

    /// The run that waits for it.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// What is asked.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// When the tool asked, in milliseconds since the Unix epoch.
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

/// A person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    at: u64,
    deadline: u64,
}

impl Submit {
    /// A person is asked at `at` and must answer before `deadline` (milliseconds since the Unix epoch), which is
    /// [that of the run](crate::governed_run::GovernedRun::answer_by): the two expire together.
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
    /// `by` said yes at `at` (milliseconds since the Unix epoch).
    pub fn new(by: impl Into<String>, at: u64) -> Self {
        Approve { decision: Decision { by: by.into(), at, reason: None } }
    }

    /// Who decided, when, and why.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The same, with what was said.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.decision.reason = Some(reason.into());
        self
    }
}

/// The answer is no, or none came (B4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    rejection: Rejection,
}

impl Reject {
    /// `by` said no at `at` (milliseconds since the Unix epoch).
    pub fn by(by: impl Into<String>, reason: impl Into<String>, at: u64) -> Self {
        let cause = RejectionCause::Person { by: by.into(), reason: reason.into() };
        Reject { rejection: Rejection { cause, at } }
    }

    /// No answer came in time.
    pub fn timed_out(at: u64) -> Self {
        Reject { rejection: Rejection { cause: RejectionCause::Timeout, at } }
    }

    /// The question was passed on instead of being answered.
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
    /// The action was attempted, with that outcome (B6).
    pub fn new(outcome: Outcome, at: u64) -> Self {
        Execute { outcome, at }
    }
}

/// The action is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abort {
    at: u64,
}

impl Abort {
    /// The action is given up at `at` (milliseconds since the Unix epoch).
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
