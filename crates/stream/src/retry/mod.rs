//! Policy of retries and of their delays.

mod backoff;
mod decide;

use std::time::Duration;

pub(super) use backoff::Delays;
pub use backoff::{Backoff, Curve, Jitter};
pub(super) use decide::{Question, decide};

use super::{ErrorKind, Failure};

/// Policy of a session's retries: their number, the failures that allow them, and their delays.
///
/// ```
/// use runstate_stream::{Backoff, ErrorKind, Recourse, RetryPolicy};
/// use std::time::Duration;
///
/// let policy = RetryPolicy {
///     model_retries: 1,
///     backoff: Backoff::exponential(Duration::from_millis(100)).capped(Duration::from_secs(5)),
///     ..RetryPolicy::default()
/// };
/// // Wrong credentials at one provider need not end the session at the next one.
/// let policy = policy.on(ErrorKind::Fatal, Recourse::FallBack);
/// assert_eq!(policy.table.get(ErrorKind::Fatal), Recourse::FallBack);
/// ```
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    /// Retries of one stream for the model's own faults. Each fallback has a budget of that size of its own.
    /// Default: 3.
    pub model_retries: u32,
    /// Retries of every kind over all streams of the session. Default: 6.
    pub total_retries: u32,
    /// The delay before a retry.
    pub backoff: Backoff,
    /// The consequence of each kind of failure.
    pub table: RetryTable,
    /// The longest `Retry-After` that the session accepts. A longer one ends the retries on that stream.
    /// Default: 5 minutes.
    pub longest_retry_after: Duration,
}

impl RetryPolicy {
    /// Creates a policy without retries.
    pub fn none() -> Self {
        RetryPolicy { model_retries: 0, total_retries: 0, ..RetryPolicy::default() }
    }

    /// Sets the consequence of a failure of `kind`.
    pub fn on(mut self, kind: ErrorKind, recourse: Recourse) -> Self {
        self.table.set(kind, recourse);
        self
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            model_retries: 3,
            total_retries: 6,
            backoff: Backoff::default(),
            table: RetryTable::default(),
            longest_retry_after: Duration::from_secs(300),
        }
    }
}

/// Consequence of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recourse {
    /// A retry on this stream while a budget lasts, then the next fallback.
    Retry,
    /// The next fallback.
    FallBack,
    /// The end of the session.
    Halt,
}

/// Table of the consequence of each kind of failure. [`ErrorKind`] has the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryTable(Vec<(ErrorKind, Recourse)>);

impl RetryTable {
    /// Returns the consequence of a failure of `kind`.
    pub fn get(&self, kind: ErrorKind) -> Recourse {
        let set = self.0.iter().rfind(|(of, _)| *of == kind);
        set.map(|(_, recourse)| *recourse).unwrap_or(match kind {
            ErrorKind::Fatal => Recourse::Halt,
            ErrorKind::Internal => Recourse::FallBack,
            ErrorKind::Network
            | ErrorKind::Transient
            | ErrorKind::RateLimit
            | ErrorKind::ServerError
            | ErrorKind::Timeout
            | ErrorKind::Model
            | ErrorKind::Guardrail
            | ErrorKind::Drift
            | ErrorKind::ZeroOutput => Recourse::Retry,
        })
    }

    /// Sets the consequence of a failure of `kind`.
    pub fn set(&mut self, kind: ErrorKind, recourse: Recourse) {
        self.0.retain(|(of, _)| *of != kind);
        self.0.push((kind, recourse));
    }
}

/// Argument of `should_retry`, which confirms or refuses a retry that the policy allows.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RetryQuestion<'a> {
    /// The attempt that failed, from 0.
    pub attempt: u32,
    /// The failure.
    pub error: &'a Failure,
    /// The content that the session holds.
    pub content: &'a str,
}

/// Argument of `calculate_delay`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DelayContext<'a> {
    /// The attempt that failed, from 0.
    pub attempt: u32,
    /// Retries of every kind before this retry.
    pub total_retries: u32,
    /// The failure.
    pub error: &'a Failure,
    /// The wait by the policy, `Retry-After` included.
    pub default_delay: Duration,
}

pub(super) type ShouldRetry = Box<dyn FnMut(&RetryQuestion<'_>) -> bool + Send>;
pub(super) type CalculateDelay = Box<dyn FnMut(&DelayContext<'_>) -> Duration + Send>;
