//! What is true in the states of an activation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::checkpoint::{Due, stored};
use super::super::run::some_calls;
use super::super::termination::{FinalReason, TerminationReason};
use super::super::tool_call::ToolCallStatus;
use super::super::turn::Turn;

macro_rules! states {
    ($($(#[doc = $doc:literal])* $State:ident { $($(#[$attr:meta])* $field:ident: $Type:ty),+ })+) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $State {
            $($(#[$attr])* pub(super) $field: $Type),+
        }
    )+ };
}

states! {
    /// The start must be committed.
    CommitUser { #[serde(with = "stored")] due: Due }
    /// The resume gate at the start, by its number, and how often it was opened since it was brought to memory.
    ResumeReplay0 { gate: u64, #[serde(skip)] openings: u32 }
    /// What was replayed at the start must be committed.
    CommitReplay0 { #[serde(with = "stored")] due: Due }
    /// The resume gate before a step, likewise.
    ResumeToolCall { gate: u64, #[serde(skip)] openings: u32 }
    /// The model is asked for the answer of this step, counted from 1.
    LlmCall { step: u32 }
    /// The model answered this.
    AfterInference { turn: Arc<Turn> }
    /// The answer must be committed.
    CommitAssistant { turn: Arc<Turn>, #[serde(with = "stored")] due: Due }
    /// The calls of this answer are gated and executed.
    ToolRound { turn: Arc<Turn> }
    /// The results of the round must be committed.
    CommitTool { outcomes: Vec<CallOutcome>, #[serde(with = "stored")] due: Due }
    /// The resume gate after a round, likewise, and how the calls of the round stood before it.
    ResumeAfterTool { outcomes: Vec<CallOutcome>, gate: u64, #[serde(skip)] openings: u32 }
    /// Something asked for the end.
    Terminate { reason: FinalReason }
    /// The model asked for no tools; these calls of earlier answers, as they are named in traces, still wait.
    NaturalEnd {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<String>
    }
    /// These calls, as they are named in traces, wait for decisions.
    Suspended {
        #[serde(deserialize_with = "some_calls")]
        calls: Vec<String>
    }
    /// The runtime failed like this.
    Error { message: String }
    /// The activation winds up, for this reason; these calls wait.
    RunEnd { reason: TerminationReason, calls: Vec<String> }
    /// The end must be committed.
    CommitFinished { reason: TerminationReason, calls: Vec<String>, #[serde(with = "stored")] due: Due }
}

/// How a call of a round stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOutcome {
    /// The call, as it is named in traces.
    pub call: String,
    /// Its status.
    pub status: ToolCallStatus,
}
