//! The lifecycle of a run of the run service: from a request to transactions that a person approved.
//!
//! | state | meaning | accepted events |
//! |---|---|---|
//! | [`Created`] | the run is stored | [`Start`] |
//! | [`Running`] | the graph executes its nodes | [`Ready`], [`Pause`], [`Block`], [`Fail`] |
//! | [`Paused`] | the run needs answers, or there is nothing to do | [`Resume`] |
//! | [`AwaitingApproval`] | transactions are ready | [`Approve`], [`Reject`] |
//! | [`ApprovedReady`] | a person approved the transactions | [`Submit`] |
//! | [`Submitted`] | the transactions were sent | [`Confirm`], [`Revert`] |
//! | [`Confirmed`], [`Reverted`], [`Blocked`], [`Failed`], [`Rejected`] | the run is over | |
//!
//! ```
//! use runstate::service_run::*;
//! use serde_json::json;
//!
//! let run = ServiceRun::new(ServiceRunRecord::new("run_1", "swap 1 A for B"));
//! let run = run.start(Start);
//! let Finished::Paused(run) = run.finish(RunOutcome::NeedsInput { questions: vec!["which chain?".into()] }) else {
//!     unreachable!("NEEDS_INPUT leads to PAUSED");
//! };
//! assert_eq!(run.state().final_status(), FinalStatus::NeedsInput);
//! let run = run.resume(Resume::with_answers([("chain", json!("base"))])).unwrap();
//! assert_eq!(run.record().user_inputs()["chain"], "base");
//! ```

mod data;
mod error;
mod final_status;
mod record;
mod states;
mod status_text;

use std::num::NonZeroU32;

use crate::kernel::{Enter, Guard};
use crate::lifecycle;

pub use data::{Approve, Block, Fail, Pause, Ready, Reject, Resume, Revert, RunOutcome, Submit};
pub use error::ServiceRunError;
pub use final_status::{AgentStatus, FinalStatus, JudgeVerdict, PlanFact, RunFacts};
pub use record::ServiceRunRecord;
pub use states::{ApprovedReady, AwaitingApproval, Blocked, Confirmed, Failed, PauseReason};
pub use states::{Paused, Rejected, Reverted, Running, Submitted};
pub use status_text::StatusTextError;

lifecycle! {
    /// A run of the run service: from a request to transactions that a person approved.
    pub mod service_run: ServiceRun(ServiceRunRecord), AnyServiceRun;
    version 1;
    diagram "../../../docs/lifecycles/service-run.md";

    status ServiceRunStatus {
        /// The run is stored and was not started.
        Created = "CREATED",
        /// The graph executes its nodes.
        Running { .. } = "RUNNING",
        /// The run needs answers, or there is nothing to do.
        Paused { .. } = "PAUSED",
        /// Transactions wait for a person's approval.
        AwaitingApproval { .. } = "AWAITING_APPROVAL",
        /// A person approved the transactions; they were not sent yet.
        ApprovedReady { .. } = "APPROVED_READY",
        /// The transactions were sent.
        Submitted { .. } = "SUBMITTED",
        /// The transactions were confirmed.
        Confirmed { .. } = "CONFIRMED",
        /// A transaction was reverted.
        Reverted { .. } = "REVERTED",
        /// A rule or a judge blocks the run.
        Blocked { .. } = "BLOCKED",
        /// The graph could not finish.
        Failed { .. } = "FAILED",
        /// A person rejected the transactions.
        Rejected { .. } = "REJECTED",
    }
    event ServiceRunEvent {
        /// The graph begins.
        Start,
        /// Transactions are ready.
        Ready { .. },
        /// The run needs answers, or there is nothing to do.
        Pause { .. },
        /// A rule or a judge blocks the run.
        Block { .. },
        /// The graph could not finish.
        Fail { .. },
        /// The graph runs again, with the user's answers.
        Resume { .. },
        /// A person approved the transactions.
        Approve { .. },
        /// A person rejected the transactions.
        Reject { .. },
        /// The transactions were sent.
        Submit { .. },
        /// The transactions were confirmed.
        Confirm,
        /// A transaction was reverted.
        Revert { .. },
    }

    [*]              --> Created;
    Created          --> Running          : start(Start);
    Running          --> AwaitingApproval : ready(Ready);
    Running          --> Paused           : pause(Pause);
    Running          --> Blocked          : block(Block);
    Running          --> Failed           : fail(Fail);
    Paused           --> Running          : resume(Resume) else ServiceRunError;
    AwaitingApproval --> ApprovedReady    : approve(Approve);
    AwaitingApproval --> Rejected         : reject(Reject);
    ApprovedReady    --> Submitted        : submit(Submit);
    Submitted        --> Confirmed        : confirm(Confirm);
    Submitted        --> Reverted         : revert(Revert);
    Confirmed        --> [*];
    Reverted         --> [*];
    Blocked          --> [*];
    Failed           --> [*];
    Rejected         --> [*];
}

/// The state of a run after a pass over the graph: the legal successors of RUNNING.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum Finished {
    /// READY.
    AwaitingApproval(ServiceRun<AwaitingApproval>),
    /// NEEDS_INPUT or NOOP.
    Paused(ServiceRun<Paused>),
    /// BLOCKED.
    Blocked(ServiceRun<Blocked>),
    /// FAILED.
    Failed(ServiceRun<Failed>),
}

