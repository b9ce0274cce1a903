//! What a stream scenario's file says. The published JSON Schema is made from these types.

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

/// A session with scripted streams: what they give and when, how the session is set up, and what is done to it from outside.
///
/// Times are virtual: a scenario that waits for an hour takes none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "runstate stream scenario")]
pub(crate) struct Scenario {
    /// Its name.
    pub(crate) name: String,
    /// What it shows.
    #[serde(default)]
    pub(crate) about: Option<String>,
    /// The id that all events carry; `stream_1` without.
    #[serde(default)]
    pub(crate) stream_id: Option<String>,
    /// What all events carry along.
    #[serde(default)]
    pub(crate) meta: Value,
    /// The primary stream, and those to fall back to, in order.
    #[schemars(length(min = 1))]
    pub(crate) streams: Vec<Source>,
    /// How often and when it is tried again.
    #[serde(default)]
    pub(crate) retry: Retry,
    /// How long the session waits for its streams.
    #[serde(default)]
    pub(crate) timeouts: Limits,
    /// The rules that the output is held against, in order.
    #[serde(default)]
    pub(crate) guardrails: Vec<Rule>,
    /// Ask the rules only at each so many tokens, and at the end.
    #[serde(default)]
    pub(crate) guardrails_every: Option<u32>,
    /// Watch for drift.
    #[serde(default)]
    pub(crate) drift: Option<Drift>,
    /// Does a stream without any output fail? Yes without.
    #[serde(default = "yes")]
    pub(crate) zero_output_fails: bool,
    /// What follows on the reason for which a model stopped: `accept`, `fail` or `continue` for each reason that is named. Without, `length` and
    /// `content_filter` fail and all others are accepted. A stream that gives no reason ends for `unknown`.
    #[serde(default)]
    pub(crate) finishes: BTreeMap<String, Finish>,
    /// The output has to be JSON, after repairs, that a schema takes; all else fails its attempt. Any text will do without.
    #[serde(default)]
    pub(crate) accept: Option<Accept>,
    /// Save checkpoints and go on from them.
    #[serde(default)]
    pub(crate) continuation: Option<Continue>,
    /// Does a stream that ends without `complete` count as cut? No without.
    #[serde(default)]
    pub(crate) require_complete: bool,
    /// How the session is aborted from outside.
    #[serde(default)]
    pub(crate) abort: Option<Abort>,
    /// The consumer of the session's events.
    #[serde(default)]
    pub(crate) consumer: Consumer,
    /// Callbacks that panic each time, by name: `on_event`. The session goes on.
    #[serde(default)]
    pub(crate) panicking_callbacks: Vec<CallbackName>,
    /// Hooks that panic each time, whatever they would say. The session goes on as if there were none, except that a checkpoint
    /// which cannot be validated is refused.
    #[serde(default)]
    pub(crate) panicking_hooks: Vec<HookName>,
    /// What the session's clock shows, reading after reading and then from the front again, in milliseconds: for clocks that go wrong.
    /// The virtual time without.
    #[serde(default)]
    pub(crate) clock_ms: Vec<u64>,
}

/// What the output has to be.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Accept {
    /// A JSON Schema for it; any JSON will do without.
    pub(crate) schema: Option<Value>,
    /// Refuse an output that has other values beside it.
    pub(crate) only: bool,
}

/// The policy for a reason for which a model stopped.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finish {
    /// The answer is whole.
    Accept,
    /// The attempt failed.
    Fail,
    /// The attempt failed, and the next one goes on from all of its text; where a filter stopped it, from the checkpoint before.
    Continue,
}

/// A hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookName {
    /// May it be tried again?
    ShouldRetry,
    /// How long is waited before?
    CalculateDelay,
    /// May the checkpoint be gone on from?
    Validate,
    /// What is the prompt of the stream that goes on?
    Prompt,
}

fn yes() -> bool {
    true
}

/// How long the session waits for its streams, in milliseconds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// From opening to the first output; 60,000 without.
    pub(crate) initial_ms: Option<Limit>,
    /// From one output to the next; 30,000 without.
    pub(crate) inter_ms: Option<Limit>,
}

/// A limit in milliseconds, or `none`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Limit {
    /// So many milliseconds.
    Ms(u64),
    /// There is none.
    Word(NoLimit),
}

/// There is no limit.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoLimit {
    /// The word for it.
    None,
}

/// Checkpoints, and how they are gone on from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continue {
    /// A checkpoint at each so many tokens.
    pub(crate) every: u32,
    /// Is what the continuing stream says again taken away? Yes without.
    #[serde(default = "yes")]
    pub(crate) remove_overlap: bool,
    /// From how many characters on it counts; 2 without.
    #[serde(default)]
    pub(crate) overlap_from: Option<usize>,
    /// The hook's prompt, in which `{checkpoint}` stands for the text. No hook without.
    #[serde(default)]
    pub(crate) prompt: Option<String>,
    /// The validation hook refuses checkpoints with this text; the empty text refuses all. No hook without.
    #[serde(default)]
    pub(crate) refuse_with: Option<String>,
}

/// How the session is aborted from outside: when one of the two is reached.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Abort {
    /// At this time, in virtual milliseconds; 0 is before it begins.
    #[serde(default)]
    #[schemars(range(max = 31_536_000_000_u64))]
    pub(crate) at_ms: Option<u64>,
    /// At this event.
    #[serde(default)]
    pub(crate) on: Option<AtEvent>,
    /// By what; its handle without.
    #[serde(default)]
    pub(crate) by: By,
}

/// An event of the session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtEvent {
    /// Its type: `RETRY_ATTEMPT`, `TOKEN`.
    pub(crate) event: String,
    /// The how manieth of them, from 1; the first without.
    #[serde(default = "first")]
    pub(crate) nth: u32,
    /// Is it a callback that aborts, before the event's consumer sees it? No without: it is the consumer.
    #[serde(default)]
    pub(crate) in_callback: bool,
}

fn first() -> u32 {
    1
}

/// By what a session is aborted.
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
    /// How long it takes over each event, in milliseconds.
    pub(crate) delay_ms: u64,
}

/// A callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the callbacks are named so")]
pub(crate) enum CallbackName {
    /// An attempt begins.
    OnStart,
    /// The output is whole.
    OnComplete,
    /// An attempt failed.
    OnError,
    /// Anything happened.
    OnEvent,
    /// A rule found something.
    OnViolation,
    /// The same stream will be tried again.
    OnRetry,
    /// The next stream is tried.
    OnFallback,
    /// The attempt goes on from a checkpoint.
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
