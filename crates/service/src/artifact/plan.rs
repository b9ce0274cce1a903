//! The plan of a pass: its actions, and the result of its planner.

use serde::{Deserialize, Serialize};

use super::tx::Candidate;

/// The maximum number of actions of a plan.
pub const MAX_ACTIONS: usize = 3;

/// One action of a plan. A value that is none is a missing slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A transfer.
    Send {
        /// The decimal amount.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<String>,
        /// The symbol of the native currency or of a token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asset: Option<String>,
        /// The address of the recipient.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipient: Option<String>,
    },
    /// An exchange of tokens.
    Swap {
        /// The decimal amount of the sold token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount_in: Option<String>,
        /// The symbol of the sold token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_in: Option<String>,
        /// The symbol of the bought token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_out: Option<String>,
        /// The largest accepted slippage, in hundredths of a percent. Default: that of the configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slippage_bps: Option<u32>,
    },
}

impl Action {
    /// The slots of this kind of action with their values, in the order of the questions.
    pub fn slots(&self) -> [(&'static str, Option<&str>); 3] {
        match self {
            Action::Send { amount, asset, recipient } => [
                ("amount", amount.as_deref()),
                ("asset", asset.as_deref()),
                ("recipient", recipient.as_deref()),
            ],
            Action::Swap { amount_in, token_in, token_out, .. } => [
                ("amount_in", amount_in.as_deref()),
                ("token_in", token_in.as_deref()),
                ("token_out", token_out.as_deref()),
            ],
        }
    }

    /// The place of a slot's value. None for a slot of another kind of action.
    pub fn slot_mut(&mut self, slot: &str) -> Option<&mut Option<String>> {
        match (self, slot) {
            (Action::Send { amount, .. }, "amount") => Some(amount),
            (Action::Send { asset, .. }, "asset") => Some(asset),
            (Action::Send { recipient, .. }, "recipient") => Some(recipient),
            (Action::Swap { amount_in, .. }, "amount_in") => Some(amount_in),
            (Action::Swap { token_in, .. }, "token_in") => Some(token_in),
            (Action::Swap { token_out, .. }, "token_out") => Some(token_out),
            _ => None,
        }
    }
}

/// The artifact `tx_plan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TxPlan {
    /// The actions, in order. None: there is nothing to do.
    pub actions: Vec<Action>,
    /// The summary for a person.
    pub summary: String,
    /// The compiled transactions with their meaning, in the order in which they must be signed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// The planner of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedBy {
    /// The planner port, such as a model.
    Planner,
    /// The built-in planner of phrases.
    Phrases,
    /// No planner: the plan without actions, because the planner failed or its answer was no valid plan.
    Fallback,
}

/// The artifact `planner_result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannerResult {
    /// The planner of the plan.
    pub planned_by: PlannedBy,
    /// The reason why the answer of the planner was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner_fallback: Option<String>,
    /// The slots without a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// The answer of a planner.
///
/// ```
/// use runstate_service::{Action, PlanAnswer};
///
/// let answer: PlanAnswer = serde_json::from_value(serde_json::json!({
///     "actions": [{"kind": "send", "amount": "1", "asset": "USDC"}],
///     "summary": "send 1 USDC",
/// }))?;
/// assert_eq!(answer.actions[0].slots()[2], ("recipient", None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanAnswer {
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// The summary for a person.
    #[serde(default)]
    pub summary: String,
}

/// The artifact `repair_context`: the reason and the number of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairContext {
    /// The number of the attempt that the repair begins.
    pub attempt: u32,
    /// The issues of the judge.
    pub issues: Vec<String>,
}

/// The artifact `repair_summary`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairSummary {
    /// Whether the judge passed the repaired plan.
    pub success: bool,
    /// The number of attempts.
    pub attempts: u32,
}
