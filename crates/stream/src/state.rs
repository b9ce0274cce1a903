//! The state of a session at its end.

use runstate::stream_session::{Attempt, Output, Retries};
use runstate::turn::{Extra, FinishReason};
use runstate_guardrails::{OutputFacts, Severity, Violation};
use serde::{Deserialize, Serialize};

use super::event::EventKind;
use super::{ErrorKind, Failure, ToolCall};

/// The whole state of a session at its end. COMPLETE and `onComplete` carry it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct State {
    /// The text. It equals the text of a consumer that applies all markers.
    pub content: String,
    /// Tokens of the content.
    pub token_count: u64,
    /// The last stream: 0 is the primary one.
    pub stream: u32,
    /// The last attempt on it, from 1.
    pub attempt: u32,
    /// Attempts on all streams.
    pub attempts: u32,
    /// Retries for the model's own faults, on the last stream.
    pub model_retries: u32,
    /// Retries of every kind, on all streams.
    pub total_retries: u32,
    /// The last checkpoint; none if it belongs to an output that failed a rule or that a filter of the provider
    /// stopped.
    pub checkpoint: Option<CheckpointMark>,
    /// The checkpoint that the last attempt continued from.
    pub resumed_from: Option<CheckpointMark>,
    /// The tool calls of the last attempt. A continuation does not take over calls of the attempt before.
    pub tool_calls: Vec<ToolCall>,
    /// The provider's own data of the answer. It is empty if the answer continued from a checkpoint, because
    /// the data describes a whole answer.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
    /// Parts of the kept output that are neither text nor tool calls.
    pub data_parts: u64,
    /// The reason for which the model stopped, if its stream gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// The violations that rules found, in all attempts.
    pub violations: Vec<Violation>,
    /// The failures of attempts, in order.
    pub failures: Vec<Failure>,
    /// Start of the session, in milliseconds of its clock.
    pub started_at_ms: u64,
    /// Arrival of the first token, in milliseconds of the session's clock.
    pub first_token_at_ms: Option<u64>,
    /// Arrival of the last token, in milliseconds of the session's clock.
    pub last_token_at_ms: Option<u64>,
    /// Duration of the session, in milliseconds.
    pub duration_ms: u64,
}

/// A position in the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckpointMark {
    /// Tokens up to the position.
    pub token_count: u64,
    /// Bytes of content up to the position.
    pub content_length: usize,
}

/// The part of a [`State`] that the events alone determine. The typed session owns the rest.
///
/// A live session and a replay apply one function to their events, and reach equal values.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    attempts: u32,
    resumed_from: Option<CheckpointMark>,
    tool_calls: Vec<ToolCall>,
    extra: Extra,
    data_parts: u64,
    pub(super) finish: Option<FinishReason>,
    /// Number of data parts at the checkpoint. No tool call comes before a checkpoint.
    parts_at_checkpoint: u64,
    violations: Vec<Violation>,
    /// Whether the output of this attempt failed a rule, or a filter of the provider stopped it. An abort may
    /// prevent the report of this as the attempt's failure.
    pub(super) is_spoilt: bool,
    failures: Vec<Failure>,
    started_at_ms: u64,
    first_token_at_ms: Option<u64>,
    last_token_at_ms: Option<u64>,
    /// Time of the last event, in milliseconds of the session's clock.
    pub(super) at_ms: u64,
}

impl Ledger {
    #[inline]
    pub(super) fn apply(&mut self, at_ms: u64, kind: &EventKind) {
        self.at_ms = at_ms;
        match kind {
            EventKind::Token { .. } => {
                self.first_token_at_ms.get_or_insert(at_ms);
                self.last_token_at_ms = Some(at_ms);
            }
            other => self.apply_rarer(other),
        }
    }

