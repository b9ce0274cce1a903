//! The format of a stream scenario's file. The published JSON Schema is derived from these types.

mod retry;
mod rules;
mod source;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(super) use retry::{Curve, Jitter, Retry, Way};
pub(super) use rules::{BuiltIn, Category, Drift, Expression, Forbidden, Phrases, Rule, Severity, When};
pub(super) use source::{Attempt, Failing, Source, Step};

/// A session with scripted streams: their outputs and times, the settings of the session, and external actions.
///
/// Times are virtual: a scenario that waits for an hour takes none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "runstate stream scenario")]
pub(crate) struct Scenario {
    /// Its name.
    pub(crate) name: String,
    /// Its purpose.
    #[serde(default)]
    pub(crate) about: Option<String>,
    /// The id of all events. Default: `stream_1`.
    #[serde(default)]
    pub(crate) stream_id: Option<String>,
    /// The user data of all events.
    #[serde(default)]
    pub(crate) meta: Value,
    /// The primary stream and its fallbacks, in order.
    #[schemars(length(min = 1))]
    pub(crate) streams: Vec<Source>,
    /// The retry policy.
    #[serde(default)]
    pub(crate) retry: Retry,
    /// The time limits of the streams.
    #[serde(default)]
    pub(crate) timeouts: Limits,
    /// The rules for the output, in order.
    #[serde(default)]
    pub(crate) guardrails: Vec<Rule>,
    /// Evaluate the rules only after each of that many tokens, before a checkpoint, and at the end.
    #[serde(default)]
    pub(crate) guardrails_every: Option<u32>,
    /// Watch for drift.
    #[serde(default)]
    pub(crate) drift: Option<Drift>,
    /// Does a stream without any output fail? Default: yes.
    #[serde(default = "yes")]
    pub(crate) zero_output_fails: bool,
    /// The policy for each finish reason of a model: `accept`, `fail` or `continue`. Default: `length` and `content_filter`
    /// fail, and all others are accepted. A stream without a reason ends for `unknown`, and
    /// its policy also holds for words that are not listed.
    #[serde(default)]
    pub(crate) finishes: BTreeMap<String, Finish>,
    /// The output must be JSON, after repairs, that satisfies a schema; any other output fails its attempt. Default: any
    /// text.
    #[serde(default)]
    pub(crate) accept: Option<Accept>,
    /// Save checkpoints and continue from them.
    #[serde(default)]
    pub(crate) continuation: Option<Continue>,
    /// Does a stream without `complete` count as cut? Default: no.
    #[serde(default)]
    pub(crate) require_complete: bool,
    /// The external abort of the session.
    #[serde(default)]
    pub(crate) abort: Option<Abort>,
    /// The consumer of the session's events.
    #[serde(default)]
    pub(crate) consumer: Consumer,
    /// Callbacks that panic each time, by name: `on_event`. The session continues.
    #[serde(default)]
    pub(crate) panicking_callbacks: Vec<CallbackName>,
    /// Hooks that panic each time, whatever their result. The session continues as without them, except that a checkpoint
    /// without a validation is refused.
    #[serde(default)]
    pub(crate) panicking_hooks: Vec<HookName>,
    /// The scripted times of the session's clock, in milliseconds, repeated cyclically: for faulty clocks. Default: the
    /// virtual time.
    #[serde(default)]
    pub(crate) clock_ms: Vec<u64>,
}

/// The required output.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Accept {
    /// A JSON Schema for it. Default: any JSON.
    pub(crate) schema: Option<Value>,
    /// Refuse an output with other values beside it.
    pub(crate) only: bool,
}

/// The policy for a finish reason of a model.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finish {
    /// The answer is complete.
    Accept,
    /// The attempt failed.
    Fail,
    /// The attempt failed, and the next one continues from all of its text; after a filter, from the checkpoint before.
    Continue,
}

/// A hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookName {
    /// Is a retry permitted?
    ShouldRetry,
    /// The delay before a retry.
    CalculateDelay,
    /// Is the checkpoint valid for a continuation?
    Validate,
    /// The prompt of the continuing stream.
    Prompt,
}

fn yes() -> bool {
    true
}

/// The time limits of the streams, in milliseconds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// From opening to the first output. Default: 60,000.
    pub(crate) initial_ms: Option<Limit>,
    /// From one output to the next. Default: 30,000.
    pub(crate) inter_ms: Option<Limit>,
}

/// A limit in milliseconds, or `none`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Limit {
    /// A number of milliseconds.
    Ms(u64),
    /// No limit.
    Word(NoLimit),
}

/// No limit.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoLimit {
    /// The word for it.
    None,
}

/// Checkpoints and continuations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continue {
    /// The number of tokens between two checkpoints.
    pub(crate) every: u32,
    /// Is text removed that the continuing stream repeats? Default: yes.
    #[serde(default = "yes")]
    pub(crate) remove_overlap: bool,
    /// The minimum length of such a repetition, in characters. Default: 2.
    #[serde(default)]
    pub(crate) overlap_from: Option<usize>,
    /// The hook's prompt, in which `{checkpoint}` stands for the text. Default: no hook.
    #[serde(default)]
    pub(crate) prompt: Option<String>,
    /// The validation hook refuses checkpoints with this text; the empty text refuses all. Default: no hook.
    #[serde(default)]
    pub(crate) refuse_with: Option<String>,
}

/// The external abort of the session: at the first of both conditions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Abort {
    /// At this time, in virtual milliseconds; 0 is before the session begins.
    #[serde(default)]
    #[schemars(range(max = 31_536_000_000_u64))]
    pub(crate) at_ms: Option<u64>,
    /// At this event.
    #[serde(default)]
    pub(crate) on: Option<AtEvent>,
    /// The means of the abort. Default: the session's handle.
    #[serde(default)]
    pub(crate) by: By,
}

/// An event of the session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtEvent {
    /// Its type: `RETRY_ATTEMPT`, `TOKEN`.
    pub(crate) event: String,
    /// The number of the event among those of its type, from 1. Default: 1.
    #[serde(default = "first")]
    pub(crate) nth: u32,
    /// Does a callback abort, before the consumer sees the event? Default: no, the consumer does.
    #[serde(default)]
    pub(crate) in_callback: bool,
}

fn first() -> u32 {
    1
}

/// The means of an abort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// Its handle.
    #[default]
    Handle,
    /// A cancellation token.
    Token,
    /// The session is dropped.
    Drop,
}

/// The consumer of the session's events.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Consumer {
    /// The delay for each event, in milliseconds.
    pub(crate) delay_ms: u64,
}

/// A callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the callbacks are named so")]
pub(crate) enum CallbackName {
    /// An attempt begins.
    OnStart,
    /// The output is complete.
    OnComplete,
    /// An attempt failed.
    OnError,
    /// Any event.
    OnEvent,
    /// A rule has a finding.
    OnViolation,
    /// A retry of the stream follows.
    OnRetry,
    /// The next stream is tried.
    OnFallback,
    /// The attempt continues from a checkpoint.
    OnResume,
    /// A checkpoint was saved.
    OnCheckpoint,
    /// No token in time.
    OnTimeout,
    /// The session was aborted.
    OnAbort,
    /// The output drifts.
    OnDrift,
    /// The model asks for a tool.
    OnToolCall,
}
