//! The parts of a stored run, for stores that keep them separately.

use std::collections::BTreeMap;

use runstate::decision::Decision;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::history::{History, Message};
use super::super::keys::{KeyState, Scope};
use super::super::stop::StopCounters;
use super::error::StateError;
use super::stored::{StoredCall, StoredRun, Warrant, suspension_of};
use super::validate::arrange;
use super::{Offer, RunState};

/// The small remaining state of a run, without its machines, messages, decisions and values. Each commit writes it
/// again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(hidden)]
pub struct Core {
    thread: String,
    base: usize,
    steps: u32,
    #[serde(default, skip_serializing_if = "Offer::is_all")]
    offer: Offer,
    flows: u32,
    events: u64,
    counters: StopCounters,
}

impl Core {
    #[doc(hidden)]
    pub fn of(state: &RunState) -> Self {
        Core {
            thread: state.thread.id.to_string(),
            base: state.base,
            steps: state.steps,
            offer: state.offer.clone(),
            flows: state.flows,
            events: state.events + state.following,
            counters: state.counters.clone(),
        }
    }
}

/// The parts of a run, each as JSON.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct RunParts<'a> {
    pub version: u64,
    pub core: &'a str,
    pub run: &'a str,
    /// The name, the number of executions and the snapshot of each call.
    pub calls: &'a [(String, u32, String)],
    pub decisions: &'a [Decision],
    /// The messages of each earlier run on the thread, in order. They are stored with their runs.
    pub earlier: &'a [Vec<String>],
    /// The messages of the run, in the order of their storage.
    pub messages: &'a [String],
    pub values: &'a [(Scope, String, String)],
}

impl StoredRun {
    /// Assembles a run from its parts. Each machine has a checksum of its own.
    ///
    /// # Errors
    /// [`StateError`] with the name of the part that cannot be read.
    #[doc(hidden)]
    pub fn from_parts(parts: RunParts<'_>) -> Result<StoredRun, StateError> {
        let core: Core = read("the core", parts.core)?;
        let mut calls = BTreeMap::new();
        let mut suspended = BTreeMap::new();
        for (name, executions, snapshot) in parts.calls {
            let snapshot = read(&format!("__tool_call_states.{name}"), snapshot)?;
            if let Some(suspension) = suspension_of(name, &snapshot)? {
                suspended.insert(name.clone(), suspension);
            }
            calls.insert(name.clone(), StoredCall { executions: *executions, snapshot });
        }
        let mut values = KeyState::default();
        for (scope, name, value) in parts.values {
            let value: Value = read(&format!("values.{name}"), value)?;
            values.store(vec![(*scope, name.clone(), Some(value))]).map_err(StateError::Value)?;
        }
        let mut history = History::default();
        for run in parts.earlier {
            arrange(&mut history, &messages(run)?)?;
        }
        let mut all: Vec<Message> = history.stored().cloned().collect();
        all.extend(messages(parts.messages)?);
        let decisions = parts.decisions.iter();
        let decisions = decisions.map(|decision| (decision.suspension_id.clone(), decision.clone()));
        Ok(StoredRun {
            run: read("__run", parts.run)?,
            calls,
            suspended,
            decisions: decisions.collect(),
            thread: core.thread,
            base: core.base,
            messages: all,
            values,
            steps: core.steps,
            offer: core.offer,
            flows: core.flows,
            events: core.events,
            version: parts.version,
            counters: core.counters,
            warrant: Warrant::Parts,
        })
    }
}

fn messages(stored: &[String]) -> Result<Vec<Message>, StateError> {
    let numbered = stored.iter().zip(1_u64..);
    numbered.map(|(message, number)| read(&format!("messages.{number}"), message)).collect()
}

fn read<T: DeserializeOwned>(path: &str, json: &str) -> Result<T, StateError> {
    runstate::json::from_str(json).map_err(|error| StateError::Inconsistency {
        path: path.to_owned(),
        what: format!("it cannot be read: {error}"),
    })
}
