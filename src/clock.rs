//! Where drivers read the time.
//!
//! Lifecycles take the time as an argument; a driver asks a [`Clock`]. In production that is [`UnixClock`], the machine's own.
//! In tests and simulations it is [`TokioClock`], which stands still while tokio's clock is paused, so that what is recorded is
//! the same each time.

use std::fmt;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
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

    /// Milliseconds of a clock that is never set, the hours in which the machine slept included. Stores measure leases by it. It
    /// begins with [`boot`](Self::boot). Default: [`now_ms`](Self::now_ms), for a clock that is never set itself.
    fn ticks_ms(&self) -> u64 {
        self.now_ms()
    }

    /// The name of the boot of the machine with which [`ticks_ms`](Self::ticks_ms) began: ticks of another boot cannot be compared.
    /// Default: empty, for a clock whose ticks outlast the machine's boots.
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
/// Its [ticks](Clock::ticks_ms) are those of the machine since it booted (Linux), which no setting of the clock changes; elsewhere
/// they are the time of day.
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

    fn ticks_ms(&self) -> u64 {
        boot().map_or_else(|| self.now_ms(), |_| boot_ms())
    }

    fn boot(&self) -> &str {
        boot().unwrap_or_default()
    }
}

/// The id that the kernel gave this boot of the machine; none where it gives none.
#[cfg(target_os = "linux")]
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let id = Some(id.trim()).filter(|id| !id.is_empty())?;
        // In a time namespace the ticks are others than those of the machine, and so is the boot.
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

/// A clock that is set by hand, for tests: of stores, workers and runs. Its clones show the same time.
///
/// ```
/// use runstate::clock::{Clock, SetClock};
///
/// let clock = SetClock::at(1_000);
/// let other = clock.clone();
/// clock.set(5_000);
/// assert_eq!(other.now_ms(), 5_000);
/// clock.set(4_000);
/// assert_eq!(other.now_ms(), 4_000, "back, too");
///
/// // The same time of day on a machine that booted two seconds ago.
/// let machine = other.booted("b1", 2_000);
/// assert_eq!((machine.now_ms(), machine.ticks_ms(), machine.boot()), (4_000, 2_000, "b1"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SetClock {
    now_ms: Arc<AtomicU64>,
    boot: Option<(Arc<str>, u64)>,
}

impl SetClock {
    /// It is `now_ms`.
    pub fn at(now_ms: u64) -> Self {
        SetClock { now_ms: Arc::new(AtomicU64::new(now_ms)), boot: None }
    }

    /// Sets the name of the machine's boot, and the [ticks](Clock::ticks_ms) since then. They stand still, and [`set`](Self::set)
    /// changes the time of day alone. Default: no boot, and the ticks are the time of day.
    #[must_use]
    pub fn booted(self, boot: &str, ticks_ms: u64) -> Self {
        SetClock { boot: Some((boot.into(), ticks_ms)), ..self }
    }

    /// It is `now_ms` from now on.
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
    // A clock before 1970 is a clock that is not set.
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
