//! How long a run may stay in a state (document 001, "Timeout Rules"). Pure functions: the time is an argument.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AnyGovernedRun, GovernedRun, GovernedRunStatus, RunRecord};
use crate::kernel::State;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// How long a state may last, and where a run goes that stays longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimit {
    /// The limit in milliseconds. A state that has lasted this long has expired.
    pub ms: u64,
    /// The state that an expired run goes to.
    pub leads_to: GovernedRunStatus,
}

impl GovernedRunStatus {
    /// The time limit of the state that the document gives; none in a terminal one. A run may have [others](TimeLimits).
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

/// The time limits of one run: those of the document, but for what was configured otherwise. Where an expired state leads
/// is not to be configured.
///
/// ```
/// use runstate::governed_run::{GovernedRunStatus, TimeLimits};
///
/// let limits = TimeLimits::default().with(GovernedRunStatus::Verifying, 60_000)?;
/// assert_eq!(limits.deadline(GovernedRunStatus::Verifying, 1_000), Some(61_000));
/// // A state that must be left before it is entered is a mistake, and a terminal one is never left.
/// assert!(limits.with(GovernedRunStatus::Auditing, 0).is_err());
/// assert!(limits.with(GovernedRunStatus::Completed, 1).is_err());
/// # Ok::<(), runstate::governed_run::TimeLimitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredLimits", into = "StoredLimits")]
pub struct TimeLimits([u64; LIMITED.len()]);

/// The states that have a limit, in the order of the document's table.
const LIMITED: [GovernedRunStatus; 6] = [
    GovernedRunStatus::Init,
    GovernedRunStatus::Planning,
    GovernedRunStatus::Executing,
    GovernedRunStatus::AwaitingApproval,
    GovernedRunStatus::Verifying,
    GovernedRunStatus::Auditing,
];

/// Milliseconds by the name of the state, as stored.
type StoredLimits = std::collections::BTreeMap<GovernedRunStatus, u64>;

impl Default for TimeLimits {
    fn default() -> Self {
        TimeLimits(LIMITED.map(|state| state.time_limit().map_or(u64::MAX, |limit| limit.ms)))
    }
}

impl TimeLimits {
    /// The same, with a limit of `ms` milliseconds for `state`.
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

    /// The limit of a state; none of a terminal one.
    pub fn of(&self, state: GovernedRunStatus) -> Option<TimeLimit> {
        let at = LIMITED.iter().position(|limited| *limited == state)?;
        state.time_limit().map(|limit| TimeLimit { ms: self.0[at], ..limit })
    }

    /// When a run that entered the state at `entered_at` expires; none in a terminal state.
    pub fn deadline(&self, state: GovernedRunStatus, entered_at: u64) -> Option<u64> {
        self.of(state).map(|limit| entered_at.saturating_add(limit.ms))
    }

    /// Are they those of the document? Then they need not be stored.
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

/// A time limit that no state can have.
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

/// A state of a governed run: it knows when it was entered. All nine are; no other type can be.
pub trait Timed: State<Record = RunRecord, Status = GovernedRunStatus> + sealed::Sealed {
    /// When the state was entered, in milliseconds since the Unix epoch. A state that is entered again has a new time.
    fn entered_at(&self) -> u64;
}

/// When the state expires in a run with these limits; none in a terminal state.
pub(super) fn deadline<S: Timed>(state: &S, record: &RunRecord) -> Option<u64> {
    record.limits().deadline(S::STATUS, state.entered_at())
}

/// Has a state with that deadline lasted its limit at `now`? To have reached it is enough (B3).
pub(super) fn is_past(deadline: Option<u64>, now: u64) -> bool {
    deadline.is_some_and(|deadline| now >= deadline)
}

pub(super) mod sealed {
    /// Only this module's states are states of a governed run.
    pub trait Sealed {}
}

impl<S: Timed> GovernedRun<S> {
    /// When the present state was entered, in milliseconds since the Unix epoch.
    pub fn entered_at(&self) -> u64 {
        self.state().entered_at()
    }

    /// When the present state expires; none in a terminal state.
    pub fn deadline(&self) -> Option<u64> {
        deadline(self.state(), self.record())
    }

    /// Has the present state lasted its limit at `now`?
    pub fn is_expired(&self, now: u64) -> bool {
        is_past(self.deadline(), now)
    }
}

impl AnyGovernedRun {
    /// When the present state was entered, in milliseconds since the Unix epoch.
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

    /// When the present state expires; none in a terminal state.
    pub fn deadline(&self) -> Option<u64> {
        self.record().limits().deadline(self.status(), self.entered_at())
    }

    /// Has the present state lasted its limit at `now`? What a sweeper asks.
    pub fn is_expired(&self, now: u64) -> bool {
        is_past(self.deadline(), now)
    }
}
