//! The wait before a retry.

use std::time::Duration;

use crate::random::Random;

/// Growth and jitter of the wait before a retry.
///
/// | jitter | the wait, for a delay `d` of the curve |
/// |---|---|
/// | none | `d` |
/// | fixed | `d / 2`, plus a random part of the other half |
/// | full | a random part of `d` |
/// | decorrelated | random, from `base` to three times the previous wait; the curve is not used |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Growth of the delay from retry to retry.
    pub curve: Curve,
    /// The delay of the first retry.
    pub base: Duration,
    /// The maximum of the delay.
    pub cap: Duration,
    /// Random spread of the delay.
    pub jitter: Jitter,
}

/// Growth of the delay from retry to retry on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// The delay stays at the base.
    Fixed,
    /// The delay grows by the base with each retry.
    Linear,
    /// The delay doubles with each retry.
    Exponential,
}

/// Random spread of delays, so that sessions that fail together do not retry together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// No spread.
    None,
    /// Spread over the upper half of the delay.
    Fixed,
    /// Spread over the whole delay.
    Full,
    /// Spread from the base to three times the previous delay.
    Decorrelated,
}

impl Backoff {
    fn of(curve: Curve, base: Duration) -> Self {
        Backoff { curve, base, cap: Duration::from_secs(10), jitter: Jitter::None }
    }

    /// Creates a constant delay of `base`, without jitter, capped at 10 s.
    pub fn fixed(base: Duration) -> Self {
        Self::of(Curve::Fixed, base)
    }

    /// Creates delays of one, two, three times `base`, and so on; without jitter, capped at 10 s.
    pub fn linear(base: Duration) -> Self {
        Self::of(Curve::Linear, base)
    }

    /// Creates delays of one, two, four times `base`, and so on; without jitter, capped at 10 s.
    pub fn exponential(base: Duration) -> Self {
        Self::of(Curve::Exponential, base)
    }

    /// Sets the maximum of the delay. Default: 10 s.
    pub fn capped(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets the jitter. Default: [`Jitter::None`].
    pub fn jittered(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Returns the delay after the failed attempt `attempt`, from 0, without jitter.
    fn plain(&self, attempt: u32) -> Duration {
        let factor = match self.curve {
            Curve::Fixed => 1,
            Curve::Linear => attempt.saturating_add(1),
            Curve::Exponential => 1_u32.checked_shl(attempt).unwrap_or(u32::MAX),
        };
        self.base.saturating_mul(factor).min(self.cap)
    }
}

/// Exponential from 1 s, spread over its upper half, capped at 10 s.
impl Default for Backoff {
    fn default() -> Self {
        Backoff::exponential(Duration::from_secs(1)).jittered(Jitter::Fixed)
    }
}

/// The delays of one session.
#[derive(Debug)]
pub(crate) struct Delays {
    backoff: Backoff,
    random: Random,
    /// The previous delay, for decorrelated jitter.
    last: Duration,
}

impl Delays {
    pub(crate) fn new(backoff: Backoff, seed: u64) -> Self {
        Delays { backoff, random: Random::seeded(seed), last: backoff.base }
    }

    /// Resets the previous delay, for a new stream.
    pub(crate) fn restart(&mut self) {
        self.last = self.backoff.base;
    }

    /// Returns the wait after the failed attempt `attempt`, from 0. The wait is never shorter than the
    /// provider's `retry_after`.
    pub(crate) fn next(&mut self, attempt: u32, retry_after: Option<Duration>) -> Duration {
        let Backoff { base, cap, jitter, .. } = self.backoff;
        let plain = self.backoff.plain(attempt);
        let delay = match jitter {
            Jitter::None => plain,
            Jitter::Fixed => self.between(plain / 2, plain),
            Jitter::Full => self.between(Duration::ZERO, plain),
            Jitter::Decorrelated => self.between(base, self.last.saturating_mul(3)).min(cap),
        };
        self.last = delay;
        delay.max(retry_after.unwrap_or_default())
    }

    fn between(&mut self, low: Duration, high: Duration) -> Duration {
        // Whole milliseconds are the resolution of timers.
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.random.between(millis(low), millis(high)))
    }
}
