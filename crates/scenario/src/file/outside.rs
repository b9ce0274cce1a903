//! External steps during a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decision::Decision;

/// An external step. It happens once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The time of the step.
    pub when: When,
    /// The action.
    #[serde(rename = "do")]
    pub act: Act,
    /// Are decisions given again to the next process if this one ends before its reply? Is a cancellation repeated in the
    /// next process?
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub insists: bool,
}

impl Step {
    /// A step with that time and action.
    pub fn new(when: When, act: Act) -> Self {
        Step { when, act, insists: false }
    }
}

/// The time of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At that time, in milliseconds since the scenario began.
    AtMs(u64),
    /// After an event; without a delay, before anything else happens.
    Event(OnEvent),
    /// Before the commit of that number, from 1. Repeated tries of a failed commit count.
    BeforeCommit(u32),
    /// After the commit of that number, before the run receives the result.
    AfterCommit(u32),
}

/// An event, selected by its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OnEvent {
    /// Its `type`, as in JSON: `tool_call_suspended`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The call of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Further fields of the event, as in JSON: `{step: 2}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
    /// The number of the event among the matching ones, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
    pub nth: u32,
    /// The delay after it, in milliseconds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
}

impl OnEvent {
    /// The first event of that type.
    pub fn first(kind: impl Into<String>) -> Self {
        OnEvent { kind: kind.into(), call: None, with: Map::new(), nth: 1, after_ms: 0 }
    }

    /// The event, limited to this call.
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

/// An external action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Decisions, given together.
    Decide(Vec<Decision>),
    /// A message of the user; a run that does not wait does not take it.
    Write(String),
    /// The run is cancelled.
    Cancel,
    /// A parked run is resumed.
    Resume,
    /// The loop is dropped, and another one continues from memory. A parked run has no loop.
    Drop,
    /// The process crashes: committed data alone remains, and a new process continues from there.
    Crash,
    /// The process crashes, and the new one begins that many milliseconds later.
    CrashFor(u64),
}
