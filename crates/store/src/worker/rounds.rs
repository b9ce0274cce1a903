//! The loop of a worker: it claims runs while it drives the claimed ones.

use std::pin::pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::super::error::StoreError;
use super::super::expire::expire_due;
use super::super::lease::{Claim, Release};
use super::tried::Tried;
use super::trouble::Trouble;
use super::{Executor, Held, Worker};

/// The condition under which a worker returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Once it is drained.
    Drained,
    /// Once it is drained, or no run can continue.
    Idle,
}

/// The number of calls that are given up together before the next claim.
const TIMERS: usize = 100;

impl Worker {
    /// Drives the runs that can continue, until the condition holds.
    pub(super) async fn rounds(
        &self,
        host: &dyn Executor,
        told: &CancellationToken,
        until: Until,
    ) -> Result<(), StoreError> {
        // A failed store stops this worker, but not other users of the caller's token.
        let drain = told.child_token();
        let tried = (until == Until::Idle).then(Tried::default);
        let mut driven = FuturesUnordered::new();
        let mut trouble = Trouble::of(host);
        let mut failed = None;
        // The cursor of notifications before the last claim.
        let mut seen = 0;
        while !drain.is_cancelled() {
            let mut is_reached = true;
            while driven.len() < self.concurrency && !drain.is_cancelled() {
                match self.next_beside(&mut driven, &drain, &mut trouble).await {
                    Ok(Some(held)) => driven.push(self.take(host, held, seen, drain.clone(), tried.as_ref())),
                    Ok(None) => break,
                    Err(error @ StoreError::Unavailable(_)) => {
                        trouble.is_away(&error);
                        is_reached = false;
                        break;
                    }
                    Err(error) => {
                        failed = Some(error);
                        drain.cancel();
                    }
                }
            }
            if until == Until::Idle && is_reached {
                if driven.next().await.is_none() {
                    break;
                }
                continue;
            }
            tokio::select! {
                () = drain.cancelled() => {}
                Some(()) = driven.next() => {}
                () = self.changed_since(&mut seen, is_reached) => {}
            }
        }
        while driven.next().await.is_some() {}
        failed.map_or(Ok(()), Err)
    }

    /// Returns the next run that can continue. The claimed runs are driven meanwhile, and their leases renewed.
    async fn next_beside(
        &self,
        driven: &mut FuturesUnordered<impl Future<Output = ()>>,
        drain: &CancellationToken,
        trouble: &mut Trouble<'_>,
    ) -> Result<Option<Held>, StoreError> {
        let mut next = pin!(self.next(drain, trouble));
        loop {
            tokio::select! {
                biased;
                next = &mut next => return next,
                Some(()) = driven.next() => {}
            }
        }
    }

    /// Gives up expired calls and returns the next run that can continue. Reports corrupt entries.
    async fn next(
        &self,
        drain: &CancellationToken,
        trouble: &mut Trouble<'_>,
    ) -> Result<Option<Held>, StoreError> {
        loop {
            let now_ms = self.clock.now_ms();
            // A decision may be repeated, so this future can be dropped at any time. A dropped claim may leave a
            // lease on a run that no task drives.
            let lapsed = tokio::select! {
                biased;
                () = drain.cancelled() => return Ok(None),
                lapsed = expire_due(&*self.store, now_ms, TIMERS) => lapsed?,
            };
            lapsed.damaged.into_iter().for_each(|damage| trouble.tell(damage));
            if trouble.has_never_looked() {
                trouble.look(&*self.store).await?;
            }
            let term = self.term();
            let claim = Claim::any(&*self.name, self.lease);
            let claimed = self.store.claim(&claim).await?;
            if claimed.is_none() {
                trouble.look(&*self.store).await?;
            }
            if claimed.is_some() || !lapsed.has_more || drain.is_cancelled() {
                trouble.is_back();
                return Ok(claimed.map(|lease| Held { lease, term, is_ready: true }));
            }
        }
    }

    /// Drives a claimed run concurrently with the others. A run that was claimed after the drain, or was tried
    /// before, is given back.
    async fn take(
        &self,
        host: &dyn Executor,
        held: Held,
        seen: u64,
        drain: CancellationToken,
        tried: Option<&Tried>,
    ) {
        let again = match tried {
            _ if drain.is_cancelled() => Some(Release::clean()),
            Some(tried) => tried.again(&held.lease.run, self.poll),
            None => None,
        };
        let Some(release) = again else {
            let run = held.lease.run.clone();
            let (ended, release) = self.drive(host, held, seen, drain).await;
            // A run that waited for another one does not count as tried.
            if let Some(tried) = tried.filter(|_| !ended.waits_for_a_suspect()) {
                tried.note(run, release);
            }
            return;
        };
        // A lease that cannot be given back expires.
        if let Err(error) = self.store.release(&held.lease, &release).await {
            host.on_store_error(&error);
        }
    }
}
