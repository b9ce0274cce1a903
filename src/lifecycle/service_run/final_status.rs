//! The final status of a pass over the graph, and its effect on the run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ServiceRunStatus;

/// The final status of a pass over the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FinalStatus {
    /// Transactions wait for an approval.
    Ready,
    /// The graph lacks input that a person must give.
    NeedsInput,
    /// A rule or a judge blocks the run.
    Blocked,
    /// The graph could not finish.
    Failed,
    /// There is nothing to do.
    Noop,
}

/// The facts of a pass's artifacts that the final status depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    /// `fatal_error` is set.
    pub fatal_error: bool,
    /// `needs_input` has questions.
    pub needs_input: bool,
    /// Whether `decision` blocks the run.
    pub decision_blocks: bool,
    /// Whether `security_result` blocks the run.
    pub security_blocks: bool,
    /// The verdict in `judge_result`, if a judge gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeVerdict>,
    /// `tx_plan`.
    pub plan: PlanFact,
    /// `simulation` succeeded.
    pub simulation_ok: bool,
}

/// The kind of plan that a pass made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlanFact {
    /// No plan was made.
    None,
    /// The plan states that there is nothing to do.
    Noop,
    /// The plan has actions.
    Actions,
}

impl RunFacts {
    /// The facts of a pass that has found nothing yet.
    pub const NONE: RunFacts = RunFacts {
        fatal_error: false,
        needs_input: false,
        decision_blocks: false,
        security_blocks: false,
        judge: None,
        plan: PlanFact::None,
        simulation_ok: false,
    };
}

impl FinalStatus {
    /// All final statuses, in their documented order.
    pub const ALL: [FinalStatus; 5] = [
        FinalStatus::Ready,
        FinalStatus::NeedsInput,
        FinalStatus::Blocked,
        FinalStatus::Failed,
        FinalStatus::Noop,
    ];

    /// Decides the final status from the facts. The first rule that applies gives the status.
    ///
    /// ```
    /// use runstate::service_run::{FinalStatus, PlanFact, RunFacts};
    ///
    /// let facts = RunFacts {
    ///     fatal_error: false,
    ///     needs_input: false,
    ///     decision_blocks: false,
    ///     security_blocks: false,
    ///     judge: None,
    ///     plan: PlanFact::Actions,
    ///     simulation_ok: true,
    /// };
    /// assert_eq!(FinalStatus::decide(&facts), FinalStatus::Ready);
    /// // A fatal error takes precedence over all other facts.
    /// let facts = RunFacts { fatal_error: true, needs_input: true, ..facts };
    /// assert_eq!(FinalStatus::decide(&facts), FinalStatus::Failed);
    /// ```
    pub fn decide(facts: &RunFacts) -> Self {
        let judge_blocks = facts.judge == Some(JudgeVerdict::Block);
        if facts.fatal_error {
            FinalStatus::Failed
        } else if facts.needs_input {
            FinalStatus::NeedsInput
        } else if facts.decision_blocks || facts.security_blocks || judge_blocks {
            FinalStatus::Blocked
        } else {
            match facts.plan {
                PlanFact::Noop => FinalStatus::Noop,
                PlanFact::Actions if facts.simulation_ok => FinalStatus::Ready,
                PlanFact::None | PlanFact::Actions => FinalStatus::Failed,
            }
        }
    }

    /// The status of a run with this outcome.
    pub const fn run_status(self) -> ServiceRunStatus {
        match self {
            FinalStatus::Ready => ServiceRunStatus::AwaitingApproval,
            FinalStatus::NeedsInput | FinalStatus::Noop => ServiceRunStatus::Paused,
            FinalStatus::Blocked => ServiceRunStatus::Blocked,
            FinalStatus::Failed => ServiceRunStatus::Failed,
        }
    }

    /// The name in storage: `NEEDS_INPUT`.
    pub const fn name(self) -> &'static str {
        match self {
            FinalStatus::Ready => "READY",
            FinalStatus::NeedsInput => "NEEDS_INPUT",
            FinalStatus::Blocked => "BLOCKED",
            FinalStatus::Failed => "FAILED",
            FinalStatus::Noop => "NOOP",
        }
    }
}

impl fmt::Display for FinalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The verdict of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JudgeVerdict {
    /// The judge has no objection.
    Pass,
    /// The judge wants a repair or a review by a person; the run continues.
    NeedsRework,
    /// The judge blocks the run.
    Block,
}

/// The mark on an agent's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AgentStatus {
    /// The result has no findings.
    Ok,
    /// A person should review the result.
    Warn,
    /// The result blocks the run.
    Blocked,
}

impl JudgeVerdict {
    /// The mark on the judge's result.
    pub const fn agent_status(self) -> AgentStatus {
        match self {
            JudgeVerdict::Pass => AgentStatus::Ok,
            JudgeVerdict::NeedsRework => AgentStatus::Warn,
            JudgeVerdict::Block => AgentStatus::Blocked,
        }
    }
}
