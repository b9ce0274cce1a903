//! The parts of a governor: traits for the caller to implement.

use async_trait::async_trait;
use runstate::approval::Request;
use runstate::governed_run::{Opinion, RunId};
use serde::{Deserialize, Serialize};

use super::notes::ToolReport;
use super::output::{Action, DeclaredRisk, ToolOutput};

/// The view of a run for its parts.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// The id of the run.
    pub run_id: &'a RunId,
    /// The tools of the plan, in order.
    pub planned: &'a [String],
    /// The number of completed tools.
    pub completed: usize,
    /// The reports of all attempts of all tools, in order.
    pub reports: &'a [ToolReport],
    /// The planner's reference to the state before the first tool ([`ProposedPlan::baseline`]).
    pub baseline: Option<&'a str>,
}

/// A plan to be approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedPlan {
    /// The tools, in the order of their execution.
    pub tools: Vec<String>,
    /// The risks of the plan. A critical one halts the run.
    #[serde(default)]
    pub risks: Vec<DeclaredRisk>,
    /// A reference to the state before the first tool, such as the digest of a snapshot, if a rollback needs one. It
    /// is stored in the state of the run, out of reach of the tools, and passed to [`Rollback`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The checks after the tools, such as the commands of the verification and of each audit. A question about the
    /// plan shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
}

impl ProposedPlan {
    /// Creates a plan without risks.
    pub fn of<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        ProposedPlan { tools: tools.into_iter().map(Into::into).collect(), ..ProposedPlan::default() }
    }
}

/// The planner, which chooses the tools of a run in PLANNING.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Returns a plan for the run. `objection` is the objection to the previous plan. Planning must have no effects,
    /// because it starts again after a crash.
    ///
    /// # Errors
    /// The reason why there is no plan. The planner is called again a limited number of times.
    ///
    /// # Cancel safety
    /// The future is dropped when PLANNING expires.
    async fn plan(&self, run_id: &RunId, objection: Option<&str>) -> Result<ProposedPlan, PartError>;
}

/// The decision on a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAnswer {
    /// The plan may be executed.
    Approved {
        /// The name of the approver or of the rule.
        by: String,
    },
    /// The plan is refused. The planner is called again.
    Refused {
        /// The objection.
        why: String,
    },
    /// An approver must decide. The plan becomes an approval with a record in `PENDING/`. It must be answered before
    /// PLANNING expires, with [`Governor::approve`](super::Governor::approve), `reject` or `escalate`.
    Undecided,
}

/// The approval of plans: the guard between PLANNING and EXECUTING.
#[async_trait]
pub trait PlanApproval: Send + Sync {
    /// Decides whether the plan may be executed.
    ///
    /// # Cancel safety
    /// The future is dropped when PLANNING expires.
    async fn decide(&self, run_id: &RunId, plan: &ProposedPlan) -> PlanAnswer;
}

/// Plan approval that approves every plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutoApproved;

#[async_trait]
impl PlanApproval for AutoApproved {
    async fn decide(&self, _: &RunId, _: &ProposedPlan) -> PlanAnswer {
        PlanAnswer::Approved { by: "rule: auto-approved".to_owned() }
    }
}

/// One call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The view of the run.
    pub run: RunView<'a>,
    /// The number of the attempt, from 1.
    pub number: u32,
    /// The exact approved action of this call, if an approval was needed.
    pub granted: Option<&'a Request>,
}

/// A tool of a governed run.
#[async_trait]
pub trait GovernedTool: Send + Sync {
    /// The name in plans, gates and files.
    fn name(&self) -> &str;

    /// Returns the action of the next call. It is shown to the approver, and compared again before the call. If the
    /// action has changed, the approval does not apply.
    fn action(&self, run: &RunView<'_>) -> Action;

    /// Returns whether the tool has no effects. A read-only call that a crash interrupted is repeated; any other one
    /// halts the run. Default: `false`.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Performs the action.
    ///
    /// # Errors
    /// An error means a crash with unknown effects, which halts the run. A known failure is [`ToolOutput::fail`].
    ///
    /// # Cancel safety
    /// The future is dropped when EXECUTING expires. The tool must then stop its work.
    async fn call(&self, call: &Call<'_>) -> Result<ToolOutput, PartError>;
}

/// The verifier of the results, in VERIFYING.
#[async_trait]
pub trait Verifier: Send + Sync {
    /// Returns evidence that the results are correct. Verification must have no effects, because it starts again
    /// after a crash.
    ///
    /// # Errors
    /// The defect of the results. The run is rolled back, as it is without any evidence.
    ///
    /// # Cancel safety
    /// The future is dropped when VERIFYING expires.
    async fn verify(&self, run: &RunView<'_>) -> Result<Vec<String>, PartError>;
}

/// A reviewer of a run, in AUDITING.
#[async_trait]
pub trait Auditor: Send + Sync {
    /// The name of the reviewer. It is unique among the reviewers of a run.
    fn name(&self) -> &str;

    /// Returns an opinion, and a note for human readers. An audit must have no effects, because it starts again after
    /// a crash.
    ///
    /// # Errors
    /// The reason why the reviewer has no opinion. An error is not a pass.
    ///
    /// # Cancel safety
    /// The future is dropped when AUDITING expires.
    async fn audit(&self, run: &RunView<'_>) -> Result<(Opinion, String), PartError>;
}

/// The rollback of a run's changes.
#[async_trait]
pub trait Rollback: Send + Sync {
    /// Reverts all changes. It must be idempotent, because it starts again after a crash.
    ///
    /// # Errors
    /// The changes that could not be reverted, one text each.
    ///
    /// # Cancel safety
    /// The future is dropped after [`Rules::rollback_ms`](super::Rules::rollback_ms).
    async fn roll_back(&self, run: &RunView<'_>, why: &str) -> Result<(), Vec<String>>;
}

/// The reason why a part failed, as a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PartError(String);

impl PartError {
    /// Creates an error with this reason.
    pub fn new(why: impl Into<String>) -> Self {
        PartError(why.into())
    }
}

/// The parts of a governor.
#[expect(missing_debug_implementations, reason = "its parts are trait objects of the caller's")]
pub struct Parts {
    /// The planner.
    pub planner: Box<dyn Planner>,
    /// The approval of plans.
    pub plan_approval: Box<dyn PlanApproval>,
    /// The available tools.
    pub tools: Vec<Box<dyn GovernedTool>>,
    /// The verifier.
    pub verifier: Box<dyn Verifier>,
    /// The reviewers. At least one is required, and all of them must pass the run.
    pub auditors: Vec<Box<dyn Auditor>>,
    /// The rollback.
    pub rollback: Box<dyn Rollback>,
}
