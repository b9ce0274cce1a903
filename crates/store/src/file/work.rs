//! Blocking work with cancellation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::error::StoreError;
use super::commits::OpenRun;
use super::{FileStore, Inner};

impl FileStore {
    /// Runs blocking work on a thread for it. If this future is dropped, work that has not begun does not begin.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner, &Wanted) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let wanted = Wanted { is_so: Arc::new(AtomicBool::new(true)), patience: self.patience };
        let (inner, here) = (Arc::clone(&self.inner), wanted.clone());
        let _unwanted = Unwanted(wanted);
        let done = tokio::task::spawn_blocking(move || work(&inner, &here)).await;
        self.tell_repairs();
        done.unwrap_or_else(|error| Err(StoreError::failed(error)))
    }

    /// Reads an existing run without its lock.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        run: &str,
        work: impl Fn(&OpenRun<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = run.to_owned();
        self.work(move |inner, wanted| inner.read(&run, wanted, work)).await
    }

    /// Runs an operation on an existing run under its lock.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        run: &str,
        work: impl FnOnce(&mut OpenRun<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = run.to_owned();
        self.work(move |inner, wanted| inner.with(&run, wanted, work)).await
    }
}

/// Whether a caller still waits for the work. It is checked under the lock, so that abandoned work does not run after
/// later work.
#[derive(Clone)]
pub(super) struct Wanted {
    is_so: Arc<AtomicBool>,
    /// The time to wait for a lock.
    patience: Duration,
}

impl Wanted {
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.is_so.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(StoreError::unavailable("the caller no longer waits for it"))
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }
}

struct Unwanted(Wanted);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.is_so.store(false, Ordering::SeqCst);
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wanted({})", self.is_so.load(Ordering::SeqCst))
    }
}
