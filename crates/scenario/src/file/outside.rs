//! What comes from outside while the run goes on.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decision::Decision;

/// Something that comes from outside, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When.
    pub when: When,
    /// What.
    #[serde(rename = "do")]
    pub act: Act,
    /// Are decisions given again, to the next process, where this one is gone before it has answered? And is a run that was
    /// cancelled so cancelled in the next process as well?
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub insists: bool,
}

impl Step {
    /// That, then.
    pub fn new(when: When, act: Act) -> Self {
        Step { when, act, insists: false }
    }
}

/// When something comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At that time, in milliseconds since the scenario began.
    AtMs(u64),
    /// After an event; at once, before anything else happens, if it does not say how long after.
    Event(OnEvent),
    /// Before the commit of that number is made, from 1. Repeated tries of one that failed count.
    BeforeCommit(u32),
    /// When the commit of that number was made, before the run hears of it.
    AfterCommit(u32),
}

/// An event, by what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OnEvent {
    /// Its `type`, as in JSON: `tool_call_suspended`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Further fields that it has, as in JSON: `{step: 2}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
    /// Which of those, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub nth: u32,
    /// How long after it, in milliseconds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
}

impl OnEvent {
    /// The first event of that type.
    pub fn first(kind: impl Into<String>) -> Self {
        OnEvent { kind: kind.into(), call: None, with: Map::new(), nth: 1, after_ms: 0 }
    }

    /// The same, about this call.
    #[must_use]
    pub fn of(mut self, call: impl Into<String>) -> Self {
        self.call = Some(call.into());
        self
    }
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_first(nth: &u32) -> bool {
    *nth == 1
}

/// What comes from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Decisions, given together.
    Decide(Vec<Decision>),
    /// The user writes; a run that does not wait does not take it.
    Write(String),
    /// The run is cancelled.
    Cancel,
    /// A run that was parked is looked at again.
    Resume,
    /// The loop is dropped where it stands, and another goes on from what is in memory. A run that is parked has no loop.
    Drop,
    /// The process is gone: nothing is left but what was committed, and a new one goes on from there.
    Crash,
    /// The process is gone, and the new one begins that many milliseconds later.
    CrashFor(u64),
}
