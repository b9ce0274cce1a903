//! The states of an activation, with their data.

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
    /// The resume gate at the start: its number, and the number of its openings since it came to memory.
    ResumeReplay0 { gate: u64, #[serde(skip)] openings: u32 }
    /// The replay at the start must be committed.
    CommitReplay0 { #[serde(with = "stored")] due: Due }
    /// The resume gate before a step: its number, and the number of its openings since it came to memory.
    ResumeToolCall { gate: u64, #[serde(skip)] openings: u32 }
    /// The model is called for the answer of this step, counted from 1.
    LlmCall { step: u32 }
    /// The model gave this answer.
    AfterInference { turn: Arc<Turn> }
    /// The answer must be committed.
    CommitAssistant { turn: Arc<Turn>, #[serde(with = "stored")] due: Due }
    /// The calls of this answer pass their gates and execute.
    ToolRound { turn: Arc<Turn> }
    /// The results of the round must be committed.
    CommitTool { outcomes: Vec<CallOutcome>, #[serde(with = "stored")] due: Due }
    /// The resume gate after a round, with its number and openings as above, and the outcomes of the round before it.
    ResumeAfterTool { outcomes: Vec<CallOutcome>, gate: u64, #[serde(skip)] openings: u32 }
    /// A termination was requested.
    Terminate { reason: FinalReason }
    /// The answer has no tool calls. The listed calls of earlier answers, given by their trace names, are still
    /// suspended.
    NaturalEnd {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<String>
    }
    /// These calls, given by their trace names, are suspended and wait for decisions.
    Suspended {
        #[serde(deserialize_with = "some_calls")]
        calls: Vec<String>
    }
    /// The runtime failed with this message.
    Error { message: String }
    /// The activation is ending for this reason; these calls are suspended.
    RunEnd { reason: TerminationReason, calls: Vec<String> }
    /// The end must be committed.
    CommitFinished { reason: TerminationReason, calls: Vec<String>, #[serde(with = "stored")] due: Due }
}

/// The outcome of a call in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOutcome {
    /// The trace name of the call.
    pub call: String,
    /// The status of the call.
    pub status: ToolCallStatus,
}
