//! A run at rest (document 000, "Durable State Paths").

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::Message;
use super::sound::{Contradiction, check, suspended};
use super::state::{Call, RunState};
use crate::decision::{Decision, Suspension};
use crate::kernel::Slot;
use crate::run::{AnyRun, RunStatus};
use crate::snapshot::{Migration, RestoreError, Snapshot, SnapshotError, digest};
use crate::tool_call::AnyToolCall;

/// A run at rest, under the document's paths.
///
/// ```
/// use runstate::agent::{RunState, StoredRun};
///
/// let json = StoredRun::of(&RunState::new("r1"))?.to_json();
/// let state = StoredRun::from_json(json.as_bytes())?.restore()?;
/// assert_eq!(state.id(), "r1");
///
/// let error = StoredRun::from_json(json.replace("r1", "r2").as_bytes())?.restore().unwrap_err();
/// assert!(error.to_string().contains("changed after it was sealed"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRun {
    #[serde(rename = "__run")]
    run: Snapshot,
    #[serde(rename = "__tool_call_states")]
    calls: BTreeMap<String, StoredCall>,
    #[serde(rename = "__suspended_tool_calls")]
    suspended: BTreeMap<String, Suspension>,
    #[serde(rename = "__resume_decisions")]
    decisions: BTreeMap<String, Decision>,
    messages: Vec<Message>,
    steps: u32,
    flows: u32,
    digest: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCall {
    executions: u32,
    snapshot: Snapshot,
}

impl StoredRun {
    /// Writes a run down, which goes on.
    ///
    /// # Errors
    /// [`StateError::Unwritable`] when something has no form in JSON.
    pub fn of(state: &RunState) -> Result<StoredRun, StateError> {
        let mut calls = BTreeMap::new();
        for call in &state.calls {
            let snapshot = Snapshot::of(call.machine.get()).map_err(StateError::Unwritable)?;
            calls.insert(call.name.clone(), StoredCall { executions: call.executions, snapshot });
        }
        let mut stored = StoredRun {
            run: Snapshot::of(state.run.get()).map_err(StateError::Unwritable)?,
            calls,
            suspended: suspended(state),
            decisions: state.decisions.clone(),
            messages: state.messages.clone(),
            steps: state.steps,
            flows: state.flows,
            digest: String::new(),
        };
        stored.digest = stored.content_digest();
        Ok(stored)
    }

    /// Reads the form of a stored run; whether its content is sound, [`restore`](StoredRun::restore) tells.
    ///
    /// # Errors
    /// [`StateError::Syntax`], with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<StoredRun, StateError> {
        serde_json::from_slice(bytes).map_err(|e| StateError::Syntax {
            line: e.line(),
            column: e.column(),
            message: crate::snapshot::without_place(&e),
        })
    }

    /// The stored run as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"))
    }

    /// The run's status, as stored.
    pub fn status(&self) -> &str {
        self.run.status()
    }

    /// What waits for a decision, by the name of its call.
    pub fn suspended(&self) -> &BTreeMap<String, Suspension> {
        &self.suspended
    }

    /// Seals the content as it stands: for a person who changed a stored file and answers for it.
    pub fn reseal(&mut self) {
        self.run.reseal();
        for call in self.calls.values_mut() {
            call.snapshot.reseal();
        }
        self.digest = self.content_digest();
    }

    fn content_digest(&self) -> String {
        let mut value = serde_json::to_value(self)
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"));
        if let Value::Object(fields) = &mut value {
            fields.remove("digest");
        }
        digest(&[&value])
    }

    /// Brings the run back as types.
    ///
    /// # Errors
    /// [`StateError`], naming the part, for a broken seal, a machine that does not come back, or parts that contradict
    /// each other.
    pub fn restore(&self) -> Result<RunState, StateError> {
        self.restore_with(&[], &[])
    }

    /// Brings the run back, through migrations of its run and of its calls.
    ///
    /// # Errors
    /// As [`restore`](StoredRun::restore).
    pub fn restore_with(&self, of_run: &[Migration], of_calls: &[Migration]) -> Result<RunState, StateError> {
        let expected = self.content_digest();
        if self.digest != expected {
            let error = RestoreError::Digest { got: self.digest.clone(), expected };
            return Err(StateError::Machine { path: "digest".to_owned(), error });
        }
        let machine = |path: String| move |error| StateError::Machine { path, error };
        let run: AnyRun = self.run.restore_with(of_run).map_err(machine("__run".to_owned()))?;
        let mut calls = Vec::with_capacity(self.calls.len());
        for (name, stored) in &self.calls {
            let call: AnyToolCall = stored
                .snapshot
                .restore_with(of_calls)
                .map_err(machine(format!("__tool_call_states.{name}")))?;
            calls.push(Call { name: name.clone(), machine: Slot::new(call), executions: stored.executions });
        }
        calls.sort_by_key(|call| call.machine.get().record().key());
        let interrupted = run.status() == RunStatus::Running && self.flows > 0;
        let state = RunState {
            run: Slot::new(run),
            calls,
            messages: self.messages.clone(),
            decisions: self.decisions.clone(),
            steps: self.steps,
            flows: self.flows,
            interrupted,
        };
        check(&state, &self.suspended)
            .map_err(|Contradiction { path, what }| StateError::Contradiction { path, what })?;
        Ok(state)
    }
}

/// Why a run could not be written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateError {
    /// Something has no form in JSON.
    Unwritable(SnapshotError),
    /// The bytes are no stored run.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A machine, or the whole, did not come back.
    Machine {
        /// Where it stands in the file.
        path: String,
        /// What is wrong with it.
        error: RestoreError,
    },
    /// Two parts contradict each other.
    Contradiction {
        /// Where.
        path: String,
        /// How.
        what: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Unwritable(error) => error.fmt(f),
            StateError::Syntax { line, column, message } => {
                write!(f, "line {line}, column {column}: not a stored run: {message}")
            }
            StateError::Machine { path, error } => write!(f, "{path}: {error}"),
            StateError::Contradiction { path, what } => write!(f, "{path}: {what}"),
        }
    }
}

impl Error for StateError {}
