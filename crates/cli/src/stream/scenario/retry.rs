//! Retries.

use runstate::stream::ErrorKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::source::KindName;

/// How often and when it is tried again. What is not given is the library's default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Retry {
    /// Retries of one stream for the model's own faults; 3 without.
    pub(crate) model_retries: Option<u32>,
    /// Retries of every kind over all streams; 6 without.
    pub(crate) total_retries: Option<u32>,
    /// How long a retry waits.
    pub(crate) backoff: Option<Backoff>,
    /// A provider that wants to be left alone for longer is not tried again; 300,000 without.
    pub(crate) longest_retry_after_ms: Option<u64>,
    /// What kinds of failure lead to, where that is not the default.
    pub(crate) on: Vec<Leads>,
    /// What jitter comes from.
    pub(crate) seed: Option<u64>,
    /// `should_retry` says no after these attempts, counted from 0.
    pub(crate) veto_attempts: Vec<u32>,
    /// `should_retry` says no to failures of these kinds.
    #[schemars(with = "Vec<KindName>")]
    pub(crate) veto_kinds: Vec<ErrorKind>,
    /// `should_retry` says no while the session holds this text.
    pub(crate) veto_with: Option<String>,
    /// `calculate_delay` gives these milliseconds, by the attempt from 0; the last for all further ones.
    pub(crate) delays_ms: Vec<u64>,
}

/// What one kind of failure leads to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leads {
    /// The kind.
    #[schemars(with = "KindName")]
    pub(crate) kind: ErrorKind,
    /// What it leads to.
    pub(crate) to: Way,
}

/// How much is still tried.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// The same stream while there is a budget, then the next.
    Retry,
    /// The next stream.
    Fallback,
    /// Nothing.
    Halt,
}

/// How the wait before a retry grows and is spread.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backoff {
    /// How it grows; `exponential` without.
    #[serde(default)]
    pub(crate) curve: Curve,
    /// The first wait, in milliseconds.
    pub(crate) base_ms: u64,
    /// No wait is longer; 10,000 without.
    #[serde(default)]
    pub(crate) cap_ms: Option<u64>,
    /// How it is spread; `none` without.
    #[serde(default)]
    pub(crate) jitter: Jitter,
}

/// How a wait grows.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Curve {
    /// It does not.
    Fixed,
    /// By the base each time.
    Linear,
    /// It doubles.
    #[default]
    Exponential,
}

/// How a wait is spread.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Jitter {
    /// Not at all.
    #[default]
    None,
    /// Over its upper half.
    Fixed,
    /// Over all of it.
    Full,
    /// From the base to three times the wait before.
    Decorrelated,
}
