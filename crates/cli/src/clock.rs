//! The time of day, and the time of runs.

use runstate_runtime::clock::{Clock, TokioClock, UnixClock, unix_clock};

/// Milliseconds since the beginning of 1970.
pub(crate) fn unix_ms() -> u64 {
    unix_clock().now_ms()
}

/// The clock of a run that is driven here. The time of a run continues while no process drives it: it begins at its last
/// event or later. If the machine's clock is set back meanwhile, this clock follows it, and the trace orders its own times.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RunClock {
    /// Virtual time, advanced whenever every task waits.
    Played(TokioClock),
    /// The time of day. A run played under virtual time is ahead of it.
    Real { clock: UnixClock, ahead_ms: u64 },
}

impl RunClock {
    /// The time of day, for a run with its last event at `last_ms`.
    pub(crate) fn real(last_ms: u64) -> Self {
        let clock = unix_clock();
        RunClock::Real { clock, ahead_ms: last_ms.saturating_sub(clock.now_ms()) }
    }
}

impl Clock for RunClock {
    fn now_ms(&self) -> u64 {
        match self {
            RunClock::Played(clock) => clock.now_ms(),
            RunClock::Real { clock, ahead_ms } => clock.now_ms().saturating_add(*ahead_ms),
        }
    }

    fn look_again(&self) -> std::time::Duration {
        match self {
            RunClock::Played(clock) => clock.look_again(),
            RunClock::Real { clock, .. } => clock.look_again(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_real_time_a_run_that_was_played_ahead_goes_on_from_there() {
        let now_ms = unix_ms();
        let ahead = now_ms + 3_600_000;
        for (last_ms, from_ms) in [(0, now_ms), (now_ms, now_ms), (ahead, ahead)] {
            let told_ms = RunClock::real(last_ms).now_ms();
            assert!((from_ms..from_ms + 600_000).contains(&told_ms), "{last_ms}: {told_ms}");
        }
    }
}
