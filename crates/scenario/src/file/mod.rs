//! The content of a scenario file, as types.
//!
//! The types are plain data and are read and written by serde: a generator of scenarios makes them, and a shrunk failure is
//! written as a file that the command runs. Enums are written as a mapping with one key, or as a word if there is nothing to
//! add.

mod call;
mod decision;
mod outside;
mod plugin;
mod reply;
mod ticket;
mod tool;
mod turn;

use std::collections::BTreeMap;
use std::path::PathBuf;

use runstate_agent::stop::StopConditionSpec;
use runstate_agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use call::Call;
pub(crate) use decision::RUN;
pub use decision::{Action, Answer, Decision};
pub use outside::{Act, OnEvent, Step, When};
pub use plugin::{At, PhaseName, Plugin, Says};
pub use reply::{Given, Question, Reply};
pub use ticket::Ticket;
pub use tool::{Behaviour, EffectName, Gives, Patch, Progress, Tool};
pub use turn::{Ending, Turn};

/// A scenario: a message of the user, a model that follows a script, tools, and external steps during the run.
///
/// ```
/// use runstate_scenario::Scenario;
///
/// let scenario = Scenario::parse("
/// name: greeting
/// message: hello
/// model:
///   - text: hello to you
/// ")?;
/// assert_eq!(scenario.model[0].text.as_deref(), Some("hello to you"));
///
/// let refused = Scenario::parse("name: greeting\nmassage: hello\n").unwrap_err();
/// assert!(refused.to_string().starts_with("line 2, column 1: unknown field `massage`"), "{refused}");
/// # Ok::<(), runstate_scenario::Refused>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name, from which run ids are made: lower-case letters, digits and hyphens.
    pub name: String,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The folder that is copied for each run, relative to the scenario's file: `runstate run` gives its file tools the
    /// copy. Default: an empty folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The first message of the user.
    pub message: String,
    /// The loop that drives the run.
    #[serde(default, rename = "loop", skip_serializing_if = "is_default")]
    pub driver: Driver,
    /// The execution mode of the calls of a round.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Mode"))]
    pub mode: ExecutionMode,
    /// The policy for waiting on suspended calls.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Policy"))]
    pub policy: SuspensionPolicy,
    /// The behaviour of the loop once the run waits.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Wait"))]
    pub when_suspended: WhenSuspended,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Parameters of the model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// The tools that wait for a person's decision before they execute: for each, a plugin `ask` before all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve: Vec<String>,
    /// The plugins, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<Plugin>,
    /// Scripted tools, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// The turns of the model: the first in step 1.
    #[cfg_attr(feature = "json-schema", schemars(length(min = 1)))]
    pub model: Vec<Turn>,
    /// Decisions on waiting calls, each given once the run waits for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Answer>,
    /// Replies as soon as a call asks. A reply that a process lost is given to the next one too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Reply>,
    /// External steps, at a time or after an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Step>,
    /// The stop conditions, in the order of their evaluation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Vec<crate::schema::StopCondition>"))]
    pub stop: Vec<StopConditionSpec>,
    /// The behaviour of commits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commits: Commits,
    /// Are the values of calls hidden from receivers of events? Events then have `[arguments of c1]` in place of the
    /// arguments of `c1`, and likewise for outputs, errors, progress and questions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redact: bool,
    /// The limits of the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
}

/// The loop that drives the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// `run_loop`: decisions are taken at the gates.
    #[default]
    Plain,
    /// `run_loop_stream`: decisions are taken immediately.
    Stream,
}

/// The behaviour of commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Commits {
    /// Is there a committer? Without one a crash loses the run.
    #[serde(skip_serializing_if = "is_true")]
    pub kept: bool,
    /// The durability level of the run.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Level"))]
    pub level: Durability,
    /// The duration of each commit, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub takes_ms: u64,
    /// The duration of the first try, the second and so on, repeated cyclically; replaces `takes_ms`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub each_ms: Vec<u64>,
    /// The tries that fail, from 1: each commit and each repetition of a commit is a try.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fail: Vec<u32>,
}

impl Commits {
    /// The duration of that try, from 1.
    pub(crate) fn ms_of(&self, number: u32) -> u64 {
        let place = (number as usize).saturating_sub(1).checked_rem(self.each_ms.len());
        place.and_then(|place| self.each_ms.get(place).copied()).unwrap_or(self.takes_ms)
    }
}

impl Default for Commits {
    fn default() -> Self {
        Commits { kept: true, level: Durability::Commit, takes_ms: 0, each_ms: Vec::new(), fail: Vec::new() }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The maximum of steps (one inference with its tool round); at least 1. Equivalent to a last stop condition
    /// `max_rounds`.
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub max_rounds: u32,
    /// The maximum size of a file that a file tool reads or writes, in bytes; from 1 to 64 MiB.
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1, max = 67_108_864)))]
    pub max_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_rounds: 50, max_file_bytes: 1 << 20 }
    }
}

impl Scenario {
    /// A scenario with a model script alone: a start for generators of scenarios.
    pub fn new(name: impl Into<String>, model: Vec<Turn>) -> Self {
        Scenario {
            name: name.into(),
            about: None,
            folder: None,
            message: "go".to_owned(),
            driver: Driver::default(),
            mode: ExecutionMode::default(),
            policy: SuspensionPolicy::default(),
            when_suspended: WhenSuspended::default(),
            system: None,
            parameters: Map::new(),
            approve: Vec::new(),
            plugins: Vec::new(),
            tools: BTreeMap::new(),
            model,
            decisions: Vec::new(),
            replies: Vec::new(),
            outside: Vec::new(),
            stop: Vec::new(),
            commits: Commits::default(),
            redact: false,
            limits: Limits::default(),
        }
    }

    /// The calls of all turns, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.model.iter().flat_map(|turn| &turn.calls)
    }

    /// The scenario as indented JSON, which is YAML too.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"))
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn is_true(value: &bool) -> bool {
    *value
}