    fn apply_rarer(&mut self, kind: &EventKind) {
        match kind {
            EventKind::SessionStart { .. } => {
                self.started_at_ms = self.at_ms;
                self.attempts = 1;
            }
            EventKind::AttemptStart { .. } | EventKind::FallbackStart { .. } => {
                self.attempts = self.attempts.saturating_add(1);
                self.resumed_from = None;
                self.is_spoilt = false;
            }
            EventKind::ResumeStart { checkpoint, token_count } => {
                self.resumed_from =
                    Some(CheckpointMark { token_count: *token_count, content_length: checkpoint.len() });
            }
            EventKind::ContentReset { token_count, .. } => {
                if *token_count == 0 {
                    self.parts_at_checkpoint = 0;
                }
                self.tool_calls.clear();
                self.data_parts = self.parts_at_checkpoint;
                self.extra = Extra::default();
                self.finish = None;
            }
            EventKind::CheckpointSaved { .. } => {
                self.parts_at_checkpoint = self.data_parts;
            }
            EventKind::Extra { extra } if self.resumed_from.is_none() => self.extra.add(extra.clone()),
            EventKind::Finished { reason } => {
                self.is_spoilt |= *reason == FinishReason::ContentFilter;
                // A later reason does not make an answer whole that was cut.
                let is_cut = |reason: &FinishReason| {
                    matches!(reason, FinishReason::Length | FinishReason::ContentFilter)
                };
                if is_cut(reason) || !self.finish.as_ref().is_some_and(is_cut) {
                    self.finish = Some(reason.clone());
                }
            }
            EventKind::ToolRequested(call) => self.tool_calls.push((**call).clone()),
            EventKind::Message(_) | EventKind::Data { .. } => self.data_parts += 1,
            EventKind::GuardrailRuleResult(result) => {
                self.violations.extend(result.fresh().iter().cloned());
                self.is_spoilt |=
                    result.fresh().iter().any(|violation| violation.severity >= Severity::Error);
            }
            EventKind::DriftDetected { .. } => self.is_spoilt = true,
            EventKind::Error(error) => self.failures.push(error.error.clone()),
            EventKind::Complete { .. }
            | EventKind::RetryAttempt { .. }
            | EventKind::AbortCompleted { .. }
            | EventKind::TimeoutTriggered { .. }
            | EventKind::GuardrailPhaseStart { .. }
            | EventKind::GuardrailPhaseEnd { .. }
            | EventKind::TimeoutStart { .. }
            | EventKind::TimeoutReset { .. }
            | EventKind::RetryGiveUp { .. }
            | EventKind::FallbackEnd { .. }
            | EventKind::CheckpointRejected { .. }
            | EventKind::ContinuationStart { .. }
            | EventKind::Token { .. }
            | EventKind::Reasoning { .. }
            | EventKind::Extra { .. }
            | EventKind::Progress { .. } => {}
        }
    }

    /// Returns whether the attempt has tool calls. The text after them is no checkpoint.
    pub(super) fn has_calls(&self) -> bool {
        !self.tool_calls.is_empty()
    }

    /// Returns the facts of the output apart from its text.
    pub(super) fn facts(&self) -> OutputFacts {
        let tool_calls = u64::try_from(self.tool_calls.len()).unwrap_or(u64::MAX);
        OutputFacts::TEXT.with_tool_calls(tool_calls).with_data_parts(self.data_parts)
    }

    /// Returns the kind of the last failure.
    pub(super) fn last_kind(&self) -> ErrorKind {
        self.failures.last().map_or(ErrorKind::Internal, |failure| failure.kind)
    }

    /// Builds the whole state, with the data that the typed session owns.
    pub(super) fn state(&self, attempt: Attempt, output: &Output, retries: Retries) -> State {
        State {
            content: output.content().to_owned(),
            token_count: output.tokens(),
            stream: attempt.stream(),
            attempt: attempt.number(),
            attempts: self.attempts,
            model_retries: retries.model,
            total_retries: retries.total,
            checkpoint: output.checkpoint().filter(|_| !self.is_spoilt).map(|checkpoint| CheckpointMark {
                token_count: checkpoint.tokens,
                content_length: checkpoint.content.len(),
            }),
            resumed_from: self.resumed_from,
            tool_calls: self.tool_calls.clone(),
            extra: self.extra.clone(),
            data_parts: self.data_parts,
            finish: self.finish.clone(),
            violations: self.violations.clone(),
            failures: self.failures.clone(),
            started_at_ms: self.started_at_ms,
            first_token_at_ms: self.first_token_at_ms,
            last_token_at_ms: self.last_token_at_ms,
            duration_ms: self.at_ms.saturating_sub(self.started_at_ms),
        }
    }
}
