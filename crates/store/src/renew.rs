//! Lease renewal.

use std::time::Duration;

use runstate_runtime::clock::Clock;
use tokio::time::{Instant, sleep};

use super::RunQueue;
use super::error::StoreError;
use super::lease::Lease;

/// The length of a lease and its start.
///
/// A caller creates the term before it asks the store for the lease or for its renewal. So the response time of the
/// store is part of the term.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTerm {
    length: Duration,
    began_ms: u64,
    /// The start by timers, which stop while the machine sleeps.
    began: Instant,
}

impl LeaseTerm {
    /// Creates a term of that length from now on.
    ///
    /// # Panics
    /// Outside of a tokio runtime, if tokio's clock is paused for tests.
    pub fn from_now(length: Duration, clock: &dyn Clock) -> Self {
        LeaseTerm { length, began_ms: clock.ticks_ms(), began: Instant::now() }
    }

    /// Returns the length of the term.
    pub fn length(&self) -> Duration {
        self.length
    }

    fn third(&self) -> Duration {
        self.length / 3
    }

    /// Returns the remaining time: the smaller one by timers and by the ticks of the clock. They differ after the
    /// machine has slept.
    fn left(&self, clock: &dyn Clock) -> Duration {
        let passed = Duration::from_millis(clock.ticks_ms().saturating_sub(self.began_ms));
        let by_clock = self.length.saturating_sub(passed);
        by_clock.min(self.length.saturating_sub(self.began.elapsed()))
    }

    /// Waits until a third of the term has passed. Then the renewal is due.
    async fn renewal_due(&self, clock: &dyn Clock) {
        let behind = self.length.saturating_sub(self.third());
        wait(clock, || self.left(clock).saturating_sub(behind)).await;
    }
}

/// Waits until no time is left. It checks when the time may be over, and at the poll interval of the clock.
async fn wait(clock: &dyn Clock, left: impl Fn() -> Duration) {
    loop {
        let left = left();
        // The sleep happens also without remaining time, so that other tasks can run.
        sleep(left.min(clock.look_again())).await;
        if left.is_zero() {
            return;
        }
    }
}

/// Renews a lease whenever a third of its term has passed. Returns once the lease cannot be renewed any more, with
/// the reason. The caller must then stop driving the run.
///
/// If the store cannot be reached or does not answer, the renewal is retried until the lease expires by timers or by
/// the [ticks](Clock::ticks_ms) of the clock, whichever is first. A process that was stopped for longer, for example
/// on a sleeping machine, tries one more renewal and waits a third of the term for the answer. If the run was not
/// claimed meanwhile, the lease continues.
///
/// ```
/// use std::time::Duration;
/// use runstate_runtime::clock::TokioClock;
/// use runstate_store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError, LeaseTerm, renew_loop};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let clock = TokioClock::starting_at(0);
/// let store = MemoryStore::with_clock(clock);
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
///
/// let term = LeaseTerm::from_now(Duration::from_secs(30), &clock);
/// let lease = store.claim(&Claim::of("r1", "me", term.length())).await?.unwrap();
///
/// // Runs concurrently with the driver of the run.
/// let kept = renew_loop(&store, &lease, term, &clock);
/// tokio::time::timeout(Duration::from_secs(3_600), kept).await.unwrap_err();
/// let refused = store.claim(&Claim::of("r1", "you", term.length())).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { .. }));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancel safety
/// If the future is dropped, no more renewals are made. The last one may still take effect.
pub async fn renew_loop(
    store: &dyn RunQueue,
    lease: &Lease,
    mut term: LeaseTerm,
    clock: &dyn Clock,
) -> StoreError {
    loop {
        term.renewal_due(clock).await;
        match renewed(store, lease, term, clock).await {
            Ok(next) => term = next,
            Err(error) => return error,
        }
    }
}

/// Renews a lease before its term is over. Returns the next term.
async fn renewed(
    store: &dyn RunQueue,
    lease: &Lease,
    term: LeaseTerm,
    clock: &dyn Clock,
) -> Result<LeaseTerm, StoreError> {
    let began = Instant::now();
    let too_late = || wait(clock, || term.left(clock).max(term.third().saturating_sub(began.elapsed())));
    let mut away = None;
    loop {
        let next = LeaseTerm::from_now(term.length, clock);
        tokio::select! {
            biased;
            renewed = store.renew(lease, next.length()) => match renewed {
                Ok(()) => return Ok(next),
                // No other claim is known, so a retry may still renew the lease.
                Err(error @ StoreError::Unavailable(_)) => away = Some(error),
                Err(error) => return Err(error),
            },
            () = too_late() => return Err(away.unwrap_or_else(|| late(lease))),
        }
        tokio::select! {
            biased;
            () = too_late() => return Err(away.unwrap_or_else(|| late(lease))),
            () = next.renewal_due(clock) => {}
        }
    }
}

fn late(lease: &Lease) -> StoreError {
    let run = &lease.run;
    StoreError::unavailable(format!("the lease on the run {run:?} was over before its renewal was answered"))
}
