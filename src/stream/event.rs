//! What a session tells, in one order.

use std::sync::Arc;

use serde::ser::{Serialize, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use serde_json::Value;

use super::drift::DriftKind;
use super::guardrail::Violation;
use super::{ErrorKind, Failure, Message, State, TimeoutType, ToolCall};
use crate::turn::{Extra, FinishReason};

/// What is the same in all events of a session.
#[derive(Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) stream_id: String,
    pub(super) meta: Value,
}

/// One event of a session: a token, or something that happened in its lifecycle (document 002, "Observability Events").
///
/// As JSON it is one object, with the names of the document: `streamId`, `seq`, `atMs`, `meta`, `type` and the fields of its
/// kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Its place in the session, from 1, without gaps (C8).
    pub seq: u64,
    /// When it happened, in milliseconds of the session's clock; never less than in the event before.
    pub at_ms: u64,
    /// What happened.
    pub kind: EventKind,
    pub(super) identity: Arc<Identity>,
}

impl Event {
    /// The id of the session's stream, the same in all its events.
    pub fn stream_id(&self) -> &str {
        &self.identity.stream_id
    }

    /// What the user gave the session to carry along (C12); null without.
    pub fn meta(&self) -> &Value {
        &self.identity.meta
    }

    /// The type as the document writes it: `SESSION_START`.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The text of a token.
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

/// What happened, with the fields that the document names.
///
/// The first eleven are the document's. Those after them are finer; the last seven come from the stream itself.
#[derive(Debug, Clone, PartialEq, DeriveSerialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The session started: once, and first.
    SessionStart {
        /// 1.
        attempt: u32,
        /// False.
        is_retry: bool,
        /// False.
        is_fallback: bool,
    },
    /// A retry begins, after its back-off.
    AttemptStart {
        /// The attempt on its stream, from 1: one more than the retry's number (C2).
        attempt: u32,
        /// True.
        is_retry: bool,
        /// Is the stream a fallback?
        is_fallback: bool,
    },
    /// The output is whole. Terminal.
    Complete {
        /// All of the session.
        state: Arc<State>,
    },
    /// An attempt failed; terminal when its strategy is `halt` (C7).
    Error(Box<ErrorEvent>),
    /// The same stream will be tried again, after the delay.
    RetryAttempt {
        /// The retry's number, from 1: that of the attempt that failed (C2).
        attempt: u32,
        /// Why.
        reason: ErrorKind,
        /// The back-off.
        delay_ms: u64,
    },
    /// The next stream is tried.
    FallbackStart {
        /// The stream that was given up; 0 is the primary one.
        from_index: u32,
        /// The stream that is opened. `onFallback` is given one less (C2).
        to_index: u32,
        /// Why.
        reason: ErrorKind,
    },
    /// The attempt goes on from a checkpoint.
    ResumeStart {
        /// The text of the checkpoint.
        checkpoint: Arc<str>,
        /// The tokens it came in.
        token_count: u64,
    },
    /// All content so far is the checkpoint that a later attempt goes on from.
    ///
    /// The text is the first `content_length` bytes of what the consumer has, and of
    /// [`Session::content`](super::Session::content); a copy in each event would cost the square of the stream's length.
    CheckpointSaved {
        /// The tokens it came in.
        token_count: u64,
        /// Its bytes.
        content_length: usize,
    },
    /// The session was aborted. Terminal.
    AbortCompleted {
        /// Tokens that the session held.
        token_count: u64,
        /// Bytes of content that it held.
        content_length: usize,
    },
    /// No token in time.
    TimeoutTriggered {
        /// Which limit.
        timeout_type: TimeoutType,
        /// How long the session waited.
        elapsed_ms: u64,
    },
    /// What a rule says of the output (C16).
    GuardrailRuleResult(Box<RuleResultEvent>),

