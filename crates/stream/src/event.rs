//! Events of a session, in one order.

use std::sync::Arc;

use runstate::turn::{Extra, FinishReason};
use runstate_guardrails::Violation;
use runstate_guardrails::drift::DriftKind;
use serde::ser::{Serialize, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use serde_json::Value;

use super::{ErrorKind, Failure, Message, State, TimeoutType, ToolCall};

/// The data that all events of a session share.
#[derive(Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) stream_id: String,
    pub(super) meta: Value,
}

/// One event of a session: a token, or a step of the lifecycle.
///
/// Its JSON form is one object with the fields `streamId`, `seq`, `atMs`, `meta`, `type` and the fields of its
/// kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The number of the event in its session, from 1, without gaps.
    pub seq: u64,
    /// The time of the event, in milliseconds of the session's clock. It is never less than the time of the
    /// previous event.
    pub at_ms: u64,
    /// The kind of the event, with its fields.
    pub kind: EventKind,
    pub(super) identity: Arc<Identity>,
}

impl Event {
    /// Returns the id of the session's stream. All events of a session share it.
    pub fn stream_id(&self) -> &str {
        &self.identity.stream_id
    }

    /// Returns the user's data of the session; null if none was set.
    pub fn meta(&self) -> &Value {
        &self.identity.meta
    }

    /// Returns the type in its written form, such as `SESSION_START`.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns the text if the event is a token.
    pub fn token(&self) -> Option<&str> {
        match &self.kind {
            EventKind::Token { text } => Some(text),
            _ => None,
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(DeriveSerialize)]
        #[serde(rename_all = "camelCase")]
        struct Line<'a> {
            seq: u64,
            at_ms: u64,
            stream_id: &'a str,
            meta: &'a Value,
            #[serde(flatten)]
            kind: &'a EventKind,
        }
        let (stream_id, meta) = (self.stream_id(), self.meta());
        Line { seq: self.seq, at_ms: self.at_ms, stream_id, meta, kind: &self.kind }.serialize(serializer)
    }
}

