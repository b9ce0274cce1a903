//! Retries.

use runstate_stream::ErrorKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::source::KindName;

/// The retry policy. Missing fields have the library's defaults.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Retry {
    /// Retries of one stream for the model's own faults. Default: 3.
    pub(crate) model_retries: Option<u32>,
    /// Retries of every kind over all streams. Default: 6.
    pub(crate) total_retries: Option<u32>,
    /// The delay of a retry.
    pub(crate) backoff: Option<Backoff>,
    /// The longest delay that a provider may request; a longer one ends the retries. Default: 300,000.
    pub(crate) longest_retry_after_ms: Option<u64>,
    /// The reactions to kinds of failure that differ from the default.
    pub(crate) on: Vec<Leads>,
    /// The seed of the jitter.
    pub(crate) seed: Option<u64>,
    /// `should_retry` refuses after these attempts, counted from 0.
    pub(crate) veto_attempts: Vec<u32>,
    /// `should_retry` refuses for failures of these kinds.
    #[schemars(with = "Vec<KindName>")]
    pub(crate) veto_kinds: Vec<ErrorKind>,
    /// `should_retry` refuses while the session holds this text.
    pub(crate) veto_with: Option<String>,
    /// `calculate_delay` returns these milliseconds, by the attempt from 0; the last one repeats.
    pub(crate) delays_ms: Vec<u64>,
}

/// The reaction to one kind of failure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leads {
    /// The kind.
    #[schemars(with = "KindName")]
    pub(crate) kind: ErrorKind,
    /// The reaction.
    pub(crate) to: Way,
}

/// The reaction to a failure.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// A retry of the stream while there is a budget, then the next stream.
    Retry,
    /// The next stream.
    Fallback,
    /// The end of the session.
    Halt,
}

/// The growth and the jitter of the delay before a retry.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backoff {
    /// The growth. Default: `exponential`.
    #[serde(default)]
    pub(crate) curve: Curve,
    /// The first delay, in milliseconds.
    pub(crate) base_ms: u64,
    /// The longest delay. Default: 10,000.
    #[serde(default)]
    pub(crate) cap_ms: Option<u64>,
    /// The jitter. Default: `none`.
    #[serde(default)]
    pub(crate) jitter: Jitter,
}

/// The growth of a delay.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Curve {
    /// Constant.
    Fixed,
    /// Grows by the base each time.
    Linear,
    /// It doubles.
    #[default]
    Exponential,
}

/// The jitter of a delay.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Jitter {
    /// None.
    #[default]
    None,
    /// Over the upper half of the delay.
    Fixed,
    /// Over the complete delay.
    Full,
    /// From the base to three times the previous delay.
    Decorrelated,
}
