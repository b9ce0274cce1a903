//! A lease is kept for as long as its run is driven.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::RunStore;
use super::error::StoreError;
use super::lease::Lease;
use crate::clock::{Clock, sleep_until};

/// How long a lease is, and since when.
///
/// It is made before the store is asked for the lease, or for its renewal: the time that the store takes to answer is part
/// of it.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    length: Duration,
    began_ms: u64,
    /// The same moment for timers, which do not hear of a clock that jumps.
    began: Instant,
}

impl Term {
    /// A term of that length, from now on.
    ///
    /// # Panics
    /// Where tokio's clock is paused for tests, outside of its runtime.
    pub fn from_now(length: Duration, clock: &dyn Clock) -> Self {
        Term { length, began_ms: clock.now_ms(), began: Instant::now() }
    }

    /// When it began.
    pub fn began_ms(&self) -> u64 {
        self.began_ms
    }

    /// When it is over.
    pub fn until_ms(&self) -> u64 {
        self.began_ms.saturating_add(ms(self.length))
    }

    fn third(&self) -> Duration {
        self.length / 3
    }
}

/// Keeps a lease: renews it at a third of its time, again and again. Returns when it is not to be kept any more, and says
/// why: whoever drives the run is to drop it then.
///
/// A store that cannot be reached, or that does not answer, is asked again until the lease is over. One who was stopped for
/// longer than that, such as by a machine that slept, asks once more all the same: if nobody took the run, it goes on.
///
/// ```
/// use std::time::Duration;
/// use runstate::clock::TokioClock;
/// use runstate::store::{Claim, MemoryStore, NewRun, RunStore, StoreError, Term, keep};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let (store, clock) = (MemoryStore::default(), TokioClock::starting_at(0));
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
///
/// let term = Term::from_now(Duration::from_secs(30), &clock);
/// let claim = Claim::of("r1", "me", term.began_ms(), term.until_ms());
/// let lease = store.claim(&claim).await?.unwrap();
///
/// // Beside whatever drives the run.
/// let kept = keep(&store, &lease, term, &clock);
/// tokio::time::timeout(Duration::from_secs(3_600), kept).await.unwrap_err();
/// let refused = store.claim(&Claim::of("r1", "you", 3_600_000, 3_700_000)).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { .. }));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancel safety
/// Dropped, the lease was renewed for the last time, or is just being renewed.
pub async fn keep(store: &dyn RunStore, lease: &Lease, mut term: Term, clock: &dyn Clock) -> StoreError {
    loop {
        rest(term.third().saturating_sub(term.began.elapsed()), clock).await;
        let left = term.length.saturating_sub(term.began.elapsed());
        match renewed(store, lease, term.length, clock, left.max(term.third())).await {
            Ok(next) => term = next,
            Err(error) => return error,
        }
    }
}

/// Renews a lease within that time: the next term.
async fn renewed(
    store: &dyn RunStore,
    lease: &Lease,
    length: Duration,
    clock: &dyn Clock,
    patience: Duration,
) -> Result<Term, StoreError> {
    let began = Instant::now();
    let left = || patience.saturating_sub(began.elapsed());
    let mut away = None;
    loop {
        let term = Term::from_now(length, clock);
        match timeout(left(), store.renew(lease, term.until_ms())).await {
            Ok(Ok(())) => return Ok(term),
            // It is still in this hand, and may be renewed in time.
            Ok(Err(error @ StoreError::Unavailable(_))) if !left().is_zero() => away = Some(error),
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(away.unwrap_or_else(|| late(lease))),
        }
        rest(term.third().min(left()), clock).await;
    }
}

fn late(lease: &Lease) -> StoreError {
    let run = &lease.run;
    StoreError::unavailable(format!("the lease on the run {run:?} was over before its renewal was answered"))
}

/// Waits for so long, by timers or by that clock: what was a moment to timers may have been a night.
async fn rest(time: Duration, clock: &dyn Clock) {
    let until_ms = clock.now_ms().saturating_add(ms(time).max(1));
    tokio::select! {
        () = sleep(time) => {}
        () = sleep_until(clock, until_ms) => {}
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
