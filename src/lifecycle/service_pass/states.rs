//! The states of a pass, with their data, and the facts that are known in each.

use serde::{Deserialize, Serialize};

use super::WalletSnapshot;
use super::{BuildTxs, FinishReason, InputNormalize, PlanTx, Precheck, ServicePassStatus, SimulateTxs};
use crate::service_run::{FinalStatus, JudgeVerdict, PlanFact, RunFacts};

/// The rules are applied to the artifacts.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyEval {
    pub(super) simulation_ok: bool,
}

/// The result of the rules is summarized.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityEval {
    pub(super) simulation_ok: bool,
    pub(super) decision_blocks: bool,
}

/// A judge examines the artifacts.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeAgent {
    pub(super) simulation_ok: bool,
    pub(super) decision_blocks: bool,
    pub(super) security_blocks: bool,
}

/// A repair or the plan as it is: the verdict decides.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairRouter {
    pub(super) simulation_ok: bool,
    pub(super) decision_blocks: bool,
    pub(super) security_blocks: bool,
    pub(super) verdict: JudgeVerdict,
    pub(super) issues: Vec<String>,
}

/// A planner plans again, with the judge's issues.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairPlanTx {
    pub(super) issues: Vec<String>,
}

/// The questions to the user are completed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clarify {
    pub(super) facts: RunFacts,
    pub(super) missing: Vec<String>,
    pub(super) questions: Vec<String>,
}

/// The pass is over and has an outcome.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finalize {
    pub(super) after: ServicePassStatus,
    pub(super) reason: FinishReason,
    pub(super) facts: RunFacts,
}

impl PolicyEval {
    /// Returns whether the simulation succeeded.
    pub fn simulation_ok(&self) -> bool {
        self.simulation_ok
    }
}

impl SecurityEval {
    /// Returns whether the decision blocks the run.
    pub fn decision_blocks(&self) -> bool {
        self.decision_blocks
    }
}

impl JudgeAgent {
    /// Returns whether the security result blocks the run.
    pub fn security_blocks(&self) -> bool {
        self.security_blocks
    }
}

impl RepairRouter {
    /// The verdict of the judge.
    pub fn verdict(&self) -> JudgeVerdict {
        self.verdict
    }

    /// The issues of the judge.
    pub fn issues(&self) -> &[String] {
        &self.issues
    }
}

impl RepairPlanTx {
    /// The issues that the new plan must solve.
    pub fn issues(&self) -> &[String] {
        &self.issues
    }
}

impl Clarify {
    /// The slots without a value.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The questions that were there before this node.
    pub fn questions(&self) -> &[String] {
        &self.questions
    }
}

impl Finalize {
    /// The last node before this one.
    pub fn after(&self) -> ServicePassStatus {
        self.after
    }

    /// The reason of the end.
    pub fn reason(&self) -> &FinishReason {
        &self.reason
    }

    /// The facts of the pass.
    pub fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// The outcome that follows from the facts.
    pub fn final_status(&self) -> FinalStatus {
        FinalStatus::decide(&self.facts)
    }
}

/// A state with the facts that its pass has found so far. All states of a pass but FINALIZE implement it.
pub trait Found {
    /// The facts.
    fn found(&self) -> RunFacts;
}

macro_rules! found {
    ($($State:ident($state:ident): $facts:expr;)+) => { $(
        impl Found for $State {
            fn found(&self) -> RunFacts {
                let $state = self;
                $facts
            }
        }
    )+ };
}

/// The facts of a pass with a plan and no result yet.
const PLANNED: RunFacts = RunFacts { plan: PlanFact::Actions, ..RunFacts::NONE };

found! {
    InputNormalize(_state): RunFacts::NONE;
    Precheck(_state): RunFacts::NONE;
    WalletSnapshot(_state): RunFacts::NONE;
    PlanTx(_state): RunFacts::NONE;
    BuildTxs(_state): PLANNED;
    SimulateTxs(_state): PLANNED;
    PolicyEval(state): RunFacts { simulation_ok: state.simulation_ok, ..PLANNED };
    SecurityEval(state): RunFacts {
        simulation_ok: state.simulation_ok,
        decision_blocks: state.decision_blocks,
        ..PLANNED
    };
    JudgeAgent(state): RunFacts {
        simulation_ok: state.simulation_ok,
        decision_blocks: state.decision_blocks,
        security_blocks: state.security_blocks,
        ..PLANNED
    };
    RepairRouter(state): RunFacts {
        simulation_ok: state.simulation_ok,
        decision_blocks: state.decision_blocks,
        security_blocks: state.security_blocks,
        judge: Some(state.verdict),
        ..PLANNED
    };
    // The facts of the old plan say nothing about the new one.
    RepairPlanTx(_state): RunFacts::NONE;
    Clarify(state): state.facts;
}
