//! How far a run came, and what it waits for.

use super::document::Document;
use super::mend::Repairs;
use super::when::When;
use crate::approval::{ApprovalId, Request};
use crate::governed_run::{GovernedRunStatus, Rollback, RunId, TimeLimits};

/// How far a run came.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progressed {
    /// The run.
    pub run: RunId,
    /// The state that it is in.
    pub status: GovernedRunStatus,
    /// The question or plan that it waits for; none for a run that is over.
    pub waits: Option<Waits>,
    /// What had to be brought in line before it went on.
    pub repairs: Repairs,
}

/// The answer or plan that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waits {
    /// A person's answer: about an action in AWAITING_APPROVAL, about the plan in PLANNING.
    Approval(PendingApproval),
    /// A plan that nothing speaks against. Resuming the run asks for one again.
    Plan {
        /// The objection to the last.
        objection: Option<String>,
    },
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingApproval {
    /// The approval.
    pub id: ApprovalId,
    /// The question: the answer is bound to it. None for another tool's run that left no record of it.
    pub request: Option<Request>,
    /// By when it must be answered.
    pub answer_by: When,
}

impl PendingApproval {
    /// The digest of the question: of the approval, the tool that asks, its action and its risk. An answer that names it is for the
    /// question that was shown, and for none that a changed file has put in its place. None without a record.
    ///
    /// ```
    /// # use runstate::governed::PendingApproval;
    /// # fn example(pending: &PendingApproval, shown: &str) -> bool {
    /// pending.digest().is_some_and(|digest| digest == shown)
    /// # }
    /// ```
    pub fn digest(&self) -> Option<String> {
        let request = self.request.as_ref()?;
        let asked = serde_json::json!([self.id, request.tool(), request.action(), request.risk()]);
        Some(crate::decision::digest(&asked))
    }
}

/// Where a run is, as its RUN_STATE.json says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStatus {
    /// The run.
    pub run: RunId,
    /// The state that it is in.
    pub state: GovernedRunStatus,
    /// Since when.
    pub since: When,
    /// Until when it may stay there; none for a run that is over.
    pub deadline: Option<When>,
    /// The tools of its plan.
    pub planned: Vec<String>,
    /// How many of them are completed.
    pub completed: usize,
    /// The tool under way.
    pub current_tool: Option<String>,
    /// The approval it waits for; none once that is rejected.
    pub pending: Option<ApprovalId>,
    /// Why it is where it is, for a run that is over otherwise than well.
    pub why: Option<String>,
    /// How its rollback went, for a run that is over and was rolled back, as far as that was possible.
    pub rollback: Option<Rollback>,
    /// Is a rollback begun that is not finished? It is under way in another process, or was broken off and
    /// [resuming](super::Governor::resume) the run finishes it. No question is open then.
    pub is_rolling_back: bool,
}

impl RunStatus {
    pub(super) fn of(document: &Document) -> Self {
        let since = document.state_history.last().map_or(document.created_at, |entry| entry.entered_at);
        let ours = document.runstate.as_ref();
        let limits: TimeLimits = ours.and_then(|ours| ours.limits).unwrap_or_default();
        let deadline = limits.deadline(document.current_state, since.ms()).map(When::from_ms);
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

    /// Has it stayed longer than it may?
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.deadline.is_some_and(|deadline| now_ms >= deadline.ms())
    }
}
