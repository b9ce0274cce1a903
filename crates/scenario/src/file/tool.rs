//! Scripted tools.

use std::collections::BTreeMap;

use runstate::agent::Effect;
use runstate::agent::keys::Scope;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ticket::Ticket;

/// A tool that does what it is told to do.
///
/// The first execution of a call does what the first behaviour says, the second (after a replay) the second, and so on; the
/// last one stands for all further ones. It is counted by call and by how often its tool asked, so that a crash changes nothing
/// about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tool {
    /// What the model is told of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// May it run twice?
    #[serde(skip_serializing_if = "super::is_default")]
    pub effect: EffectName,
    /// The JSON Schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What it does, execution by execution of a call. Without any it succeeds at once, with its arguments for output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<Behaviour>,
    /// What it does for calls of these names, in the place of `does`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Vec<Behaviour>>,
}

/// What executing a tool again does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectName {
    /// It may do something twice.
    #[default]
    Once,
    /// Nothing new.
    Repeatable,
}

impl From<EffectName> for Effect {
    fn from(effect: EffectName) -> Self {
        match effect {
            EffectName::Once => Effect::Once,
            EffectName::Repeatable => Effect::Repeatable,
        }
    }
}

/// What one execution does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Behaviour {
    /// How long it takes, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub takes_ms: u64,
    /// What it says meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// The keys it sets or removes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
    /// What it gives in the end.
    #[serde(skip_serializing_if = "super::is_default")]
    pub gives: Gives,
}

impl Behaviour {
    /// Gives this at once.
    pub fn giving(gives: Gives) -> Self {
        Behaviour { gives, ..Behaviour::default() }
    }

    /// The same, after so many milliseconds.
    #[must_use]
    pub fn taking(mut self, ms: u64) -> Self {
        self.takes_ms = ms;
        self
    }
}

/// What an execution gives in the end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Gives {
    /// Its arguments, for output.
    #[default]
    Arguments,
    /// This output.
    Success(Value),
    /// This output, and something to know about it.
    Warning {
        /// The output.
        output: Value,
        /// What there is to know.
        warning: String,
    },
    /// It cannot go on without a decision.
    Pending(Ticket),
    /// It fails, and the model reads why.
    Error(String),
    /// It panics.
    Panic(String),
    /// Nothing, ever.
    Nothing,
}

/// A word on how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// When, in milliseconds since the execution began.
    #[serde(default)]
    pub at_ms: u64,
    /// What.
    pub value: Value,
}

/// A key that is set or, without a value, removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The key.
    pub key: String,
    /// What it belongs to.
    #[serde(default = "run")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::ScopeName"))]
    pub scope: Scope,
    /// Is it kept in checkpoints?
    #[serde(default = "yes")]
    pub persistent: bool,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

fn run() -> Scope {
    Scope::Run
}

fn yes() -> bool {
    true
}
