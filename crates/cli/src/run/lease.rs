//! Lease renewal while a run is driven.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use runstate_runtime::clock::unix_clock;
use runstate_store::{Claim, Lease, LeaseTerm, Release, RunInfo, RunStore, StoreError, renew_loop};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::machine;
use crate::output::{complain, printable};
use crate::store::{Opened, beside, end_lease};

/// A lease that is renewed while this value lives, and released when it is dropped. Until the run is
/// [driven](Held::begin), the release keeps its problem and its retry delay.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    store: Arc<dyn RunStore>,
    handle: Handle,
    lost: watch::Receiver<Option<Arc<StoreError>>>,
    keeping: JoinHandle<()>,
    release: Release,
}

/// The maximum remaining lease to wait for.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

fn is_waited_for(left: Duration) -> bool {
    left <= LONGEST_WAIT
}

fn too_long(run: &str, holder: &str, left: Duration) -> Failure {
    let time = match left {
        Duration::MAX => "without an end".to_owned(),
        left => format!("for {} d more", left.as_secs() / LONGEST_WAIT.as_secs()),
    };
    Failure::new(format!("the run {run:?}: {holder} has the lease {time}, and this command waits at most 24 h for a lease"))
        .with_help(
            "end that process, so that it releases the run; a killed process keeps its lease for that time, and in SQLite and files \
             at most until the machine restarts; if no --lease had that duration, another program wrote it: restore the store from a backup",
        )
}

/// The release that changes nothing but the lease.
fn as_it_stands(info: &RunInfo) -> Release {
    let mut release = Release::clean();
    release.not_before = info.not_before;
    release.problem.clone_from(&info.problem);
    release
}

/// The poll interval for a run that another process holds.
const LOOK: Duration = Duration::from_millis(50);

/// Returns whether the holder of the run has ended. Its lease then has ended, too.
fn has_ended(opened: &Opened, run: &str) -> bool {
    let ended = async { end_lease(&*opened.store, &opened.store.parts(run).await?.info).await };
    beside(opened.handle(), ended).unwrap_or(false)
}

impl Held {
    /// Claims a run. If another process holds the run, waits for the end of its lease, because the holder may
    /// be dead. Fails once the lease is renewed.
    ///
    /// # Errors
    /// The run is unknown, or driven by another process.
    pub(super) fn claim(opened: &Opened, run: &str, length: Duration) -> Result<Self, Failure> {
        let mut held: Option<Duration> = None;
        loop {
            let term = LeaseTerm::from_now(length, &unix_clock());
            let claim = Claim::of(run, machine::holder(), length);
            match beside(opened.handle(), opened.store.claim(&claim)) {
                Ok(Some(lease)) => {
                    let mut held = Held::keep(opened, lease, term);
                    held.release = as_it_stands(&opened.ask(opened.store.parts(run))?.info);
                    return Ok(held);
                }
                Ok(None) => {
                    return Err(Failure::new(format!("{}: the run {run:?} cannot be claimed", opened.url())));
                }
                // A renewed lease has more time left than before.
                Err(StoreError::Held { holder, left, .. }) if held.is_none_or(|held| left <= held) => {
                    if held.is_none() && has_ended(opened, run) {
                        continue;
                    }
                    if !is_waited_for(left) {
                        return Err(too_long(run, &holder, left));
                    }
                    if held.replace(left).is_none() {
                        let left = left.as_millis().div_ceil(1_000);
                        complain(&printable(&format!(
                            "{holder} has the lease on {run} for {left} s more; this command waits for its end (Ctrl-C ends the command)"
                        )));
                    }
                    sleep(LOOK);
                }
                Err(StoreError::Held { holder, .. }) => {
                    return Err(Failure::new(format!(
                        "another process drives the run {run:?}: {}",
                        printable(&holder)
                    ))
                    .with_help("wait for the end of that process, or end it"));
                }
                Err(error) => return Err(opened.failure(&error)),
            }
        }
    }

    fn keep(opened: &Opened, lease: Lease, term: LeaseTerm) -> Self {
        let (tell, lost) = watch::channel(None);
        let (store, handle) = (Arc::clone(&opened.store), opened.handle().clone());
        let (kept, of) = (Arc::clone(&store), lease.clone());
        let keeping = handle.spawn(async move {
            let error = renew_loop(&*kept, &of, term, &unix_clock()).await;
            tell.send_replace(Some(Arc::new(error)));
        });
        Held { lease, store, handle, lost, keeping, release: Release::clean() }
    }

    /// Clears the problem and the retry delay of the run at its release, because this process drives the run.
    pub(super) fn begin(&mut self) {
        self.release = Release::clean();
    }

    /// Clears the run's count of lost claims too, because the run reached an end or a wait, or a person releases it
    /// to workers.
    pub(super) fn pardon(&mut self) {
        self.release = Release::clean().with_lost_claims_reset();
    }

    /// Releases the lease.
    ///
    /// # Errors
    /// Errors of the store: the lease then expires.
    pub(super) fn give_back(&self) -> Result<(), StoreError> {
        beside(&self.handle, self.store.release(&self.lease, &self.release))
    }

    /// The signal that this process has lost the run, with the reason.
    pub(super) fn lost(&self) -> watch::Receiver<Option<Arc<StoreError>>> {
        self.lost.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keeping.abort();
        // A lease that cannot be released expires.
        self.give_back().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_a_day_is_waited_for_and_a_longer_one_is_not() {
        let day = Duration::from_secs(86_400);
        assert!(is_waited_for(day));
        assert!(!is_waited_for(day + Duration::from_nanos(1)));
    }
}
