//! Clocks for drivers.
//!
//! Lifecycles take the time as an argument; a driver reads it from a [`Clock`]. In production, that is [`UnixClock`],
//! the clock of the machine. In tests and simulations, it is [`TokioClock`], which does not advance while tokio's
//! clock is paused. Recorded times are then reproducible.

use std::fmt;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A clock, in milliseconds since an origin of its own.
pub trait Clock: Send + Sync {
    /// The current time in milliseconds. It may be less than an earlier time, because the machine's clock may be set
    /// back. Code that measures durations or keeps an order must tolerate that, as the trace recorder does.
    fn now_ms(&self) -> u64;

    /// The poll interval of waiters. Default: 1 s. Timers do not follow a clock that is set or jumps: a timer of
    /// eight hours, set before the machine slept for eight hours, still has eight hours left when the machine wakes
    /// up.
    fn look_again(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// The time of a clock that is never set, in milliseconds. It includes the time that the machine slept. Stores
    /// measure leases with it. It starts at the [`boot`](Self::boot) of the machine. Default:
    /// [`now_ms`](Self::now_ms), for a clock that is never set itself.
    fn ticks_ms(&self) -> u64 {
        self.now_ms()
    }

    /// The id of the machine's boot at which [`ticks_ms`](Self::ticks_ms) started. Ticks of different boots cannot be
    /// compared. Default: empty, for a clock whose ticks continue over boots.
    fn boot(&self) -> &str {
        ""
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }

    fn ticks_ms(&self) -> u64 {
        (**self).ticks_ms()
    }

    fn boot(&self) -> &str {
        (**self).boot()
    }

    fn look_again(&self) -> Duration {
        (**self).look_again()
    }
}

/// Waits until the clock reads `at_ms`. The clock is polled at its [poll interval](Clock::look_again).
///
/// ```
/// use runstate_runtime::clock::{Clock, TokioClock, sleep_until};
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
/// If the future is dropped, no state is lost.
pub async fn sleep_until(clock: &dyn Clock, at_ms: u64) {
    loop {
        // The clock decides. The timers of tokio may be slightly ahead of it.
        match at_ms.saturating_sub(clock.now_ms()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(clock.look_again())).await,
        }
    }
}

/// Clock that follows tokio's timers, in milliseconds since a chosen origin.
///
/// ```
/// use runstate_runtime::clock::{Clock, TokioClock};
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
    /// Creates a clock that reads `now_ms` now.
    ///
    /// # Panics
    /// Panics if tokio's clock is paused for tests and the caller is outside of its runtime.
    pub fn starting_at(now_ms: u64) -> Self {
        TokioClock { began: Instant::now(), began_ms: now_ms }
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.began_ms.saturating_add(since)
    }

    /// No polling: the clock follows tokio's timers.
    fn look_again(&self) -> Duration {
        Duration::MAX
    }
}

impl fmt::Debug for TokioClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioClock").field("began_ms", &self.began_ms).finish_non_exhaustive()
    }
}

/// Clock of the machine, in milliseconds since the beginning of 1970. It is read each time, so it includes the time
/// that the machine slept and any change of the machine's clock.
///
/// On Linux, its [ticks](Clock::ticks_ms) count from the boot of the machine, and setting the clock does not change
/// them. Elsewhere, they are the time of day.
#[derive(Debug, Clone, Copy)]
pub struct UnixClock(());

/// Returns the clock of the machine.
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

    fn ticks_ms(&self) -> u64 {
        boot().map_or_else(|| self.now_ms(), |_| boot_ms())
    }

    fn boot(&self) -> &str {
        boot().unwrap_or_default()
    }
}

/// The kernel's id for this boot of the machine; `None` if it is not available.
#[cfg(target_os = "linux")]
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let id = Some(id.trim()).filter(|id| !id.is_empty())?;
        // A time namespace has its own ticks. Its boot id includes the offset.
        let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
        let offset =
            offsets.lines().find_map(|line| line.strip_prefix("boottime")).map(str::split_whitespace);
        let offset = offset.map(|words| words.collect::<Vec<_>>().join("."));
        Some(match offset.filter(|offset| offset.bytes().any(|digit| (b'1'..=b'9').contains(&digit))) {
            Some(offset) => format!("{id}+{offset}"),
            None => id.to_owned(),
        })
    };
    BOOT.get_or_init(read).as_deref()
}

