//! The rounds of a worker: it looks for runs that can go on, while it drives those that it has.

use std::pin::pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::super::error::StoreError;
use super::super::expire::expire_due;
use super::super::lease::{Claim, Release};
use super::drive::BESIDE_A_SUSPECT;
use super::tried::Tried;
use super::trouble::Trouble;
use super::{Ended, Executor, Held, Worker};

/// When a worker is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// When it is told to stop.
    Drained,
    /// When nothing more can go on, too.
    Idle,
}

/// Calls that are given up together, before the next look for a run.
const TIMERS: usize = 100;

impl Worker {
    /// Drives what can go on, until then.
    pub(super) async fn rounds(
        &self,
        host: &dyn Executor,
        told: &CancellationToken,
        until: Until,
    ) -> Result<(), StoreError> {
        // A store that fails stops this worker, and not what else its caller stops with the token.
        let drain = told.child_token();
        let tried = (until == Until::Idle).then(Tried::default);
        let mut driven = FuturesUnordered::new();
        let mut trouble = Trouble::of(host);
        let mut failed = None;
        // The mark of the news that were heard before the last look for work.
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

    /// The next run that can go on. Those that are driven go on meanwhile: however long it takes, their leases are kept.
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

    /// The next run that can go on, after calls were given up that nobody decided in time. What cannot be read is told.
    async fn next(
        &self,
        drain: &CancellationToken,
        trouble: &mut Trouble<'_>,
    ) -> Result<Option<Held>, StoreError> {
        loop {
            let now_ms = self.clock.now_ms();
            // A decision may be given again, so that it can be dropped at any time; a claim that is dropped may hold a run
            // that nobody drives.
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

    /// Drives a claimed run, beside the others. A run that is claimed after the drain began is given back, and so is one that was tried.
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
            // One that waits for another run was not tried.
            let waits = matches!(&ended, Ended::Deferred(why) if why == BESIDE_A_SUSPECT);
            if let Some(tried) = tried.filter(|_| !waits) {
                tried.note(run, release);
            }
            return;
        };
        // A lease that cannot be given back runs out.
        if let Err(error) = self.store.release(&held.lease, &release).await {
            host.on_store_error(&error);
        }
    }
}
