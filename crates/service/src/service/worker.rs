//! A worker: several drivers in one process.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use tokio::task::JoinSet;

use super::drive::TERM;
use super::{Service, ServiceError};
use crate::store::{ServiceCursor, ServiceLease};

/// The longest pause between two looks for a run whose lease is over.
const POLL: Duration = Duration::from_secs(1);

/// The pause of a worker that claims nothing.
enum Pause {
    UntilOneEnds,
    UntilAChange,
    Short,
}

impl Service {
    /// Drives the RUNNING runs of the store, at most `drivers` at once, until `stop` ends. `failed` receives each error
    /// with its run; the run can be driven again. An error of the store has no run, and the worker tries again after a
    /// second.
    ///
    /// At the stop each run is given back at once: the work since its last commit is repeated by the next driver.
    ///
    /// ```
    /// # use std::num::NonZeroUsize;
    /// # use std::sync::Arc;
    /// # use runstate_runtime::clock::unix_clock;
    /// # use runstate_service::sim::SimChain;
    /// # use runstate_service::{MemoryServiceStore, NewServiceRun, Service};
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// # runtime.block_on(async {
    /// # let chain = SimChain::example();
    /// # let store = Arc::new(MemoryServiceStore::default());
    /// # let service = Service::new(store, chain.ports(), chain.config(), Arc::new(unix_clock()), "example");
    /// # let (id, intent) = ("run_1".into(), "send 5 USDC to 0xbeef".into());
    /// # let new = NewServiceRun { id, intent, wallet: Some(SimChain::WALLET.into()), chain_id: Some(chain.id()) };
    /// # service.create(new, "ada").await?;
    /// service.start("run_1", "ada").await?;
    /// let approvable = async {
    ///     while service.get("run_1").await.is_ok_and(|run| run.allowed().is_empty()) {
    ///         tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    ///     }
    /// };
    /// service.work(NonZeroUsize::MIN, approvable, |run, error| eprintln!("{run:?}: {error}")).await;
    /// assert!(service.get("run_1").await?.digest.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If a driver panics. A panic of a port is an error of the port.
    ///
    /// # Cancel safety
    /// If the future is dropped, each driven run stays leased until the term of its lease is over.
    pub async fn work(
        &self,
        drivers: NonZeroUsize,
        stop: impl Future<Output = ()>,
        failed: impl Fn(Option<&str>, &ServiceError),
    ) {
        let mut stop = pin!(stop);
        let mut leases: BTreeMap<String, ServiceLease> = BTreeMap::new();
        // Tasks of their own: a driver renews its lease while a claim waits for the store.
        let mut driving = JoinSet::new();
        // Before the first claim, so that no change between the two is missed.
        let mut cursor = self.store.current_cursor().await.unwrap_or_default();
        // A claim is never dropped: its lease would last until the end of its term.
        while (&mut stop).now_or_never().is_none() {
            let is_full = driving.len() >= drivers.get();
            let claim = if is_full { Ok(None) } else { self.store.claim(None, &self.holder, TERM).await };
            let pause = match claim {
                Ok(Some(lease)) => {
                    leases.insert(lease.run.clone(), lease.clone());
                    let service = self.clone();
                    driving.spawn(async move {
                        let result = service.drive_leased(&lease).await;
                        (lease.run, result)
                    });
                    continue;
                }
                Ok(None) if is_full => Pause::UntilOneEnds,
                Ok(None) => Pause::UntilAChange,
                Err(error) => {
                    failed(None, &error.into());
                    Pause::Short
                }
            };
            let pause = async {
                match pause {
                    Pause::UntilOneEnds => std::future::pending().await,
                    Pause::UntilAChange => self.wait_for_changes(&mut cursor).await,
                    Pause::Short => tokio::time::sleep(POLL).await,
                }
            };
            let one_ends = async {
                match driving.join_next().await {
                    Some(Ok(ended)) => ended,
                    Some(Err(error)) => match error.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_) => std::future::pending().await,
                    },
                    None => std::future::pending().await,
                }
            };
            let ended = match select(&mut stop, select(pin!(one_ends), pin!(pause))).await {
                Either::Left(_) => break,
                Either::Right((Either::Left((ended, _)), _)) => Some(ended),
                Either::Right((Either::Right(_), _)) => None,
            };
            if let Some((run, result)) = ended {
                leases.remove(&run);
                if let Err(error) = result {
                    failed(Some(&run), &error);
                }
            }
        }
        driving.shutdown().await;
        for lease in leases.values() {
            // A store that cannot be reached keeps the lease until its term.
            drop(self.store.release(lease).await);
        }
    }

    /// Waits until a run changed, or for the pause.
    async fn wait_for_changes(&self, cursor: &mut ServiceCursor) {
        match self.store.changes(*cursor, 1_000, POLL).await {
            Ok(changes) => *cursor = changes.cursor,
            Err(_) => tokio::time::sleep(POLL).await,
        }
    }
}
