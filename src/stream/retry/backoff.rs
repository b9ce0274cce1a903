//! How long a retry waits.

use std::time::Duration;

use crate::stream::random::Random;

/// How the wait before a retry grows, and how it is spread.
///
/// | jitter | the wait, for a delay `d` of the curve |
/// |---|---|
/// | none | `d` |
/// | fixed | `d / 2`, and a random part of the other half |
/// | full | a random part of `d` |
/// | decorrelated | from `base` to three times the wait before, at random; the curve plays no part |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// How the delay grows from retry to retry.
    pub curve: Curve,
    /// The delay of the first retry.
    pub base: Duration,
    /// No delay is longer.
    pub cap: Duration,
    /// How it is spread.
    pub jitter: Jitter,
}

/// How the delay grows from retry to retry on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// It does not.
    Fixed,
    /// By the base each time.
    Linear,
    /// It doubles.
    Exponential,
}

/// How delays are spread, so that what failed together does not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Over their upper half.
    Fixed,
    /// Over all of it.
    Full,
    /// From the base to three times the delay before.
    Decorrelated,
}

impl Backoff {
    fn of(curve: Curve, base: Duration) -> Self {
        Backoff { curve, base, cap: Duration::from_secs(10), jitter: Jitter::None }
    }

    /// The same delay each time, without jitter, capped at 10 s.
    pub fn fixed(base: Duration) -> Self {
        Self::of(Curve::Fixed, base)
    }

    /// `base`, then twice, then three times `base`; without jitter, capped at 10 s.
    pub fn linear(base: Duration) -> Self {
        Self::of(Curve::Linear, base)
    }

    /// `base`, then twice, then four times `base`; without jitter, capped at 10 s.
    pub fn exponential(base: Duration) -> Self {
        Self::of(Curve::Exponential, base)
    }

    /// The same, with that cap.
    pub fn capped(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// The same, spread.
    pub fn jittered(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// The delay of the retry after the failed attempt `attempt`, from 0, before it is spread.
    fn plain(&self, attempt: u32) -> Duration {
        let factor = match self.curve {
            Curve::Fixed => 1,
            Curve::Linear => attempt.saturating_add(1),
            Curve::Exponential => 1_u32.checked_shl(attempt).unwrap_or(u32::MAX),
        };
        self.base.saturating_mul(factor).min(self.cap)
    }
}

/// Exponential from a second, spread over its upper half, capped at 10 s.
impl Default for Backoff {
    fn default() -> Self {
        Backoff::exponential(Duration::from_secs(1)).jittered(Jitter::Fixed)
    }
}

/// The delays of one session.
#[derive(Debug)]
pub(in crate::stream) struct Delays {
    backoff: Backoff,
    random: Random,
    /// The delay before, for the decorrelated kind.
    last: Duration,
}

impl Delays {
    pub(in crate::stream) fn new(backoff: Backoff, seed: u64) -> Self {
        Delays { backoff, random: Random::seeded(seed), last: backoff.base }
    }

    /// A new stream begins anew.
    pub(in crate::stream) fn restart(&mut self) {
        self.last = self.backoff.base;
    }

    /// The wait after the failed attempt `attempt`, from 0. Never shorter than what the provider asks for.
    pub(in crate::stream) fn next(&mut self, attempt: u32, retry_after: Option<Duration>) -> Duration {
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
        // Whole milliseconds, which is what timers keep.
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.random.between(millis(low), millis(high)))
    }
}
