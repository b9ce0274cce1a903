//! Where drivers read the time.
//!
//! Lifecycles take the time as an argument; a driver asks a [`Clock`]. In tests and simulations that is [`TokioClock`], which
//! stands still while tokio's clock is paused, so that what is recorded is the same each time.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Tells the time, in milliseconds from a beginning of its own.
pub trait Clock: Send + Sync {
    /// Now. Never less than what it said before.
    fn now_ms(&self) -> u64;
}

/// Milliseconds since a beginning, by tokio's clock: the one that its timers follow.
///
/// ```
/// use runstate::clock::{Clock, TokioClock};
/// use std::time::Duration;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let clock = TokioClock::starting_at(1_000);
/// tokio::time::sleep(Duration::from_secs(60)).await; // at once, while the clock is paused
/// assert_eq!(clock.now_ms(), 61_000);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TokioClock {
    began: Instant,
    began_ms: u64,
}

impl TokioClock {
    /// It is `now_ms` now.
    ///
    /// # Panics
    /// Where tokio's clock is paused for tests, outside of its runtime.
    pub fn starting_at(now_ms: u64) -> Self {
        TokioClock { began: Instant::now(), began_ms: now_ms }
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.began_ms.saturating_add(since)
    }
}

impl fmt::Debug for TokioClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioClock").field("began_ms", &self.began_ms).finish_non_exhaustive()
    }
}

/// Milliseconds since the beginning of 1970, from the machine's clock when the clock was made, and by tokio's from then on:
/// a change of the machine's clock does not reach it.
///
/// # Panics
/// As [`TokioClock::starting_at`].
#[expect(clippy::disallowed_methods, reason = "the one place of the library that reads the machine's clock")]
pub fn unix_clock() -> TokioClock {
    // A clock before 1970 is a clock that is not set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    TokioClock::starting_at(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
