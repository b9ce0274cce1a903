//! Kinds of events.

use runstate::checkpoint::Trigger;
use runstate::decision::{DecisionAction, Suspension};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::CancelCause;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::answer::{FinishReason, Usage};
use super::super::keys::{ChangedKey, Conflict, Scope};

/// The kind of an event. A `call` has its name in traces: `call_1`, and `call_1#2` when the model uses the id again.
/// So no two calls of a run share a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// An activation began.
    RunStarted {
        /// The steps of earlier activations.
        steps: u32,
    },
    /// An activation ended. This is its last event. For the status `Waiting`, `waiting` lists the open questions.
    RunFinished {
        /// The reason.
        reason: TerminationReason,
        /// The new status of the run.
        status: RunStatus,
        /// The questions that must be decided before the run continues.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waiting: Vec<Interrupt>,
        /// The tokens used by the run, over all activations.
        usage: Usage,
        /// The tokens used by this activation. Tokens of an activation that a crash cut off are not in the next one.
        #[serde(default)]
        used: Usage,
    },
    /// A step began.
    StepStarted {
        /// The step, from 1.
        step: u32,
    },
    /// A step ended.
    StepFinished {
        /// The step.
        step: u32,
    },
    /// The model was asked for an answer.
    InferenceStarted {
        /// The step.
        step: u32,
    },
    /// The model's answer is complete.
    InferenceFinished {
        /// The step.
        step: u32,
        /// The tokens used by the answer.
        usage: Usage,
        /// The reason why the model stopped.
        finish: FinishReason,
    },
    /// A piece of the model's text.
    TextDelta {
        /// The step.
        step: u32,
        /// The piece.
        text: String,
    },
    /// Consecutive pieces of an answer, in their [stored](crate::StateCommitter::keeps_events) form: text,
    /// beginnings of calls and pieces of arguments. [`ToolCallReady`](Self::ToolCallReady) has the complete
    /// arguments. Sinks get the single pieces instead.
    AnswerPieces {
        /// The step.
        step: u32,
        /// The number of the last piece. The event has the number of the first.
        last: u64,
        /// The joined text of all pieces.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// The model began a call.
    ToolCallStart {
        /// The step.
        step: u32,
        /// The call.
        call: String,
        /// The id that the model gave the call.
        id: String,
        /// The tool.
        tool: String,
    },
    /// A piece of a call's arguments. Not emitted with a redactor, because a redactor cannot judge pieces.
    ToolCallArguments {
        /// The call.
        call: String,
        /// A piece of a JSON text.
        delta: String,
    },
    /// The arguments of a call are complete.
    ToolCallReady {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// The arguments; the raw text if they cannot be read.
        arguments: Value,
        /// The reason why the arguments cannot be read. Such a call fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unreadable: Option<String>,
    },
    /// A call asks for a decision. The question can be decided once it is committed, which the next
    /// [`Checkpoint`](Self::Checkpoint) reports. [`DecisionHandle::pending`](crate::DecisionHandle::pending)
    /// does not show a question that a crash could undo.
    ToolCallSuspended {
        /// The question.
        interrupt: Interrupt,
    },
    /// A decision on a call was accepted.
    ToolCallResumed {
        /// The call.
        call: String,
        /// The id of the suspension.
        suspension_id: String,
        /// The id of the decision.
        decision_id: String,
        /// The action of the decision.
        action: DecisionAction,
        /// The actor that decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actor: Option<String>,
    },
    /// A tool reported progress.
    ToolCallProgress {
        /// The call.
        call: String,
        /// The progress, in a form that the tool chooses.
        progress: Value,
    },
    /// Consecutive progress reports, in their stored form. Sinks get the single reports instead.
    ToolCallsProgress {
        /// The number of the last report. The event has the number of the first.
        last: u64,
        /// The newest report of each call.
        progress: Vec<CallProgress>,
    },
    /// A call has ended.
    ToolCallDone {
        /// The call.
        call: String,
        /// The outcome.
        #[serde(flatten)]
        outcome: CallOutcome,
    },
    /// Values of plugins' and tools' keys changed.
    StateSnapshot {
        /// The changed keys, by scope and name.
        changed: Vec<StateKey>,
    },
    /// Two calls of a round set one key to different values. The writes since the last commit are not applied, and
    /// the run ends.
    StateConflict {
        /// The conflict.
        conflict: Conflict,
    },
    /// A commit made the state durable.
    Checkpoint {
        /// The trigger of the commit.
        trigger: Trigger,
        /// The number of the commit in its run.
        commit: u64,
        /// The duration of the activation's commit before this one, in milliseconds. The event is part of its own commit,
        /// whose duration is not known yet.
        #[serde(default, skip_serializing_if = "is_zero")]
        before_ms: u64,
    },
    /// The runtime failed; `RunFinished` follows.
    Error {
        /// The error message.
        message: String,
    },
}

/// An open question of a call. It has all data to ask an approver, and to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The digest of the question, for decisions.
    #[serde(alias = "args_digest")]
    pub digest: String,
    /// The suspension. Its `id` identifies the question.
    pub suspension: Suspension,
}

/// The progress of a call's tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    /// The call.
    pub call: String,
    /// The progress, in a form that the tool chooses.
    pub progress: Value,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status")]
pub enum CallOutcome {
    /// The call has an output.
    Succeeded {
        /// The output.
        output: Value,
        /// A warning about the output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    },
    /// The call failed.
    Failed {
        /// The error.
        error: String,
    },
    /// The call was cancelled.
    Cancelled {
        /// The reason, for the model.
        reason: String,
        /// The cause, for programs.
        #[serde(default)]
        cause: CancelCause,
    },
}

/// A key whose value changed. The event does not include the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateKey {
    /// The scope of the key.
    pub scope: Scope,
    /// The name of the key.
    pub key: String,
    /// Whether the key is stored in checkpoints.
    pub persistent: bool,
    /// Whether the key was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl From<&ChangedKey> for StateKey {
    fn from(changed: &ChangedKey) -> Self {
        StateKey {
            scope: changed.scope,
            key: changed.key.to_string(),
            persistent: changed.persistent,
            removed: changed.value.is_none(),
        }
    }
}

fn is_zero(ms: &u64) -> bool {
    *ms == 0
}
