//! The results of policy, security and judge.

use std::collections::BTreeMap;

use runstate::service_run::{AgentStatus, JudgeVerdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CheckStatus {
    /// The check has no objection.
    Pass,
    /// A person should look at it.
    Warn,
    /// The run is blocked.
    Fail,
}

/// One check of the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The id, such as `target_allowlist`.
    pub id: String,
    /// The title for a person.
    pub title: String,
    /// The result.
    pub status: CheckStatus,
    /// The reason.
    pub reason: String,
    /// The values that the check compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Value>,
}

/// The artifact `policy_result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyResult {
    /// The checks, in their fixed order.
    pub checks: Vec<Check>,
}

/// The action of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DecisionAction {
    /// The run is blocked.
    Block,
    /// A person must approve.
    NeedsApproval,
}

/// The severity of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Severity {
    /// Below 25.
    Low,
    /// From 25.
    Med,
    /// From 60.
    High,
}

/// The artifact `decision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The action.
    pub action: DecisionAction,
    /// The score, from 0 to 100.
    pub risk_score: u32,
    /// The severity.
    pub severity: Severity,
    /// The summary for a person.
    pub summary: String,
    /// The reasons of the checks that did not pass.
    pub reasons: Vec<String>,
}

/// The artifact `security_result` or `judge_result`: the result of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentResult {
    /// The name of the agent.
    pub agent: String,
    /// The mark.
    pub status: AgentStatus,
    /// The verdict, for a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<JudgeVerdict>,
    /// The summary for a person.
    pub summary: String,
    /// The issues that a repair must solve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    /// The error of an agent that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The answer of a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeAnswer {
    /// The verdict.
    pub verdict: JudgeVerdict,
    /// The summary for a person.
    #[serde(default)]
    pub summary: String,
    /// The issues that a repair must solve.
    #[serde(default)]
    pub issues: Vec<String>,
}