/// Kind of an event, with its fields.
///
/// The first eleven kinds are those of "model streams" (`docs/sources.md`). The later kinds are finer; the last
/// seven come from the stream itself.
#[derive(Debug, Clone, PartialEq, DeriveSerialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The session started. It is the first event, and occurs once.
    SessionStart {
        /// Always 1.
        attempt: u32,
        /// Always false.
        is_retry: bool,
        /// Always false.
        is_fallback: bool,
    },
    /// A retry begins, after its backoff.
    AttemptStart {
        /// The attempt on its stream, from 1: the retry's number plus one.
        attempt: u32,
        /// Always true.
        is_retry: bool,
        /// Whether the stream is a fallback.
        is_fallback: bool,
    },
    /// The output is whole. Terminal.
    Complete {
        /// The state of the session.
        state: Arc<State>,
    },
    /// An attempt failed. It is terminal if its strategy is `halt`.
    Error(Box<ErrorEvent>),
    /// A retry on the same stream follows, after the delay.
    RetryAttempt {
        /// The retry's number, from 1. It equals the number of the failed attempt.
        attempt: u32,
        /// The kind of the failure.
        reason: ErrorKind,
        /// The backoff, in milliseconds.
        delay_ms: u64,
    },
    /// The next stream starts.
    FallbackStart {
        /// The stream that failed; 0 is the primary one.
        from_index: u32,
        /// The stream that is opened. `onFallback` receives this number minus one.
        to_index: u32,
        /// The kind of the failure.
        reason: ErrorKind,
    },
    /// The attempt continues from a checkpoint.
    ResumeStart {
        /// The text of the checkpoint.
        checkpoint: Arc<str>,
        /// Tokens of the checkpoint.
        token_count: u64,
    },
    /// A checkpoint was saved. It consists of all content so far, and a later attempt continues from it.
    ///
    /// Its text is the first `content_length` bytes of the consumer's text and of
    /// [`Session::content`](super::Session::content). A copy of the text in each event would take quadratic
    /// space.
    CheckpointSaved {
        /// Tokens of the checkpoint.
        token_count: u64,
        /// Bytes of the checkpoint.
        content_length: usize,
    },
    /// The session was aborted. Terminal.
    AbortCompleted {
        /// Tokens that the session held.
        token_count: u64,
        /// Bytes of content that the session held.
        content_length: usize,
    },
    /// No token arrived in time.
    TimeoutTriggered {
        /// The limit that was exceeded.
        timeout_type: TimeoutType,
        /// The time that the session waited, in milliseconds.
        elapsed_ms: u64,
    },
    /// The result of one rule.
    GuardrailRuleResult(Box<RuleResultEvent>),

    /// The results of rules follow. While streaming, it is emitted only if a rule found a violation.
    GuardrailPhaseStart {
        /// The phase of the check.
        phase: Phase,
        /// Number of the rules.
        rules: usize,
    },
    /// The results of rules are complete.
    GuardrailPhaseEnd {
        /// The phase of the check.
        phase: Phase,
        /// Whether no rule failed the attempt.
        passed: bool,
    },
    /// The output drifts in a way that fails the attempt. ERROR follows.
    DriftDetected {
        /// The kinds of drift.
        types: Vec<DriftKind>,
        /// The confidence, from 0 to 1.
        confidence: f64,
    },
    /// A time limit begins to count.
    TimeoutStart {
        /// The limit that begins.
        timeout_type: TimeoutType,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// Output arrived after a wait; the limit counts anew.
    TimeoutReset {
        /// The limit that counts anew.
        timeout_type: TimeoutType,
    },
    /// A failure whose kind allows retries is not retried any more. ERROR follows.
    RetryGiveUp {
        /// The kind of the failure.
        reason: ErrorKind,
        /// The reason against a retry.
        because: GaveUp,
        /// Retries of this stream for the model's own faults.
        model_retries: u32,
        /// Retries of every kind, on all streams.
        total_retries: u32,
    },
    /// A fallback stream ended. COMPLETE, ERROR or ABORT_COMPLETED follows.
    FallbackEnd {
        /// The stream; the first fallback is 1.
        index: u32,
        /// Whether it gave the whole output.
        succeeded: bool,
    },
    /// A checkpoint was dropped, because it failed its validation or belongs to an output that failed a rule.
    /// The next attempt starts from the beginning.
    CheckpointRejected {
        /// Tokens of the checkpoint.
        token_count: u64,
        /// Bytes of the checkpoint.
        content_length: usize,
        /// The reason of the refusal.
        reason: String,
    },
    /// The stream that continues from a checkpoint is about to open.
    ContinuationStart {
        /// The tokens of the checkpoint.
        token_count: u64,
        /// The prompt of the continuation, if a hook makes one.
        prompt: Option<Box<str>>,
    },
    /// The model requested a tool.
    ToolRequested(Box<ToolCall>),
    /// A new attempt has begun. The consumer's text after `content_length` bytes is void.
    ///
    /// [`ConsumerText`](super::ConsumerText) applies this event.
    ContentReset {
        /// Tokens that stay valid.
        token_count: u64,
        /// Bytes that stay valid.
        content_length: usize,
    },

    /// A piece of the text.
    Token {
        /// The piece.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// A piece of the provider's own data of the answer.
    Extra {
        /// The piece.
        extra: Extra,
    },
    /// The model stopped for a reason.
    Finished {
        /// The reason, as the stream gave it.
        reason: FinishReason,
    },
    /// A message beside the text.
    Message(Box<Message>),
    /// A part of the output that is not text.
    Data {
        /// The part.
        data: Box<Value>,
    },
    /// The progress of the model.
    Progress {
        /// The provider's data on the progress.
        progress: Box<Value>,
    },
}

impl EventKind {
    /// Returns the type in its written form, such as `SESSION_START`.
    pub const fn name(&self) -> &'static str {
        match self {
            EventKind::SessionStart { .. } => "SESSION_START",
            EventKind::AttemptStart { .. } => "ATTEMPT_START",
            EventKind::Complete { .. } => "COMPLETE",
            EventKind::Error(_) => "ERROR",
            EventKind::RetryAttempt { .. } => "RETRY_ATTEMPT",
            EventKind::FallbackStart { .. } => "FALLBACK_START",
            EventKind::ResumeStart { .. } => "RESUME_START",
            EventKind::CheckpointSaved { .. } => "CHECKPOINT_SAVED",
            EventKind::AbortCompleted { .. } => "ABORT_COMPLETED",
            EventKind::TimeoutTriggered { .. } => "TIMEOUT_TRIGGERED",
            EventKind::GuardrailRuleResult(_) => "GUARDRAIL_RULE_RESULT",
            EventKind::GuardrailPhaseStart { .. } => "GUARDRAIL_PHASE_START",
            EventKind::GuardrailPhaseEnd { .. } => "GUARDRAIL_PHASE_END",
            EventKind::DriftDetected { .. } => "DRIFT_DETECTED",
            EventKind::TimeoutStart { .. } => "TIMEOUT_START",
            EventKind::TimeoutReset { .. } => "TIMEOUT_RESET",
            EventKind::RetryGiveUp { .. } => "RETRY_GIVE_UP",
            EventKind::FallbackEnd { .. } => "FALLBACK_END",
            EventKind::CheckpointRejected { .. } => "CHECKPOINT_REJECTED",
            EventKind::ContinuationStart { .. } => "CONTINUATION_START",
            EventKind::ToolRequested(_) => "TOOL_REQUESTED",
            EventKind::ContentReset { .. } => "CONTENT_RESET",
            EventKind::Token { .. } => "TOKEN",
            EventKind::Reasoning { .. } => "REASONING",
            EventKind::Extra { .. } => "EXTRA",
            EventKind::Finished { .. } => "FINISHED",
            EventKind::Message(_) => "MESSAGE",
            EventKind::Data { .. } => "DATA",
            EventKind::Progress { .. } => "PROGRESS",
        }
    }

    /// Returns whether the event is the session's last.
    pub fn is_terminal(&self) -> bool {
        match self {
            EventKind::Complete { .. } | EventKind::AbortCompleted { .. } => true,
            EventKind::Error(error) => error.recovery_strategy == Strategy::Halt,
            _ => false,
        }
    }
}

