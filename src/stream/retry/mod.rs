//! When an attempt is made again, and how long that waits.

mod backoff;
mod decide;

use std::time::Duration;

use super::{ErrorKind, Failure};

pub(super) use backoff::Delays;
pub use backoff::{Backoff, Curve, Jitter};
pub(super) use decide::{Question, decide};

/// How often a session tries again, after what, and how long it waits (C10).
///
/// ```
/// use runstate::stream::{Backoff, ErrorKind, Recourse, RetryPolicy};
/// use std::time::Duration;
///
/// let policy = RetryPolicy {
///     model_retries: 1,
///     backoff: Backoff::exponential(Duration::from_millis(100)).capped(Duration::from_secs(5)),
///     ..RetryPolicy::default()
/// };
/// // Wrong credentials of one provider may be no reason to give up the next.
/// let policy = policy.on(ErrorKind::Fatal, Recourse::FallBack);
/// assert_eq!(policy.table.get(ErrorKind::Fatal), Recourse::FallBack);
/// ```
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    /// Retries of one stream for the model's own faults; a fallback has as many again. 3 by default.
    pub model_retries: u32,
    /// Retries of every kind over all streams of the session. 6 by default.
    pub total_retries: u32,
    /// How long a retry waits.
    pub backoff: Backoff,
    /// What each kind of failure leads to.
    pub table: RetryTable,
    /// A provider that wants to be left alone for longer than this is not tried again. 5 minutes by default.
    pub longest_retry_after: Duration,
}

impl RetryPolicy {
    /// No retry at all.
    pub fn none() -> Self {
        RetryPolicy { model_retries: 0, total_retries: 0, ..RetryPolicy::default() }
    }

    /// The same, where a failure of that kind leads elsewhere.
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

/// How much is still tried after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recourse {
    /// The same stream again while there is a budget, then the next fallback.
    Retry,
    /// The next fallback.
    FallBack,
    /// Nothing: the session is over.
    Halt,
}

/// What each kind of failure leads to. The defaults are in the table at [`ErrorKind`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryTable(Vec<(ErrorKind, Recourse)>);

impl RetryTable {
    /// What a failure of that kind leads to.
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

    /// Makes it lead elsewhere.
    pub fn set(&mut self, kind: ErrorKind, recourse: Recourse) {
        self.0.retain(|(of, _)| *of != kind);
        self.0.push((kind, recourse));
    }
}

/// What `should_retry` is asked: the policy would try again, may it?
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RetryQuestion<'a> {
    /// The attempt that failed, from 0 (document 002, "Parameter Indexing").
    pub attempt: u32,
    /// Why it failed.
    pub error: &'a Failure,
    /// What the session holds.
    pub content: &'a str,
}

/// What `calculate_delay` is given.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DelayContext<'a> {
    /// The attempt that failed, from 0 (document 002, "Parameter Indexing").
    pub attempt: u32,
    /// Retries of every kind before this one.
    pub total_retries: u32,
    /// Why it failed.
    pub error: &'a Failure,
    /// What the policy would wait, `Retry-After` included.
    pub default_delay: Duration,
}

pub(super) type ShouldRetry = Box<dyn FnMut(&RetryQuestion<'_>) -> bool + Send>;
pub(super) type CalculateDelay = Box<dyn FnMut(&DelayContext<'_>) -> Duration + Send>;
