//! The one place where the command reads the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the beginning of 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of real runs; everything below takes the time as an argument"
)]
pub(crate) fn unix_ms() -> u64 {
    // A clock before 1970 is a clock that is not set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The clock of a run: milliseconds since it was created, in whichever process, never backwards within one.
#[derive(Debug)]
pub(crate) struct RunClock {
    created_unix_ms: u64,
    last: AtomicU64,
}

impl RunClock {
    /// The clock of a run that was created then.
    pub(crate) fn since(created_unix_ms: u64) -> Self {
        RunClock { created_unix_ms, last: AtomicU64::new(0) }
    }

    /// Now.
    pub(crate) fn now_ms(&self) -> u64 {
        let now = unix_ms().saturating_sub(self.created_unix_ms);
        self.last.fetch_max(now, Ordering::Relaxed).max(now)
    }
}