/// The fields of an ERROR.
#[derive(Debug, Clone, PartialEq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ErrorEvent {
    /// The failure.
    pub error: Failure,
    /// The next step, which is decided already.
    pub recovery_strategy: Strategy,
}

/// The step after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// A retry on the same stream.
    Retry,
    /// The next stream.
    Fallback,
    /// The end of the session.
    Halt,
}

/// Reason against a retry of a failure whose kind allows retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GaveUp {
    /// The stream's budget for the model's own faults is spent.
    ModelBudget,
    /// The session's budget for retries of every kind is spent.
    TotalBudget,
    /// `should_retry` refused.
    Veto,
    /// The provider's `Retry-After` is longer than the policy allows.
    RetryAfter,
    /// A violated rule states that another attempt cannot succeed.
    Unrecoverable,
}

/// Time at which rules are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// After a token.
    Streaming,
    /// At the end of an attempt.
    Complete,
}

/// The fields of a GUARDRAIL_RULE_RESULT.
#[derive(Debug, Clone, PartialEq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RuleResultEvent {
    /// The rule.
    pub rule: String,
    /// The phase of the check.
    pub phase: Phase,
    /// Whether the violations leave the attempt valid.
    pub passed: bool,
    /// The violations that the rule found. At the end of an attempt, violations from streaming come first.
    pub violations: Vec<Violation>,
    /// Number of the violations that earlier events reported.
    pub told_before: usize,
}

impl RuleResultEvent {
    /// Returns the violations that no earlier event reported. `onViolation` is called for each.
    pub fn fresh(&self) -> &[Violation] {
        self.violations.get(self.told_before..).unwrap_or_default()
    }
}
