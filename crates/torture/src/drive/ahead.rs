//! The clock of another machine.

use std::time::Duration;

use runstate_runtime::clock::{Clock, UnixClock, unix_clock};

/// The clock of a machine whose time of day is ahead. Its ticks are those of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    clock: UnixClock,
    by_ms: u64,
}

impl Ahead {
    /// A clock that is ahead by `by`. Zero is the time of day.
    pub fn by(by: Duration) -> Self {
        Ahead { clock: unix_clock(), by_ms: u64::try_from(by.as_millis()).unwrap_or(u64::MAX) }
    }
}

impl Clock for Ahead {
    fn now_ms(&self) -> u64 {
        self.clock.now_ms().saturating_add(self.by_ms)
    }

    fn ticks_ms(&self) -> u64 {
        self.clock.ticks_ms()
    }

    fn boot(&self) -> &str {
        self.clock.boot()
    }
}
