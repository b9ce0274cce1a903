//! Scenarios: a folder, a message, a model that follows a script, and the decisions that people make.

mod check;
mod read;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

pub(crate) use read::{FromFile, read};

/// A scenario as its file says it, checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// Its name, from which run ids are made: lower-case letters, digits and hyphens.
    pub(crate) name: Spanned<String>,
    /// What it shows.
    #[serde(default)]
    pub(crate) about: Option<String>,
    /// The folder that is copied for each run, relative to the scenario's file. Without one the copy is empty.
    #[serde(default)]
    pub(crate) folder: Option<Spanned<PathBuf>>,
    /// What the user says.
    pub(crate) message: String,
    /// The tools that wait for a person's decision before they execute.
    #[serde(default)]
    pub(crate) approve: Vec<Spanned<String>>,
    /// What the model says, turn by turn.
    pub(crate) model: Spanned<Vec<Turn>>,
    /// What people decide about calls that wait.
    #[serde(default)]
    pub(crate) decisions: Vec<Decision>,
    /// When to stop.
    #[serde(default)]
    pub(crate) limits: Limits,
}

/// One turn of the scripted model: a text, calls, or both.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// What it says.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// What it asks for.
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
}

/// One call that the model asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// Its id, of which a scenario has no two alike: a decision names a call by it.
    pub(crate) id: Spanned<String>,
    /// The tool. A tool that does not exist is a mistake of the model, which the run answers.
    pub(crate) tool: Spanned<String>,
    /// Its arguments. Wrong ones are a mistake of the model too.
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

/// What a person decides about a call that waits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decision {
    /// The id of the call.
    pub(crate) call: Spanned<String>,
    /// What becomes of it.
    pub(crate) action: Action,
    /// Why, in the person's words.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// With `approve`: this is the call's result, the tool does not execute.
    #[serde(default)]
    pub(crate) result: Option<Value>,
}

/// The two ways on for a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// It goes on: the tool executes, or the decision's result is its result.
    Approve,
    /// It is cancelled.
    Deny,
}

/// When a run stops, and how large what its tools read and write may be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// The most steps (one inference with its tool round); at least 1.
    pub(crate) max_rounds: Spanned<u32>,
    /// The most bytes of a file that a tool reads or writes; at least 1.
    pub(crate) max_file_bytes: Spanned<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_rounds: unplaced(50), max_file_bytes: unplaced(1 << 20) }
    }
}

fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(value, serde_saphyr::Location::UNKNOWN, serde_saphyr::Location::UNKNOWN)
}

impl Scenario {
    /// The calls of all turns, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.model.value.iter().flat_map(|turn| &turn.calls)
    }
}
