//! The rows that a run accumulates: steps, timeline entries, and events.

use std::fmt;

use runstate::service_pass::ServicePassStatus;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A step that is no node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum RunStep {
    /// The run was created.
    RunCreated,
    /// The run was started or resumed.
    RunStarted,
    /// A person approved or rejected the transactions.
    HumanApproval,
    /// The transactions were handed out for their signature.
    ExecutePrep,
    /// Transactions were sent.
    TxSubmitted,
    /// The receipts were read.
    TxPoll,
    /// All transactions were confirmed.
    TxConfirmed,
    /// A transaction was reverted.
    TxReverted,
}

/// The name of a step: a node of the graph, or a step around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StepName {
    /// A node.
    Node(ServicePassStatus),
    /// A step that is no node.
    Run(RunStep),
}

impl From<ServicePassStatus> for StepName {
    fn from(node: ServicePassStatus) -> Self {
        StepName::Node(node)
    }
}

impl From<RunStep> for StepName {
    fn from(step: RunStep) -> Self {
        StepName::Run(step)
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepName::Node(node) => node.fmt(f),
            StepName::Run(step) => step.serialize(f),
        }
    }
}

/// The phase of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepPhase {
    /// The step began. The `current_step` of the run follows these rows.
    Started,
    /// The step ended.
    Done,
    /// The step failed.
    Failed,
}

/// A step of a run, for audits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The time, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The number of the pass; zero before the first one.
    pub pass: u32,
    /// The number of the attempt; zero outside of a pass.
    pub attempt: u32,
    /// The name.
    pub step: StepName,
    /// The phase.
    pub phase: StepPhase,
    /// The actor, for a step that a person or another program takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The summary for a person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The details.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// The mark of a timeline entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimelineStatus {
    /// The node has no finding.
    Ok,
    /// A person should look at the result.
    Warn,
    /// The node asks the user.
    NeedsInput,
    /// The node blocks the run.
    Blocked,
    /// The node failed.
    Failed,
}

/// An entry of the timeline: one executed node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineEntry {
    /// The node.
    pub step: ServicePassStatus,
    /// The mark.
    pub status: TimelineStatus,
    /// The title for a person.
    pub title: String,
    /// The summary for a person.
    pub summary: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The number of the pass.
    pub pass: u32,
    /// The time, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// An event of a run. A store derives the events of a change from the change itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ServiceEvent {
    /// The run has another status.
    Status {
        /// The status.
        status: ServiceRunStatus,
        /// The final status of the last pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        final_status: Option<FinalStatus>,
    },
    /// A step began or ended.
    Step {
        /// The step.
        step: Step,
    },
    /// A node was executed.
    Timeline {
        /// The entry.
        entry: TimelineEntry,
    },
    /// An artifact changed.
    Artifact {
        /// The name.
        name: String,
        /// The digest of the new value; none for a removed artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    },
    /// The run is over. It is the last event.
    End {
        /// The status.
        status: ServiceRunStatus,
    },
}

/// A row with its number in its run, from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbered<T> {
    /// The number.
    pub seq: u64,
    /// The row.
    #[serde(flatten)]
    pub row: T,
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// The time, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The event.
    #[serde(flatten)]
    pub event: ServiceEvent,
}
