//! The right to drive a run, kept for as long as it is driven.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use runstate::store::{Claim, Lease, Release, RunStore, StoreError};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock::unix_ms;
use crate::failure::Failure;
use crate::machine;
use crate::output::complain;
use crate::store::{Opened, beside};

/// A lease that is renewed for as long as this value lives, and given back when it goes.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    store: Arc<dyn RunStore>,
    handle: Handle,
    lost: watch::Receiver<Option<Arc<StoreError>>>,
    keeping: JoinHandle<()>,
}

/// How often it is looked whether a run that somebody holds is free.
const LOOK: Duration = Duration::from_millis(50);

impl Held {
    /// Takes a run in hand. One that somebody holds is waited for until the lease is over: who held it may be gone. If the
    /// lease is renewed, it is not.
    ///
    /// # Errors
    /// A run that there is not, or that another process drives.
    pub(super) fn claim(opened: &Opened, run: &str, length: Duration) -> Result<Self, Failure> {
        let mut held: Option<u64> = None;
        loop {
            let now_ms = unix_ms();
            let claim = Claim::of(run, machine::holder(), now_ms, now_ms.saturating_add(ms(length)));
            match beside(opened.handle(), opened.store.claim(&claim)) {
                Ok(Some(lease)) => return Ok(Held::keep(opened, lease, length)),
                Ok(None) => {
                    return Err(Failure::new(format!("{}: the run {run:?} cannot be claimed", opened.url())));
                }
                Err(StoreError::Held { holder, until_ms, .. })
                    if held.is_none_or(|held| held == until_ms) =>
                {
                    if held.replace(until_ms).is_none() {
                        let left = until_ms.saturating_sub(now_ms).div_ceil(1_000);
                        complain(&format!("{run} is in the hands of {holder} for {left} s more; waiting"));
                    }
                    sleep(LOOK);
                }
                Err(StoreError::Held { holder, .. }) => {
                    return Err(Failure::new(format!("another process drives the run {run:?}: {holder}"))
                        .with_help("wait for it to end, or end it"));
                }
                Err(error) => return Err(opened.failure(&error)),
            }
        }
    }

    fn keep(opened: &Opened, lease: Lease, length: Duration) -> Self {
        let (tell, lost) = watch::channel(None);
        let (store, handle) = (Arc::clone(&opened.store), opened.handle().clone());
        let keeping = handle.spawn(renew(Arc::clone(&store), lease.clone(), length, tell));
        Held { lease, store, handle, lost, keeping }
    }

    /// Says when the run is not in this hand any more, and why.
    pub(super) fn lost(&self) -> watch::Receiver<Option<Arc<StoreError>>> {
        self.lost.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keeping.abort();
        // A lease that cannot be given back runs out.
        beside(&self.handle, self.store.release(&self.lease, &Release::clean())).ok();
    }
}

/// Renews at a third of the time, until that cannot be done in time any more.
async fn renew(
    store: Arc<dyn RunStore>,
    lease: Lease,
    length: Duration,
    lost: watch::Sender<Option<Arc<StoreError>>>,
) {
    let mut kept_until_ms = unix_ms().saturating_add(ms(length));
    loop {
        tokio::time::sleep(length / 3).await;
        let until_ms = unix_ms().saturating_add(ms(length));
        match store.renew(&lease, until_ms).await {
            Ok(()) => kept_until_ms = until_ms,
            Err(StoreError::Unavailable(_)) if unix_ms() < kept_until_ms => {}
            Err(error) => {
                lost.send_replace(Some(Arc::new(error)));
                return;
            }
        }
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
