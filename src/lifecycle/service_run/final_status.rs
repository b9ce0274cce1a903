//! The outcome of a pass over the graph, and the status that it gives the run (document 004, "Final Status").

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ServiceRunStatus;

/// The outcome of a pass over the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FinalStatus {
    /// Transactions wait for an approval.
    Ready,
    /// The graph misses something that a person must say.
    NeedsInput,
    /// A rule or a judge forbids to go on.
    Blocked,
    /// The graph could not finish.
    Failed,
    /// There is nothing to do.
    Noop,
}

/// What the artifacts of a pass say, as far as the final status depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFacts {
    /// `fatal_error` is set.
    pub fatal_error: bool,
    /// `needs_input` has questions.
    pub needs_input: bool,
    /// `decision` says block.
    pub decision_blocks: bool,
    /// `security_result` says block.
    pub security_blocks: bool,
    /// `judge_result`, if a judge was heard.
    pub judge: Option<JudgeVerdict>,
    /// `tx_plan`.
    pub plan: PlanFact,
    /// `simulation` succeeded.
    pub simulation_ok: bool,
}

/// What there is of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFact {
    /// No plan was made.
    None,
    /// The plan says that there is nothing to do.
    Noop,
    /// The plan has actions.
    Actions,
}

impl FinalStatus {
    /// All of them, in the order of the document.
    pub const ALL: [FinalStatus; 5] = [
        FinalStatus::Ready,
        FinalStatus::NeedsInput,
        FinalStatus::Blocked,
        FinalStatus::Failed,
        FinalStatus::Noop,
    ];

    /// The final status that the facts give; the first that applies (D2).
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
    /// // A fatal error wins over everything else.
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

    /// The status that a run with this outcome has.
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

/// What a judge says (document 004, "Judge Verdict Mapping").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JudgeVerdict {
    /// Nothing speaks against it.
    Pass,
    /// It wants a repair or a person's eye; the run goes on.
    NeedsRework,
    /// It must not go on.
    Block,
}

/// How an agent's result is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AgentStatus {
    /// All is well.
    Ok,
    /// Somebody should look.
    Warn,
    /// It must not go on.
    Blocked,
}

impl JudgeVerdict {
    /// How the judge's result is marked.
    pub const fn agent_status(self) -> AgentStatus {
        match self {
            JudgeVerdict::Pass => AgentStatus::Ok,
            JudgeVerdict::NeedsRework => AgentStatus::Warn,
            JudgeVerdict::Block => AgentStatus::Blocked,
        }
    }
}
