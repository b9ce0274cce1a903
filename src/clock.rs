//! Where drivers read the time.
//!
//! Lifecycles take the time as an argument; a driver asks a [`Clock`]. In production that is [`UnixClock`], the machine's own.
//! In tests and simulations it is [`TokioClock`], which stands still while tokio's clock is paused, so that what is recorded is
//! the same each time.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Tells the time, in milliseconds from a beginning of its own.
pub trait Clock: Send + Sync {
    /// Now. It may be less than what it said before: somebody set the machine's clock back. Who tells how long something took
    /// by two of its times is ready for that, and who keeps an order keeps it by itself, as the recorder of traces does.
    fn now_ms(&self) -> u64;

    /// Who waits for a time of this clock looks at it again after so long; each second if this is not said. Timers do not hear of
    /// a clock that jumps, ahead or back: one that was set for eight hours before the machine slept for them has eight hours
    /// left when it wakes up.
    fn look_again(&self) -> Duration {
        Duration::from_secs(1)
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }

    fn look_again(&self) -> Duration {
        (**self).look_again()
    }
}

/// Waits until it is `at_ms` by that clock, which it [looks at](Clock::look_again) every now and then.
///
/// ```
/// use runstate::clock::{Clock, TokioClock, sleep_until};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let clock = TokioClock::starting_at(1_000);
/// sleep_until(&clock, 61_000).await;
/// assert_eq!(clock.now_ms(), 61_000);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Cancel safety
/// Dropped, nothing is lost.
pub async fn sleep_until(clock: &dyn Clock, at_ms: u64) {
    loop {
        // The clock decides; tokio's timers may run a little ahead of it.
        match at_ms.saturating_sub(clock.now_ms()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(clock.look_again())).await,
        }
    }
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

    /// Never: it goes as tokio's timers do.
    fn look_again(&self) -> Duration {
        Duration::MAX
    }
}

impl fmt::Debug for TokioClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioClock").field("began_ms", &self.began_ms).finish_non_exhaustive()
    }
}

/// Milliseconds since the beginning of 1970, by the machine's clock, which is read each time: the hours that the machine slept
/// are in it, and so is a change of its clock, ahead or back.
///
/// So two processes of one machine never disagree about the time, whenever they were started: leases, put-offs and lapses that
/// they share are held against it.
#[derive(Debug, Clone, Copy)]
pub struct UnixClock(());

/// The machine's clock.
pub fn unix_clock() -> UnixClock {
    UnixClock(())
}

impl Clock for UnixClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place of the library that reads the machine's clock"
    )]
    fn now_ms(&self) -> u64 {
        since_1970(SystemTime::now())
    }
}

fn since_1970(time: SystemTime) -> u64 {
    // A clock before 1970 is a clock that is not set.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_clock_that_is_set_is_followed_ahead_and_back() {
        let read = [5, 40, 10, 39, 28_800_041, 41];
        let told = read.map(|ms| since_1970(UNIX_EPOCH + Duration::from_millis(ms)));
        assert_eq!(told, read);
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_secs(1)), 0, "it is not set");
    }

    /// The machine sleeps, or somebody sets its clock: timers do not hear of it.
    #[test]
    fn the_machines_clock_is_read_each_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (clock, before) = (unix_clock(), unix_clock().now_ms());
            tokio::time::advance(Duration::from_secs(8 * 3_600)).await;
            assert!(clock.now_ms() - before < 3_600_000, "it is not tokio's clock that it tells");
        });
    }

    /// Stands still, and jumps to the end when it is looked at for the third time.
    struct Jumps(AtomicU64);

    impl Clock for Jumps {
        fn now_ms(&self) -> u64 {
            if self.0.fetch_add(1, Ordering::Relaxed) < 2 { 1_000 } else { 28_801_000 }
        }
    }

    #[test]
    fn who_waits_for_a_time_hears_soon_of_a_clock_that_jumped() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let began = Instant::now();
            sleep_until(&Jumps(AtomicU64::new(0)), 28_801_000).await;
            assert_eq!(began.elapsed(), Duration::from_secs(2), "the third look is two seconds later");
        });
    }
}
