//! Time limits of the states. These are pure functions: the time is an argument.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AnyGovernedRun, GovernedRun, GovernedRunStatus, RunRecord};
use crate::kernel::State;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The time limit of a state, and the state after its expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimit {
    /// The limit in milliseconds. A state expires exactly at its limit.
    pub ms: u64,
    /// The state that an expired run enters.
    pub leads_to: GovernedRunStatus,
}

impl GovernedRunStatus {
    /// The default time limit of the state; none in a terminal state. A run may have [other limits](TimeLimits).
    ///
    /// ```
    /// use runstate::governed_run::GovernedRunStatus;
    ///
    /// let limit = GovernedRunStatus::Verifying.time_limit().unwrap();
    /// assert_eq!((limit.ms, limit.leads_to), (600_000, GovernedRunStatus::RolledBack));
    /// assert!(GovernedRunStatus::Completed.time_limit().is_none());
    /// ```
    pub const fn time_limit(self) -> Option<TimeLimit> {
        let (ms, leads_to) = match self {
            GovernedRunStatus::Init => (60 * SECOND, GovernedRunStatus::HaltedUnsafe),
            GovernedRunStatus::Planning => (5 * MINUTE, GovernedRunStatus::HaltedUnsafe),
            GovernedRunStatus::Executing => (30 * MINUTE, GovernedRunStatus::HaltedUnsafe),
            GovernedRunStatus::AwaitingApproval => (24 * HOUR, GovernedRunStatus::HaltedUnsafe),
            GovernedRunStatus::Verifying => (10 * MINUTE, GovernedRunStatus::RolledBack),
            GovernedRunStatus::Auditing => (15 * MINUTE, GovernedRunStatus::RolledBack),
            GovernedRunStatus::Completed
            | GovernedRunStatus::RolledBack
            | GovernedRunStatus::HaltedUnsafe => {
                return None;
            }
        };
        Some(TimeLimit { ms, leads_to })
    }
}

/// The time limits of one run. Default: [`GovernedRunStatus::time_limit`] for each state. The state after an expiry
/// is not configurable.
///
/// ```
/// use runstate::governed_run::{GovernedRunStatus, TimeLimits};
///
/// let limits = TimeLimits::default().with(GovernedRunStatus::Verifying, 60_000)?;
/// assert_eq!(limits.deadline(GovernedRunStatus::Verifying, 1_000), Some(61_000));
/// // A limit of 0 ms is an error, and so is a limit of a terminal state.
/// assert!(limits.with(GovernedRunStatus::Auditing, 0).is_err());
/// assert!(limits.with(GovernedRunStatus::Completed, 1).is_err());
/// # Ok::<(), runstate::governed_run::TimeLimitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredLimits", into = "StoredLimits")]
pub struct TimeLimits([u64; LIMITED.len()]);

/// The states with a limit, in the order of the documented table.
const LIMITED: [GovernedRunStatus; 6] = [
    GovernedRunStatus::Init,
    GovernedRunStatus::Planning,
    GovernedRunStatus::Executing,
    GovernedRunStatus::AwaitingApproval,
    GovernedRunStatus::Verifying,
    GovernedRunStatus::Auditing,
];

/// The limits in milliseconds by the name of the state, as stored.
type StoredLimits = std::collections::BTreeMap<GovernedRunStatus, u64>;

impl Default for TimeLimits {
    fn default() -> Self {
        TimeLimits(LIMITED.map(|state| state.time_limit().map_or(u64::MAX, |limit| limit.ms)))
    }
}

impl TimeLimits {
    /// Sets the limit of `state` to `ms` milliseconds. Default: [`GovernedRunStatus::time_limit`].
    ///
    /// # Errors
    /// [`TimeLimitError`] when the state is terminal, and when `ms` is 0.
    pub fn with(mut self, state: GovernedRunStatus, ms: u64) -> Result<Self, TimeLimitError> {
        match LIMITED.iter().position(|limited| *limited == state) {
            Some(at) if ms > 0 => {
                self.0[at] = ms;
                Ok(self)
            }
            _ => Err(TimeLimitError { state }),
        }
    }

