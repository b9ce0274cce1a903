//! Prepared decisions, and decisions that arrive at their own time.

use runstate::decision::DecisionAction;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A prepared decision on a waiting call; given once the run waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The call, as it is named in traces.
    pub call: String,
    /// The effect on the call.
    pub action: Action,
    /// The reason, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With `approve`: the answer to a question that asks for one, where it is required. By the `resume_mode` it is the
    /// call's result, or replaces the arguments. For a tool under `approve` it is the call's result, and the tool does not
    /// execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The name of the person. Default: `scenario`; no name where a question asks for distinct actors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// The two answers to a waiting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Continue, in the mode of its suspension.
    #[serde(alias = "resume")]
    Approve,
    /// Give the call up.
    #[serde(alias = "cancel")]
    Deny,
}

impl From<Action> for DecisionAction {
    fn from(action: Action) -> Self {
        match action {
            Action::Approve => DecisionAction::Resume,
            Action::Deny => DecisionAction::Cancel,
        }
    }
}

/// A decision as it arrives from outside. It may be a duplicate, late, or on an unknown call: its reply is part of the play.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The id of the decision. A second decision with this id is a duplicate.
    pub id: String,
    /// The call, as it is named in traces.
    pub call: String,
    /// The effect on the call.
    pub action: Action,
    /// The run, if the decision names one: `$run` stands for the id of the played run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The suspension, if the decision names one, such as `$run/c1/2` for the second question of the call `c1`: `$run`
    /// stands for the run's id. Default in a reply: the suspension that is answered; `''` names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<String>,
    /// The answer itself, for suspensions that use it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Is the decision for the question that the call asked last, and for no other?
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub as_shown: bool,
}

/// The id of the run, in a decision.
pub(crate) const RUN: &str = "$run";

impl Decision {
    /// A decision on the current question of the call.
    pub fn new(id: impl Into<String>, call: impl Into<String>, action: Action) -> Self {
        Decision {
            id: id.into(),
            call: call.into(),
            action,
            run: None,
            suspension: None,
            result: Value::Null,
            reason: None,
            actor: None,
            digest: None,
            as_shown: false,
        }
    }
}
