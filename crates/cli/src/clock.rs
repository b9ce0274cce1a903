//! The one place where the command reads the time of day.

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
