//! The parts of a governor: traits for the caller to implement.

use std::error::Error;
use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::notes::ToolReport;
use super::output::{Action, DeclaredRisk, ToolOutput};
use crate::approval::Request;
use crate::governed_run::{Opinion, RunId};

/// The view that a part has of the run.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// The run.
    pub run_id: &'a RunId,
    /// The tools of its plan, in order.
    pub planned: &'a [String],
    /// How many of them are completed.
    pub completed: usize,
    /// What every attempt of every tool gave, in order.
    pub reports: &'a [ToolReport],
    /// The planner's word for the state before the first tool ([`ProposedPlan::baseline`]).
    pub baseline: Option<&'a str>,
}

/// A plan that waits to be approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedPlan {
    /// The tools in the order in which they run.
    pub tools: Vec<String>,
    /// The risks that the planner sees. A critical one halts the run.
    #[serde(default)]
    pub risks: Vec<DeclaredRisk>,
    /// A word for the state before the first tool that a rollback needs, as the digest of a snapshot. It is kept in the state of the run, where
    /// a tool that changes the snapshot does not change it, and handed to [`Rollback`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The checks behind the tools, such as the commands of the verification and of each audit: a question about the plan shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
}

impl ProposedPlan {
    /// A plan without risks.
    pub fn of<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        ProposedPlan { tools: tools.into_iter().map(Into::into).collect(), ..ProposedPlan::default() }
    }
}

/// Chooses the tools of a run, in PLANNING.
#[async_trait]
pub trait Planner: Send + Sync {
    /// A plan for the run. `objection` is what was said against the one before. It must have no effects: after a crash
    /// planning begins anew (B10).
    ///
    /// # Errors
    /// Why there is no plan. It is asked again a few times.
    ///
    /// # Cancel safety
    /// Dropped when PLANNING expires.
    async fn plan(&self, run_id: &RunId, objection: Option<&str>) -> Result<ProposedPlan, PartError>;
}

/// An answer about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAnswer {
    /// It may be executed.
    Approved {
        /// The name of the person or rule.
        by: String,
    },
    /// The planner should think again.
    Refused {
        /// What speaks against it.
        why: String,
    },
    /// A person must say: the plan becomes an approval like any other, with a record in `PENDING/`, to be answered with
    /// [`Governor::approve`](super::Governor::approve) and its like before PLANNING expires.
    Undecided,
}

/// Approves of plans: the guard between PLANNING and EXECUTING.
#[async_trait]
pub trait PlanApproval: Send + Sync {
    /// May this plan be executed?
    ///
    /// # Cancel safety
    /// Dropped when PLANNING expires.
    async fn decide(&self, run_id: &RunId, plan: &ProposedPlan) -> PlanAnswer;
}

/// Approves of every plan: "auto-approved" in document 001.
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
    /// The run.
    pub run: RunView<'a>,
    /// Which try of the tool it is, from 1.
    pub number: u32,
    /// The exact action that a decider approved for this call, if that was needed.
    pub granted: Option<&'a Request>,
}

/// A tool of a governed run.
#[async_trait]
pub trait GovernedTool: Send + Sync {
    /// Its name in plans, gates and files.
    fn name(&self) -> &str;

    /// The action of its next call. It is shown to the decider, and compared again before the call: an approval of
    /// something else does not count.
    fn action(&self, run: &RunView<'_>) -> Action;

    /// Has it no effects? Then a call that a crash cut short is made again; otherwise the run is halted (B10).
    fn is_read_only(&self) -> bool {
        false
    }

    /// Does it.
    ///
    /// # Errors
    /// That it crashed: the run is halted, since its effects are not known. A failure that it knows of is
    /// [`ToolOutput::fail`].
    ///
    /// # Cancel safety
    /// Dropped when EXECUTING expires; it must then stop what it began.
    async fn call(&self, call: &Call<'_>) -> Result<ToolOutput, PartError>;
}

/// Checks the results, in VERIFYING.
#[async_trait]
pub trait Verifier: Send + Sync {
    /// What shows that the results hold. It must have no effects: after a crash it begins anew (B10).
    ///
    /// # Errors
    /// What does not hold: the run is rolled back, as it is when nothing shows that the results do.
    ///
    /// # Cancel safety
    /// Dropped when VERIFYING expires.
    async fn verify(&self, run: &RunView<'_>) -> Result<Vec<String>, PartError>;
}

/// Reviews a run, in AUDITING.
#[async_trait]
pub trait Auditor: Send + Sync {
    /// The name of the reviewer; each of a run's reviewers has another one.
    fn name(&self) -> &str;

    /// An opinion, and a note about it for people. It must have no effects: after a crash it begins anew (B10).
    ///
    /// # Errors
    /// That it could not tell, which is no pass.
    ///
    /// # Cancel safety
    /// Dropped when AUDITING expires.
    async fn audit(&self, run: &RunView<'_>) -> Result<(Opinion, String), PartError>;
}

/// Reverts what the tools of a run changed.
#[async_trait]
pub trait Rollback: Send + Sync {
    /// Reverts everything. It must be idempotent: after a crash it is done again from the beginning (B10).
    ///
    /// # Errors
    /// What could not be reverted, one text each.
    ///
    /// # Cancel safety
    /// Dropped when it takes longer than [`Rules::rollback_ms`](super::Rules::rollback_ms).
    async fn roll_back(&self, run: &RunView<'_>, why: &str) -> Result<(), Vec<String>>;
}

/// Why a part did not do its work, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartError(String);

impl PartError {
    /// For that reason.
    pub fn new(why: impl Into<String>) -> Self {
        PartError(why.into())
    }
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PartError {}

/// Everything that a run is driven with.
#[expect(missing_debug_implementations, reason = "its parts are trait objects of the caller's")]
pub struct Parts {
    /// Chooses the tools.
    pub planner: Box<dyn Planner>,
    /// Approves of plans.
    pub plan_approval: Box<dyn PlanApproval>,
    /// Can be planned, each by its name.
    pub tools: Vec<Box<dyn GovernedTool>>,
    /// Checks the results.
    pub verifier: Box<dyn Verifier>,
    /// Review the run: all must pass it, and there must be one at least.
    pub auditors: Vec<Box<dyn Auditor>>,
    /// Reverts changes.
    pub rollback: Box<dyn Rollback>,
}
