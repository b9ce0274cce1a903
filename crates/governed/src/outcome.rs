//! The status of a run, and its open question.

use runstate::approval::{ApprovalId, Request};
use runstate::governed_run::{GovernedRunStatus, Rollback, RunId, TimeLimits};

use super::document::Document;
use super::repair::Repairs;
use super::timestamp::Timestamp;

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progressed {
    /// The id of the run.
    pub run: RunId,
    /// The current state.
    pub status: GovernedRunStatus,
    /// The open question or the missing plan; `None` for a run that is over.
    pub waits: Option<AwaitedInput>,
    /// The repairs made before the run continued.
    pub repairs: Repairs,
}

/// The answer or plan that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AwaitedInput {
    /// An answer of an approver: on an action in AWAITING_APPROVAL, or on the plan in PLANNING.
    Approval(PendingApproval),
    /// A plan without objections. A resumed run requests another plan.
    Plan {
        /// The objection to the last plan.
        objection: Option<String>,
    },
}

/// An open question for an approver.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingApproval {
    /// The id of the approval.
    pub id: ApprovalId,
    /// The question. The answer is bound to it. `None` for a run of another program without a record of it.
    pub request: Option<Request>,
    /// The deadline for the answer.
    pub answer_by: Timestamp,
}

impl PendingApproval {
    /// The digest of the question. It covers the approval id, the asking tool, its action and its risk. An answer
    /// with this digest is only for the question that was shown, even if a file was changed meanwhile. `None` without
    /// a record.
    ///
    /// ```
    /// # use runstate_governed::PendingApproval;
    /// # fn example(pending: &PendingApproval, shown: &str) -> bool {
    /// pending.digest().is_some_and(|digest| digest == shown)
    /// # }
    /// ```
    pub fn digest(&self) -> Option<String> {
        let request = self.request.as_ref()?;
        let asked = serde_json::json!([self.id, request.tool(), request.action(), request.risk()]);
        Some(runstate::decision::digest(&asked))
    }
}

/// The status of a run according to its RUN_STATE.json.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStatus {
    /// The id of the run.
    pub run: RunId,
    /// The current state.
    pub state: GovernedRunStatus,
    /// The time when the run entered its state.
    pub since: Timestamp,
    /// The deadline of the state; `None` for a run that is over.
    pub deadline: Option<Timestamp>,
    /// The tools of the plan.
    pub planned: Vec<String>,
    /// The number of completed tools.
    pub completed: usize,
    /// The current tool.
    pub current_tool: Option<String>,
    /// The approval that the run waits for; `None` once it is rejected.
    pub pending: Option<ApprovalId>,
    /// The reason, for a run with an unsuccessful end.
    pub why: Option<String>,
    /// The outcome of the rollback, for a run that was rolled back, completely or not.
    pub rollback: Option<Rollback>,
    /// Whether a rollback is unfinished. It is in progress in another process, or it was interrupted.
    /// [`resume`](super::Governor::resume) completes it. No question is open then.
    pub is_rolling_back: bool,
}

impl RunStatus {
    pub(super) fn of(document: &Document) -> Self {
        let since = document.state_history.last().map_or(document.created_at, |entry| entry.entered_at);
        let ours = document.runstate.as_ref();
        let limits: TimeLimits = ours.and_then(|ours| ours.limits).unwrap_or_default();
        let deadline = limits.deadline(document.current_state, since.ms()).map(Timestamp::from_ms);
        let is_rolling_back = ours.is_some_and(|ours| ours.notes.standing.is_rolling_back());
        let pending = document.approvals_pending.first().filter(|_| !is_rolling_back);
        RunStatus {
            run: document.run_id.clone(),
            state: document.current_state,
            since,
            deadline,
            planned: document.tools_planned.clone(),
            completed: document.tools_completed.len(),
            current_tool: document.current_tool.clone(),
            pending: pending.cloned(),
            why: ours.and_then(|ours| super::report::why(document.current_state, &ours.state)),
            rollback: ours.and_then(|ours| super::report::rollback(document.current_state, &ours.state)),
            is_rolling_back,
        }
    }

    /// Returns whether the deadline has passed.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.deadline.is_some_and(|deadline| now_ms >= deadline.ms())
    }
}
