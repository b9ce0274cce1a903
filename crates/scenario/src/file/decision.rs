//! Decisions: those that people have ready, and those that come in at a moment of their own.

use runstate::decision::DecisionAction;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person decides about a call that waits; given once the run waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The call, as it is named in traces.
    pub call: String,
    /// What becomes of it.
    pub action: Action,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With `approve`: the answer to a question that asks for one, and needed there. By its `resume_mode` it is the call's result, or takes
    /// the place of the arguments. Of a tool under `approve` it is the call's result, and the tool does not execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The name of the person; `scenario` without one, or none where a question asks for distinct actors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// The two ways on for a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It goes on, as its suspension says.
    #[serde(alias = "resume")]
    Approve,
    /// It is given up.
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

/// A decision as it comes in from outside. It may be a duplicate, late, or on a call that there is not: what becomes of it is
/// part of what was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Its id: the same id again is the same decision.
    pub id: String,
    /// The call, as it is named in traces.
    pub call: String,
    /// What becomes of it.
    pub action: Action,
    /// The run, if it names one: `$run` in it stands for the id of the run that is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The suspension, if it names one, such as `$run/c1/2` for the second question of the call `c1`: `$run` stands for the run's
    /// id. In a reply it is the one that was asked unless it says otherwise; `''` names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<String>,
    /// The answer itself, for suspensions that use it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of the question that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Is it for the question that the call asked last, and no other?
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub as_shown: bool,
}

/// The id of the run, in a decision.
pub(crate) const RUN: &str = "$run";

impl Decision {
    /// A decision on whatever the call waits on.
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
