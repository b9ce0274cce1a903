//! Scripted tools.

use std::collections::BTreeMap;

use runstate_agent::keys::Scope;
use runstate_agent::{Effect, Preview};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ticket::Ticket;

/// A scripted tool.
///
/// The first execution of a call has the first behaviour, the second (after a replay) the second, and so on; the last one is
/// used for all further executions. The count is kept by call and by the number of questions of its tool, so that a crash
/// does not change it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tool {
    /// The description for the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The effect of a second execution.
    #[serde(skip_serializing_if = "super::is_default")]
    pub effect: EffectName,
    /// The JSON Schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The behaviours, by execution of a call. Without any, the tool succeeds immediately, with its arguments as output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<Behaviour>,
    /// The behaviours for calls of these names, in place of `does`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Vec<Behaviour>>,
    /// The previews that approvers see, by the name of a call: the first one until a question about the call is answered, the
    /// second one then, and so on; the last one is used for all further ones. Without any, a call has no preview.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "json-schema", schemars(with = "BTreeMap<String, Vec<PreviewShown>>"))]
    pub previews: BTreeMap<String, Vec<Preview>>,
}

/// A preview, for the schema.
#[cfg(feature = "json-schema")]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema has it")]
enum PreviewShown {
    /// A text.
    Note(String),
    /// The changes of a text.
    Diff {
        /// The name of the text.
        of: String,
        /// The lines, which begin with `-`, `+` or a space.
        lines: String,
    },
    /// A table.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

/// The effect of a second execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectName {
    /// A second effect is possible.
    #[default]
    Once,
    /// No further effect.
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

/// The behaviour of one execution.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Behaviour {
    /// The duration, in milliseconds.
    #[serde(skip_serializing_if = "super::is_default")]
    pub takes_ms: u64,
    /// The progress messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// The keys that it sets or removes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
    /// The result.
    #[serde(skip_serializing_if = "super::is_default")]
    pub gives: Gives,
}

impl Behaviour {
    /// A behaviour with this immediate result.
    pub fn giving(gives: Gives) -> Self {
        Behaviour { gives, ..Behaviour::default() }
    }

    /// The behaviour with a duration in milliseconds.
    #[must_use]
    pub fn taking(mut self, ms: u64) -> Self {
        self.takes_ms = ms;
        self
    }
}

/// The result of an execution.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Gives {
    /// Its arguments, as output.
    #[default]
    Arguments,
    /// This output.
    Success(Value),
    /// This output, with a warning.
    Warning {
        /// The output.
        output: Value,
        /// The warning.
        warning: String,
    },
    /// It needs a decision to continue.
    Pending(Ticket),
    /// It fails with this error for the model.
    Error(String),
    /// It panics.
    Panic(String),
    /// It never returns.
    Nothing,
}

/// A progress message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The time, in milliseconds since the execution began.
    #[serde(default)]
    pub at_ms: u64,
    /// The message.
    pub value: Value,
}

/// A key that is set or, without a value, removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The key.
    pub key: String,
    /// The scope of the key.
    #[serde(default = "run")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::ScopeName"))]
    pub scope: Scope,
    /// Is it stored in checkpoints?
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
