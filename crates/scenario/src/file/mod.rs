//! What a scenario file says, as types.
//!
//! They are plain data and go both ways through serde: a generator of scenarios makes them, and a shrunk failure is written as
//! a file that anybody can run. Enums are written as a mapping with one key, or as a word where there is nothing to add.

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

use runstate::agent::stop::StopConditionSpec;
use runstate::agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
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

/// A scenario: what the user says, a model that follows a script, tools, and what comes from outside while it runs.
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
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The folder that is copied for each run, relative to the scenario's file: `runstate run` gives its file tools the copy.
    /// Without one the copy is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// What the user says first.
    pub message: String,
    /// Which loop drives the run.
    #[serde(default, rename = "loop", skip_serializing_if = "is_default")]
    pub driver: Driver,
    /// How the calls of a round are executed.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Mode"))]
    pub mode: ExecutionMode,
    /// When an activation waits for calls that are suspended.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Policy"))]
    pub policy: SuspensionPolicy,
    /// What happens once it waits.
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
    /// What extends the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<Plugin>,
    /// Scripted tools, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// What the model says, turn by turn: the first in step 1.
    #[cfg_attr(feature = "json-schema", schemars(length(min = 1)))]
    pub model: Vec<Turn>,
    /// What people decide about calls that wait, each given once the run waits for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Answer>,
    /// What people decide as soon as a call asks. Who has answered a process that is gone answers the next one too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Reply>,
    /// What comes from outside, at a time or after an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Step>,
    /// When the run is stopped, in the order in which the conditions are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Vec<crate::schema::StopCondition>"))]
    pub stop: Vec<StopConditionSpec>,
    /// How commits go.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commits: Commits,
    /// Are the values of calls hidden from those who listen? Events have `[arguments of c1]` in the place of the arguments of `c1`,
    /// and so for outputs, errors, progress and questions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redact: bool,
    /// What bounds the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
}

/// Which loop drives the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// `run_loop`: decisions are taken in at the gates.
    #[default]
    Plain,
    /// `run_loop_stream`: decisions are taken in at once.
    Stream,
}

/// How commits go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Commits {
    /// Is there a committer? Without one there is nothing to go on from after a crash.
    #[serde(skip_serializing_if = "is_true")]
    pub kept: bool,
    /// How often the run is made durable.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Level"))]
    pub level: Durability,
    /// How long each takes, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub takes_ms: u64,
    /// How long the first try takes, the second and so on, over and over; in the place of `takes_ms`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub each_ms: Vec<u64>,
    /// The tries that fail, from 1: each commit and each repetition of one is a try.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fail: Vec<u32>,
}

impl Commits {
    /// How long that try takes, from 1.
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

/// What bounds a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The most steps (one inference with its tool round); at least 1. The same as a last stop condition `max_rounds`.
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub max_rounds: u32,
    /// The most bytes of a file that a file tool reads or writes; from 1 to 64 MiB.
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1, max = 67_108_864)))]
    pub max_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_rounds: 50, max_file_bytes: 1 << 20 }
    }
}

impl Scenario {
    /// A scenario with nothing but a model that says one thing: a start for those who make scenarios.
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
