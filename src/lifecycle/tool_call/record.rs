//! The record of a call.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::record::record;
use super::{AnyToolCall, ToolCallStatus};
use crate::kernel::{Graph, Observer, Record};

record! { AnyToolCall:
    /// The record of a call: the data that all its states share.
    pub struct CallRecord {
        id: String,
        tool: String,
        arguments: Value,
        key: CallKey,
        attempts: u32,
        suspensions: u32,
        #[serde(skip)]
        observer: Observer,
    }
}

/// The position of a call in its run. The model may reuse an id in a later step; a key is unique in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallKey {
    /// The step, from 1.
    pub step: u32,
    /// The index among the calls of the step, from 0.
    pub ordinal: u32,
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.step, self.ordinal)
    }
}

impl CallRecord {
    /// Makes the record of a call that the model requests.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        CallRecord {
            id: id.into(),
            tool: tool.into(),
            arguments,
            key: CallKey::default(),
            attempts: 0,
            suspensions: 0,
            observer: Observer::default(),
        }
    }

    /// Sets the position of the call in the run.
    #[must_use]
    pub fn at(mut self, key: CallKey) -> Self {
        self.key = key;
        self
    }

    /// Sets the observer of all transitions. Default: none.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The id that the model assigned to the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments of the model.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The position of the call in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// The number of begun executions. An execution that a crash cut off counts once together with its repetition.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The number of suspensions.
    pub fn suspensions(&self) -> u32 {
        self.suspensions
    }

    /// Counts an execution that begins.
    pub(super) fn begin_attempt(&mut self) {
        self.attempts += 1;
    }

    /// Takes back the count of an execution that has not ended: its repetition is the same execution.
    pub(super) fn take_back_attempt(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }

    /// Counts a suspension.
    pub(super) fn begin_suspension(&mut self) {
        self.suspensions += 1;
    }
}

impl Record for CallRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new call was never started.
    fn created(&mut self, _: &'static Graph) {
        (self.attempts, self.suspensions) = (0, 0);
    }

    fn check_stored(&self, status: &'static str) -> Result<(), String> {
        let CallRecord { attempts, suspensions, .. } = self;
        let fits = match status.parse() {
            Ok(ToolCallStatus::New) => (*attempts, *suspensions) == (0, 0),
            Ok(ToolCallStatus::Running) => *attempts > 0,
            Ok(ToolCallStatus::Suspended | ToolCallStatus::Resuming) => *suspensions > 0,
            Ok(ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled) => {
                *attempts > 0 || *suspensions > 0
            }
            Err(_) => true,
        };
        if fits {
            return Ok(());
        }
        Err(format!("no call in {status} has {attempts} attempts and {suspensions} suspensions"))
    }
}