#[cfg(not(target_os = "linux"))]
fn boot() -> Option<&'static str> {
    None
}

#[cfg(target_os = "linux")]
fn boot_ms() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ms = |of: i64| u64::try_from(of).unwrap_or(0);
    ms(time.tv_sec).saturating_mul(1_000).saturating_add(ms(time.tv_nsec) / 1_000_000)
}

#[cfg(not(target_os = "linux"))]
fn boot_ms() -> u64 {
    0
}

/// Clock that is set by hand, for tests of stores, workers and runs. Its clones share the time.
///
/// ```
/// use runstate_runtime::clock::{Clock, SetClock};
///
/// let clock = SetClock::at(1_000);
/// let other = clock.clone();
/// clock.set(5_000);
/// assert_eq!(other.now_ms(), 5_000);
/// clock.set(4_000);
/// assert_eq!(other.now_ms(), 4_000, "back, too");
///
/// // The time of day stays, on a machine that booted two seconds ago.
/// let machine = other.booted("b1", 2_000);
/// assert_eq!((machine.now_ms(), machine.ticks_ms(), machine.boot()), (4_000, 2_000, "b1"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SetClock {
    now_ms: Arc<AtomicU64>,
    boot: Option<(Arc<str>, u64)>,
}

impl SetClock {
    /// Creates a clock that reads `now_ms`.
    pub fn at(now_ms: u64) -> Self {
        SetClock { now_ms: Arc::new(AtomicU64::new(now_ms)), boot: None }
    }

    /// Sets the boot id and the [ticks](Clock::ticks_ms) since that boot. These ticks do not advance, and
    /// [`set`](Self::set) changes the time of day only. Default: no boot id, and the ticks are the time of day.
    #[must_use]
    pub fn booted(self, boot: &str, ticks_ms: u64) -> Self {
        SetClock { boot: Some((boot.into(), ticks_ms)), ..self }
    }

    /// Sets the time to `now_ms`.
    pub fn set(&self, now_ms: u64) {
        self.now_ms.store(now_ms, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn ticks_ms(&self) -> u64 {
        self.boot.as_ref().map_or_else(|| self.now_ms(), |(_, ticks_ms)| *ticks_ms)
    }

    fn boot(&self) -> &str {
        self.boot.as_ref().map_or("", |(boot, _)| boot)
    }
}

fn since_1970(time: SystemTime) -> u64 {
    // A clock before 1970 has not been set.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_grow_with_the_time_that_passes() {
        let clock = unix_clock();
        let before = clock.ticks_ms();
        std::thread::sleep(Duration::from_millis(20));
        let passed = clock.ticks_ms() - before;
        assert!((20..60_000).contains(&passed), "{passed}");
        if cfg!(target_os = "linux") && std::path::Path::new("/proc/sys/kernel/random/boot_id").exists() {
            assert!(clock.boot().len() >= 36, "{:?}", clock.boot());
            assert!(clock.ticks_ms().abs_diff(clock.now_ms()) > 1_000_000, "ticks are not the time of day");
        }
    }

    #[test]
    fn a_clock_that_is_set_is_followed_ahead_and_back() {
        let read = [5, 40, 10, 39, 28_800_041, 41];
        let told = read.map(|ms| since_1970(UNIX_EPOCH + Duration::from_millis(ms)));
        assert_eq!(told, read);
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_secs(1)), 0, "it is not set");
    }

    /// Timers do not follow the machine's sleep or a change of its clock.
    #[test]
    fn the_machines_clock_is_read_each_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (clock, before) = (unix_clock(), unix_clock().now_ms());
            tokio::time::advance(Duration::from_secs(8 * 3_600)).await;
            assert!(clock.now_ms() - before < 3_600_000, "it is not tokio's clock that it tells");
        });
    }

    /// Clock that does not advance, and jumps to the end at its third reading.
    struct Jumps(AtomicU64);

    impl Clock for Jumps {
        fn now_ms(&self) -> u64 {
            if self.0.fetch_add(1, Ordering::Relaxed) < 2 { 1_000 } else { 28_801_000 }
        }
    }

    #[test]
    fn sleeper_notices_a_clock_jump_soon() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let began = Instant::now();
            sleep_until(&Jumps(AtomicU64::new(0)), 28_801_000).await;
            assert_eq!(began.elapsed(), Duration::from_secs(2), "the third look is two seconds later");
        });
    }
}
