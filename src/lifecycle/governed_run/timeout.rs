//! How long a run may stay in a state (document 001, "Timeout Rules"). Pure functions: the time is an argument.

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
    /// The time limit of the state; none in a terminal one.
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

    /// When a run that entered the state at `entered_at` expires; none in a terminal state.
    pub fn deadline(self, entered_at: u64) -> Option<u64> {
        self.time_limit().map(|limit| entered_at.saturating_add(limit.ms))
    }
}

/// A state of a governed run: it knows when it was entered. All nine are; no other type can be.
pub trait Timed: State<Record = RunRecord, Status = GovernedRunStatus> + sealed::Sealed {
    /// When the state was entered, in milliseconds since the Unix epoch. A state that is entered again has a new time.
    fn entered_at(&self) -> u64;

    /// When the state expires; none in a terminal state.
    fn deadline(&self) -> Option<u64> {
        Self::STATUS.deadline(self.entered_at())
    }

    /// Has the state lasted its limit at `now`? To have reached it is enough (B3).
    fn is_expired(&self, now: u64) -> bool {
        self.deadline().is_some_and(|deadline| now >= deadline)
    }
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
        self.state().deadline()
    }

    /// Has the present state lasted its limit at `now`?
    pub fn is_expired(&self, now: u64) -> bool {
        self.state().is_expired(now)
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
        self.status().deadline(self.entered_at())
    }

    /// Has the present state lasted its limit at `now`? What a sweeper asks.
    pub fn is_expired(&self, now: u64) -> bool {
        self.deadline().is_some_and(|deadline| now >= deadline)
    }
}
