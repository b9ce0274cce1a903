//! A lease is kept for as long as its run is driven.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::RunQueue;
use super::error::StoreError;
use super::lease::Lease;
use crate::clock::Clock;

/// How long a lease is, and since when.
///
/// It is made before the store is asked for the lease, or for its renewal: the time that the store takes to answer is part
/// of it.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTerm {
    length: Duration,
    began_ms: u64,
    /// The same moment for timers, which stand still while the machine sleeps.
    began: Instant,
}

impl LeaseTerm {
    /// A term of that length, from now on.
    ///
    /// # Panics
    /// Where tokio's clock is paused for tests, outside of its runtime.
    pub fn from_now(length: Duration, clock: &dyn Clock) -> Self {
        LeaseTerm { length, began_ms: clock.ticks_ms(), began: Instant::now() }
    }

    /// How long it is.
    pub fn length(&self) -> Duration {
        self.length
    }

    fn third(&self) -> Duration {
        self.length / 3
    }

    /// The time that is left of it: the lesser one by timers and by the ticks of that clock. They differ after the machine has slept.
    fn left(&self, clock: &dyn Clock) -> Duration {
        let passed = Duration::from_millis(clock.ticks_ms().saturating_sub(self.began_ms));
        let by_clock = self.length.saturating_sub(passed);
        by_clock.min(self.length.saturating_sub(self.began.elapsed()))
    }

    /// Waits for a third of it: it is time to renew the lease.
    async fn renewal_due(&self, clock: &dyn Clock) {
        let behind = self.length.saturating_sub(self.third());
        wait(clock, || self.left(clock).saturating_sub(behind)).await;
    }
}

/// Waits until nothing is left, which is looked at when it may be so, and as often as such a clock wants.
async fn wait(clock: &dyn Clock, left: impl Fn() -> Duration) {
    loop {
        let left = left();
        // Also where nothing is: others have their turn.
        sleep(left.min(clock.look_again())).await;
        if left.is_zero() {
            return;
        }
    }
}

/// Keeps a lease: renews it at a third of its time, again and again. Returns when it is not to be kept any more, and says
/// why: whoever drives the run is to drop it then.
///
/// A store that cannot be reached, or that does not answer, is asked again until the lease is over, by timers or by the
/// [ticks](Clock::ticks_ms) of the clock, whichever is first. A process that was stopped for longer than that, such as by a machine that
/// slept, asks once more all the same, and has a third of the lease's time to hear: if the run was not taken, it goes on.
///
/// ```
/// use std::time::Duration;
/// use runstate::clock::TokioClock;
/// use runstate::store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError, LeaseTerm, renew_loop};
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
/// // Beside whatever drives the run.
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
/// Dropped, the lease was renewed for the last time, or is just being renewed.
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

/// Renews a lease before this term of it is over: the next term.
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
                // It is still in this hand, and may be renewed in time.
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
