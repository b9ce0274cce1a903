//! A change of a run: the content of one transaction.

use std::collections::BTreeMap;

use runstate::decision::digest;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate::snapshot::Snapshot;
use serde_json::Value;

use super::StoredRun;
use crate::rows::{EventRow, ServiceEvent, Step, StepName, TimelineEntry};

/// A change of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The time, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The status after the change.
    pub status: ServiceRunStatus,
    /// The final status after the change.
    pub final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    pub current_step: Option<StepName>,
    /// The intent after the change.
    pub intent: String,
    /// The run as a machine.
    pub machine: Snapshot,
    /// The pass as a machine.
    pub pass: Option<Snapshot>,
    /// The artifacts that changed, by name. None: the artifact is removed.
    pub artifacts: BTreeMap<String, Option<Value>>,
    /// The new steps.
    pub steps: Vec<Step>,
    /// The new timeline entries.
    pub timeline: Vec<TimelineEntry>,
    /// The new trace lines, as JSON.
    pub trace: Vec<String>,
    /// The actor, if the change creates or resumes the run.
    pub requested_by: Option<String>,
    /// The hashes of the transactions that confirm the run, each with its chain. No two runs have the same one.
    pub hashes: Vec<String>,
    /// The answer to the request that makes the change, for its repetition. Default: none, for a request without a key.
    pub answer: Option<KeyedAnswer>,
}

/// The key of a request, which its principal made. A repeated request has the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestKey {
    /// The principal. Keys of two principals are never the same.
    pub principal: String,
    /// The key.
    pub key: String,
}

impl RequestKey {
    /// The time for which a store keeps an answer, in milliseconds: 24 hours.
    pub const TERM_MS: u64 = 24 * 60 * 60 * 1_000;
}

/// The answer to a request, stored with its change.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedAnswer {
    /// The key of the request.
    pub key: RequestKey,
    /// The digest of the request's content.
    pub digest: String,
    /// The answer.
    pub answer: Value,
}

impl Change {
    /// The events of the change, for a run that had that status before. A store writes them in the same transaction.
    pub fn events(&self, before: Option<ServiceRunStatus>) -> Vec<EventRow> {
        let mut events = Vec::new();
        events.extend(self.steps.iter().cloned().map(|step| ServiceEvent::Step { step }));
        events.extend(self.timeline.iter().cloned().map(|entry| ServiceEvent::Timeline { entry }));
        events.extend(self.artifacts.iter().map(|(name, value)| ServiceEvent::Artifact {
            name: name.clone(),
            digest: value.as_ref().map(digest),
        }));
        if before != Some(self.status) {
            events.push(ServiceEvent::Status { status: self.status, final_status: self.final_status });
            if self.status.is_terminal() {
                events.push(ServiceEvent::End { status: self.status });
            }
        }
        events.into_iter().map(|event| EventRow { at_ms: self.at_ms, event }).collect()
    }

    /// Applies the change to the row of a run. The other rows are appended by the store.
    pub fn apply_to(&self, run: &mut StoredRun) {
        run.version += 1;
        run.lost = 0;
        // A clock that was set back does not move a run before its creation.
        run.updated_at_ms = self.at_ms.max(run.updated_at_ms);
        run.status = self.status;
        run.final_status = self.final_status;
        run.current_step = self.current_step;
        run.intent.clone_from(&self.intent);
        run.machine = self.machine.clone();
        run.pass.clone_from(&self.pass);
        for (name, value) in &self.artifacts {
            match value {
                Some(value) => drop(run.artifacts.insert(name.clone(), value.clone())),
                None => drop(run.artifacts.remove(name)),
            }
        }
        run.requested_by.extend(self.requested_by.clone());
        run.trace_lines += self.trace.len() as u64;
    }

    /// The row of a new run.
    pub fn first_row(&self, run: &str) -> StoredRun {
        let mut row = StoredRun {
            id: run.to_owned(),
            version: 0,
            created_at_ms: self.at_ms,
            updated_at_ms: self.at_ms,
            status: self.status,
            final_status: self.final_status,
            current_step: None,
            intent: String::new(),
            machine: self.machine.clone(),
            pass: None,
            artifacts: BTreeMap::new(),
            requested_by: Default::default(),
            trace_lines: 0,
            lost: 0,
        };
        self.apply_to(&mut row);
        row
    }
}