impl From<Finished> for AnyServiceRun {
    fn from(next: Finished) -> Self {
        match next {
            Finished::AwaitingApproval(run) => run.into(),
            Finished::Paused(run) => run.into(),
            Finished::Blocked(run) => run.into(),
            Finished::Failed(run) => run.into(),
        }
    }
}

impl ServiceRun<Running> {
    /// Ends the pass: takes the transition for the final status of the outcome.
    pub fn finish(self, outcome: RunOutcome) -> Finished {
        match outcome {
            RunOutcome::Ready { tx_requests } => {
                Finished::AwaitingApproval(self.ready(Ready { tx_requests }))
            }
            RunOutcome::NeedsInput { questions } => {
                Finished::Paused(self.pause(Pause { reason: PauseReason::NeedsInput { questions } }))
            }
            RunOutcome::Noop { summary } => {
                Finished::Paused(self.pause(Pause { reason: PauseReason::Noop { summary } }))
            }
            RunOutcome::Blocked { reason } => Finished::Blocked(self.block(Block { reason })),
            RunOutcome::Failed { error } => Finished::Failed(self.fail(Fail { error })),
        }
    }
}

impl AnyServiceRun {
    /// The outcome of the last pass over the graph; none before the end of the first pass.
    pub fn final_status(&self) -> Option<FinalStatus> {
        match self {
            AnyServiceRun::Created(_) | AnyServiceRun::Running(_) => None,
            AnyServiceRun::Paused(run) => Some(run.state().final_status()),
            AnyServiceRun::AwaitingApproval(_)
            | AnyServiceRun::ApprovedReady(_)
            | AnyServiceRun::Submitted(_)
            | AnyServiceRun::Confirmed(_)
            | AnyServiceRun::Reverted(_)
            | AnyServiceRun::Rejected(_) => Some(FinalStatus::Ready),
            AnyServiceRun::Blocked(_) => Some(FinalStatus::Blocked),
            AnyServiceRun::Failed(_) => Some(FinalStatus::Failed),
        }
    }
}

impl Guard<Paused, Resume> for Running {
    type Error = ServiceRunError;

    fn check(from: &Paused, event: &Resume, _: &ServiceRunRecord) -> Result<(), ServiceRunError> {
        match (&from.reason, &event.intent) {
            (PauseReason::NeedsInput { questions }, Some(_)) => {
                Err(ServiceRunError::IntentWhileInputIsNeeded { questions: questions.clone() })
            }
            (PauseReason::NeedsInput { .. }, None) | (PauseReason::Noop { .. }, _) => Ok(()),
        }
    }
}

impl Enter<Created, Start> for Running {
    fn enter(_: Created, _: Start, _: &mut ServiceRunRecord) -> Self {
        Running { pass: NonZeroU32::MIN }
    }
}

impl Enter<Paused, Resume> for Running {
    fn enter(from: Paused, event: Resume, record: &mut ServiceRunRecord) -> Self {
        record.merge(event.answers, event.intent);
        Running { pass: from.pass.saturating_add(1) }
    }
}

impl Enter<Running, Pause> for Paused {
    fn enter(from: Running, event: Pause, _: &mut ServiceRunRecord) -> Self {
        Paused { pass: from.pass, reason: event.reason }
    }
}

impl Enter<Running, Ready> for AwaitingApproval {
    fn enter(_: Running, event: Ready, _: &mut ServiceRunRecord) -> Self {
        AwaitingApproval { tx_requests: event.tx_requests }
    }
}

impl Enter<Running, Block> for Blocked {
    fn enter(_: Running, event: Block, _: &mut ServiceRunRecord) -> Self {
        Blocked { reason: event.reason }
    }
}

impl Enter<Running, Fail> for Failed {
    fn enter(_: Running, event: Fail, _: &mut ServiceRunRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<AwaitingApproval, Approve> for ApprovedReady {
    fn enter(from: AwaitingApproval, event: Approve, _: &mut ServiceRunRecord) -> Self {
        ApprovedReady { tx_requests: from.tx_requests, approved_by: event.by }
    }
}

impl Enter<AwaitingApproval, Reject> for Rejected {
    fn enter(from: AwaitingApproval, event: Reject, _: &mut ServiceRunRecord) -> Self {
        Rejected { tx_requests: from.tx_requests, rejected_by: event.by, reason: event.reason }
    }
}

impl Enter<ApprovedReady, Submit> for Submitted {
    fn enter(from: ApprovedReady, event: Submit, _: &mut ServiceRunRecord) -> Self {
        Submitted { approved_by: from.approved_by, tx_hashes: event.tx_hashes }
    }
}

impl Enter<Submitted, Confirm> for Confirmed {
    fn enter(from: Submitted, _: Confirm, _: &mut ServiceRunRecord) -> Self {
        Confirmed { approved_by: from.approved_by, tx_hashes: from.tx_hashes }
    }
}

impl Enter<Submitted, Revert> for Reverted {
    fn enter(from: Submitted, event: Revert, _: &mut ServiceRunRecord) -> Self {
        Reverted { approved_by: from.approved_by, tx_hashes: from.tx_hashes, reason: event.reason }
    }
}