    /// Rules are about to be asked, or have just spoken while streaming.
    GuardrailPhaseStart {
        /// When.
        phase: Phase,
        /// How many rules there are.
        rules: usize,
    },
    /// Each of them has answered.
    GuardrailPhaseEnd {
        /// When.
        phase: Phase,
        /// Did none of them fail the attempt?
        passed: bool,
    },
    /// The output drifts in a way that fails the attempt. ERROR follows.
    DriftDetected {
        /// In which ways.
        types: Vec<DriftKind>,
        /// How sure it is, from 0 to 1.
        confidence: f64,
    },
    /// A limit begins to count.
    TimeoutStart {
        /// Which.
        timeout_type: TimeoutType,
        /// The limit.
        limit_ms: u64,
    },
    /// Output came for which the session had waited; the limit counts anew.
    TimeoutReset {
        /// Which.
        timeout_type: TimeoutType,
    },
    /// A failure of a kind that is retried is not retried any more. ERROR follows.
    RetryGiveUp {
        /// What failed.
        reason: ErrorKind,
        /// Why it is not retried.
        because: GaveUp,
        /// Retries of the model's faults on this stream.
        model_retries: u32,
        /// Retries of every kind.
        total_retries: u32,
    },
    /// A fallback stream is done with. COMPLETE, ERROR or ABORT_COMPLETED follows.
    FallbackEnd {
        /// The stream; the first fallback is 1.
        index: u32,
        /// Did it give the whole output?
        succeeded: bool,
    },
    /// A checkpoint failed its validation, or is the beginning of an output that failed a rule. It is dropped: the next attempt starts
    /// afresh (C13).
    CheckpointRejected {
        /// The tokens it came in.
        token_count: u64,
        /// Its bytes.
        content_length: usize,
        /// Why.
        reason: String,
    },
    /// The stream that continues a checkpoint is asked for.
    ContinuationStart {
        /// The tokens of the checkpoint.
        token_count: u64,
        /// The prompt made for it, if there is a hook that makes one.
        prompt: Option<Box<str>>,
    },
    /// The model asks for a tool.
    ToolRequested(Box<ToolCall>),
    /// A new attempt has begun: what a consumer holds beyond `content_length` bytes is void (C9).
    ///
    /// [`ConsumerText`](super::ConsumerText) does what it says.
    ContentReset {
        /// Tokens that still count.
        token_count: u64,
        /// Bytes that still count.
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
    /// Why the model stopped.
    Finished {
        /// In its own words.
        reason: FinishReason,
    },
    /// A message beside the text.
    Message(Box<Message>),
    /// A part that is no text.
    Data {
        /// The part.
        data: Box<Value>,
    },
    /// How far the model is.
    Progress {
        /// What it says.
        progress: Box<Value>,
    },
}

impl EventKind {
    /// The type as the document writes it: `SESSION_START`.
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

    /// Is it the session's last (C7)?
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
    /// What failed.
    pub error: Failure,
    /// What follows; it is decided by now (C14).
    pub recovery_strategy: Strategy,
}

/// What follows on a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The same stream is tried again.
    Retry,
    /// The next stream is tried.
    Fallback,
    /// The session is over.
    Halt,
}

/// Why a failure of a kind that is retried is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GaveUp {
    /// The stream's budget for the model's own faults is spent.
    ModelBudget,
    /// The session's budget for retries of every kind is spent.
    TotalBudget,
    /// `should_retry` said no.
    Veto,
    /// The provider wants to be left alone for longer than the policy allows.
    RetryAfter,
    /// The violated rule says that another attempt is of no use.
    Unrecoverable,
}

/// When rules are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// At a token.
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
    /// When it was asked.
    pub phase: Phase,
    /// Is there nothing that fails the attempt?
    pub passed: bool,
    /// What it found. At the end of an attempt what it said while streaming comes first.
    pub violations: Vec<Violation>,
    /// How many of them were told before.
    pub told_before: usize,
}

impl RuleResultEvent {
    /// What was not told before: `onViolation` is called for each.
    pub fn fresh(&self) -> &[Violation] {
        self.violations.get(self.told_before..).unwrap_or_default()
    }
}
