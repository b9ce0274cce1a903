//! What happens.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::answer::{FinishReason, Usage};
use super::super::keys::{ChangedKey, Conflict, Scope};
use crate::checkpoint::Trigger;
use crate::decision::{DecisionAction, Suspension};
use crate::run::RunStatus;
use crate::termination::TerminationReason;
use crate::tool_call::CancelCause;

/// What happened. A `call` is named as in traces: `call_1`, and `call_1#2` when the model uses the id again, so that no
/// two calls of a run share a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// An activation began.
    RunStarted {
        /// Steps that earlier activations took.
        steps: u32,
    },
    /// An activation ended: the last event of it. Where the status is `Waiting`, `waiting` says for what.
    RunFinished {
        /// Why.
        reason: TerminationReason,
        /// What the run is now.
        status: RunStatus,
        /// What must be decided before the run goes on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waiting: Vec<Interrupt>,
        /// Tokens that the run used, over all activations.
        usage: Usage,
        /// Tokens that this activation used. One that a crash cut off is not in the next.
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
    /// The model was asked.
    InferenceStarted {
        /// The step.
        step: u32,
    },
    /// The model has answered.
    InferenceFinished {
        /// The step.
        step: u32,
        /// Tokens that the answer took.
        usage: Usage,
        /// Why the model stopped.
        finish: FinishReason,
    },
    /// More of what the model says.
    TextDelta {
        /// The step.
        step: u32,
        /// The piece.
        text: String,
    },
    /// Consecutive pieces of an answer, as they are [kept](crate::agent::StateCommitter::keeps_events): text, beginnings of calls and
    /// pieces of arguments. The arguments are in [`ToolCallReady`](Self::ToolCallReady). Sinks get the pieces in its place.
    AnswerPieces {
        /// The step.
        step: u32,
        /// The number of the last piece. The event has the number of the first.
        last: u64,
        /// The text of all of them.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// The model began a call.
    ToolCallStart {
        /// The step.
        step: u32,
        /// The call.
        call: String,
        /// The id that the model gave it.
        id: String,
        /// The tool.
        tool: String,
    },
    /// More of the arguments of a call. Not told where there is a redactor, which could not look at pieces.
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
        /// The arguments; where they cannot be read, their raw text.
        arguments: Value,
        /// Why they cannot be read, where they cannot: the call fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unreadable: Option<String>,
    },
    /// A call asks for a decision. It can be decided once its question is committed, which the next [`Checkpoint`](Self::Checkpoint)
    /// tells: a question that a crash could undo is not shown by [`DecisionHandle::pending`](crate::agent::DecisionHandle::pending).
    ToolCallSuspended {
        /// What must be decided.
        interrupt: Interrupt,
    },
    /// A decision on a call was accepted.
    ToolCallResumed {
        /// The call.
        call: String,
        /// The suspension that it answers.
        suspension_id: String,
        /// The decision.
        decision_id: String,
        /// What it says.
        action: DecisionAction,
        /// Who decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actor: Option<String>,
    },
    /// A tool tells how far it is.
    ToolCallProgress {
        /// The call.
        call: String,
        /// In the words of the tool.
        progress: Value,
    },
    /// Consecutive words of tools on how far they are, as they are kept. Sinks get each of them.
    ToolCallsProgress {
        /// The number of the last one. The event has the number of the first.
        last: u64,
        /// The newest of each call.
        progress: Vec<CallProgress>,
    },
    /// A call has ended.
    ToolCallDone {
        /// The call.
        call: String,
        /// What came of it.
        #[serde(flatten)]
        outcome: CallOutcome,
    },
    /// Keys of plugins and tools have other values than before.
    StateSnapshot {
        /// Which, by scope and name.
        changed: Vec<StateKey>,
    },
    /// Two calls of a round set one key differently; what was written since the last commit is not applied, and the run ends.
    StateConflict {
        /// Which.
        conflict: Conflict,
    },
    /// State was made durable.
    Checkpoint {
        /// What made it due.
        trigger: Trigger,
        /// The number of the commit in its run.
        commit: u64,
    },
    /// The runtime failed; `RunFinished` follows.
    Error {
        /// How.
        message: String,
    },
}

/// What must be decided before a call goes on: enough to ask a person, and to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The digest of the question that a decision is for.
    #[serde(alias = "args_digest")]
    pub digest: String,
    /// What is asked. Its `id` is the interrupt's.
    pub suspension: Suspension,
}

/// How far the tool of a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    /// The call.
    pub call: String,
    /// In the words of the tool.
    pub progress: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status")]
pub enum CallOutcome {
    /// It has an output.
    Succeeded {
        /// The output.
        output: Value,
        /// What there is to know about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    },
    /// It has an error.
    Failed {
        /// The error.
        error: String,
    },
    /// It was given up.
    Cancelled {
        /// Why, for the model to read.
        reason: String,
        /// Why, for programs.
        #[serde(default)]
        cause: CancelCause,
    },
}

/// A key whose value changed. The value itself is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateKey {
    /// Its scope.
    pub scope: Scope,
    /// Its name.
    pub key: String,
    /// Is it kept in checkpoints?
    pub persistent: bool,
    /// Was it removed?
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