    /// The limit of a state; none for a terminal state.
    pub fn of(&self, state: GovernedRunStatus) -> Option<TimeLimit> {
        let at = LIMITED.iter().position(|limited| *limited == state)?;
        state.time_limit().map(|limit| TimeLimit { ms: self.0[at], ..limit })
    }

    /// The expiry of a state that a run entered at `entered_at`; none for a terminal state.
    pub fn deadline(&self, state: GovernedRunStatus, entered_at: u64) -> Option<u64> {
        self.of(state).map(|limit| entered_at.saturating_add(limit.ms))
    }

    /// Returns whether all limits are the defaults. Default limits are not stored.
    pub(super) fn are_documented(&self) -> bool {
        *self == TimeLimits::default()
    }
}

impl From<TimeLimits> for StoredLimits {
    fn from(limits: TimeLimits) -> Self {
        LIMITED.into_iter().zip(limits.0).collect()
    }
}

impl TryFrom<StoredLimits> for TimeLimits {
    type Error = TimeLimitError;

    fn try_from(stored: StoredLimits) -> Result<Self, TimeLimitError> {
        stored.into_iter().try_fold(TimeLimits::default(), |limits, (state, ms)| limits.with(state, ms))
    }
}

/// The error for an invalid time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimitError {
    state: GovernedRunStatus,
}

impl fmt::Display for TimeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state.time_limit() {
            Some(_) => write!(f, "a time limit of {} must be at least 1 ms, got 0", self.state),
            None => write!(f, "{} is terminal and has no time limit", self.state),
        }
    }
}

impl Error for TimeLimitError {}

/// A state of a governed run, with its time of entry. The nine states implement it, and no other type can.
pub trait Timed: State<Record = RunRecord, Status = GovernedRunStatus> + sealed::Sealed {
    /// The time of entry, in milliseconds since the Unix epoch. Each entry into the state has its own time.
    fn entered_at(&self) -> u64;
}

/// The expiry of the state in a run with these limits; none for a terminal state.
pub(super) fn deadline<S: Timed>(state: &S, record: &RunRecord) -> Option<u64> {
    record.limits().deadline(S::STATUS, state.entered_at())
}

/// Returns whether a state with that deadline has expired at `now`. It expires at the exact deadline.
pub(super) fn is_past(deadline: Option<u64>, now: u64) -> bool {
    deadline.is_some_and(|deadline| now >= deadline)
}

pub(super) mod sealed {
    /// The seal of the trait: only the states of this module are states of a governed run.
    pub trait Sealed {}
}

impl<S: Timed> GovernedRun<S> {
    /// The time of entry into the current state, in milliseconds since the Unix epoch.
    pub fn entered_at(&self) -> u64 {
        self.state().entered_at()
    }

    /// The expiry of the current state, in milliseconds since the Unix epoch; none in a terminal state.
    pub fn deadline(&self) -> Option<u64> {
        deadline(self.state(), self.record())
    }

    /// Returns whether the current state has expired at `now`.
    pub fn is_expired(&self, now: u64) -> bool {
        is_past(self.deadline(), now)
    }
}

impl AnyGovernedRun {
    /// The time of entry into the current state, in milliseconds since the Unix epoch.
    pub fn entered_at(&self) -> u64 {
        match self {
            AnyGovernedRun::Init(run) => run.entered_at(),
            AnyGovernedRun::Planning(run) => run.entered_at(),
            AnyGovernedRun::Executing(run) => run.entered_at(),
            AnyGovernedRun::AwaitingApproval(run) => run.entered_at(),
            AnyGovernedRun::Verifying(run) => run.entered_at(),
            AnyGovernedRun::Auditing(run) => run.entered_at(),
            AnyGovernedRun::Completed(run) => run.entered_at(),
            AnyGovernedRun::RolledBack(run) => run.entered_at(),
            AnyGovernedRun::HaltedUnsafe(run) => run.entered_at(),
        }
    }

    /// The expiry of the current state, in milliseconds since the Unix epoch; none in a terminal state.
    pub fn deadline(&self) -> Option<u64> {
        self.record().limits().deadline(self.status(), self.entered_at())
    }

    /// Returns whether the current state has expired at `now`. A sweeper calls it.
    pub fn is_expired(&self, now: u64) -> bool {
        is_past(self.deadline(), now)
    }
}
