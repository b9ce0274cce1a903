//! The artifacts of a run, as types.

mod input;
mod plan;
mod tx;
mod units;
mod verdict;

use std::collections::BTreeMap;

use runstate::service_run::FinalStatus;
use serde::de::value::MapDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::port::PlannerInput;

pub use input::{Allowance, FatalError, MissingSlot, NeedsInput, Question, TokenBalance, WalletSnapshot};
pub use plan::{
    Action, MAX_ACTIONS, PlanAnswer, PlannedBy, PlannerResult, RepairContext, RepairSummary, TxPlan,
};
pub use tx::{
    Candidate, DecodedCall, Simulation, SimulationMode, SimulationStatus, TxCall, TxKind, TxRequest, TxResult,
};
pub use units::Units;
pub use verdict::{
    AgentResult, Check, CheckStatus, Decision, DecisionAction, JudgeAnswer, PolicyResult, Severity,
};

/// The artifacts of a run. A store has each of them under its name.
///
/// ```
/// use runstate_service::Artifacts;
///
/// let artifacts = Artifacts { normalized_intent: Some("send 1 USDC".into()), ..Artifacts::default() };
/// let stored = artifacts.to_map();
/// assert_eq!(stored["normalized_intent"], "send 1 USDC");
/// assert_eq!(stored.len(), 1);
/// assert_eq!(Artifacts::from_map(&stored)?, artifacts);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Artifacts {
    /// The answers of the user, over all resumes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub user_inputs: BTreeMap<String, Value>,
    /// The intent with single spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalized_intent: Option<String>,
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The number of attempts that the pass may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// The input that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_input: Option<NeedsInput>,
    /// The state of the wallet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wallet_snapshot: Option<WalletSnapshot>,
    /// The input of the planner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner_input: Option<PlannerInput>,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_plan: Option<TxPlan>,
    /// The plans before a repair, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tx_plan_history: Vec<TxPlan>,
    /// The result of the planner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner_result: Option<PlannerResult>,
    /// The transactions, in the order in which they must be signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_requests: Option<Vec<TxRequest>>,
    /// The simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
    /// The checks of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_result: Option<PolicyResult>,
    /// The decision of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The result of the security agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_result: Option<AgentResult>,
    /// The result of the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_result: Option<AgentResult>,
    /// The reason of a repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair_context: Option<RepairContext>,
    /// The result of a repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair_summary: Option<RepairSummary>,
    /// The message to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_message: Option<String>,
    /// The final status that the graph suggests. It decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_status_suggested: Option<FinalStatus>,
    /// The node that failed, and the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fatal_error: Option<FatalError>,
}

impl Artifacts {
    /// Returns the artifacts by name.
    ///
    /// # Panics
    /// Never: each artifact is plain JSON.
    pub fn to_map(&self) -> BTreeMap<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields.into_iter().collect(),
            other => unreachable!("artifacts are an object: {other:?}"),
        }
    }

    /// Reads the artifacts from their stored forms.
    ///
    /// # Errors
    /// The first artifact that has another form.
    pub fn from_map(map: &BTreeMap<String, Value>) -> Result<Self, serde_json::Error> {
        Artifacts::deserialize(MapDeserializer::new(map.iter().map(|(name, value)| (name.as_str(), value))))
    }

    /// Begins a pass: the answers of the user stay, and each node writes its artifacts anew.
    pub(crate) fn begin_pass(&mut self, user_inputs: &BTreeMap<String, Value>) {
        *self = Artifacts { user_inputs: user_inputs.clone(), ..Artifacts::default() };
    }

    /// Begins an attempt: the plan becomes history, and its results are dropped.
    pub(crate) fn begin_attempt(&mut self, context: RepairContext) {
        self.tx_plan_history.extend(self.tx_plan.take());
        self.attempt = Some(context.attempt);
        self.repair_context = Some(context);
        self.planner_result = None;
        self.tx_requests = None;
        self.simulation = None;
        self.policy_result = None;
        self.decision = None;
        self.security_result = None;
        self.judge_result = None;
    }
}
