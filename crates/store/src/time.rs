//! Times as stores represent them, and durations until then.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use runstate::decision::Suspension;
use runstate_runtime::clock::Clock;

/// The last millisecond of the year 9999, in milliseconds since the Unix epoch: the representation of "never".
const NEVER_MS: u64 = 253_402_300_799_999;

/// Returns the time that is `time` after `now_ms`, in the representation of stores. [`Duration::MAX`] gives a time
/// that never comes.
///
/// ```
/// use std::time::Duration;
/// use runstate_store::{left, moment};
///
/// let at_ms = moment(1_000, Duration::from_millis(500));
/// assert_eq!((at_ms, left(1_200, at_ms)), (1_500, Duration::from_millis(300)));
/// assert_eq!(left(1_500, at_ms), Duration::ZERO, "it has come");
/// assert_eq!(left(1_500, moment(1_000, Duration::MAX)), Duration::MAX);
/// ```
pub fn moment(now_ms: u64, time: Duration) -> u64 {
    if time == Duration::MAX {
        return NEVER_MS;
    }
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    now_ms.saturating_add(ms).min(NEVER_MS - 1)
}

/// Returns the duration from `now_ms` to a [`moment`]: zero once that time has come.
pub fn left(now_ms: u64, at_ms: u64) -> Duration {
    if at_ms == NEVER_MS { Duration::MAX } else { Duration::from_millis(at_ms.saturating_sub(now_ms)) }
}

/// A clock for leases and expiries.
#[derive(Clone)]
pub(super) struct Ticking(Arc<dyn Clock>);

impl Ticking {
    pub(super) fn of(clock: impl Clock + 'static) -> Self {
        Ticking(Arc::new(clock))
    }
}

impl fmt::Debug for Ticking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.0.boot())
    }
}

impl Deref for Ticking {
    type Target = dyn Clock;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// The time of a store operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// By the clock that no setting changes.
    pub(super) ticks: u64,
    /// By the clock of the machine.
    date: u64,
}

impl Now {
    pub(super) fn of(clock: &dyn Clock) -> Self {
        Now { ticks: clock.ticks_ms(), date: clock.now_ms() }
    }

    pub(super) fn after(self, time: Duration) -> u64 {
        moment(self.ticks, time)
    }

    pub(super) fn left(self, at: u64) -> Duration {
        left(self.ticks, at)
    }

    /// Returns the time that is left for a decision. `lapses` is the expiry by the store's clock, if the store has
    /// one.
    pub(super) fn left_of(self, suspension: &Suspension, lapses: Option<u64>) -> Option<Duration> {
        let by_date = || Some(left(self.date, suspension.expires_at_ms?));
        lapses.map(|at| self.left(at)).or_else(by_date)
    }
}
